"""From sources to a library, and from a library to a Module.

A call mostly finds its library in the cache, so the modules that compile are imported only where
something has to be compiled, and this one imports neither `re` nor `typing`, which take long.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from .. import library
from ._cache import Entry
from ._request import read_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

Source = str | os.PathLike[str]
# By the name given to load_inline: what its libraries registered, and the path loaded last.
_registered: dict[str, set[str]] = {}
_last: dict[str, str] = {}
_loaded: set[str] = set()


def build(
    name: str,
    sources: Source | Sequence[Source],
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    *,
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: Sequence[str | os.PathLike[str]] = (),
    verbose: bool = False,
) -> Path:
    """Compiles a library of operators and returns its path, for load_library.

    A source is C++ text, or, as a pathlib.Path, a C or C++ file. Texts are compiled together, in
    their order, as if they were one file that begins with `#include <mxnet/runtime/registry.h>`.

    `functions` names plain functions of the texts, which are registered as `name.function` with the
    names, the defaults that are literals, and the types of their C++ parameters; a mapping gives
    each its documentation.

    The compilers are those that CXX and CC name. The result is kept in a cache (MXFFI_CACHE_DIR, by
    default ~/.cache/mxffi) and compiled again only where a source, a header, a library, a flag, the
    compiler or this package has changed. On a terminal, or if verbose, a line on stderr tells what
    is done.

    Raises BuildError, with the compiler's words, where it does not compile, ValueError and
    TypeError for arguments that cannot be meant, PermissionError for a cache that others may
    write to.
    """
    from pathlib import Path  # its import takes a while

    flags = (extra_cflags, extra_ldflags, extra_include_paths)
    return Path(_build("build", name, sources, functions, *flags, verbose))


def load_inline(
    name: str,
    sources: Source | Sequence[Source],
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    *,
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: Sequence[str | os.PathLike[str]] = (),
    verbose: bool = False,
) -> library.Module:
    """Compiles and loads a library of operators: `build`, then `load_library`.

        >>> demo = ffi.cpp.load_inline("demo", "int add(int a, int b = 1) { return a + b; }", "add")
        >>> demo.add(2), demo.add(a=2, b=3)
        (3, 5)

    What an earlier load_inline of the same name has registered may be registered again, so that a
    changed source can be loaded in the same process, and changed back. The Module of an earlier one
    keeps its functions and classes; enums are those registered last.

    Raises what `build` and `load_library` raise.
    """
    flags = (extra_cflags, extra_ldflags, extra_include_paths)
    path = _build("load_inline", name, sources, functions, *flags, verbose)
    registered = _registered.setdefault(name, set())
    # A library registers its names when it is loaded first; one that another has replaced since is
    # loaded again as a copy, under another path.
    replaced = path in _loaded and _last.get(name) != path
    module = library.load_replacing(_copy(path) if replaced else path, tuple(registered), name)
    _loaded.add(path)
    _last[name] = path
    registered.update(module, module.__enum_names__)
    return module


def _copy(path: str) -> str:
    """A copy of a library; kept until the process ends, since debuggers read the file."""
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="mxffi-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return shutil.copy(path, folder)


def _build(
    caller: str,
    name: str,
    sources: object,
    functions: object,
    cflags: object,
    ldflags: object,
    include_paths: object,
    verbose: bool,
) -> str:
    """What build and load_inline do; messages about arguments name the one that was called."""
    request = read_request(caller, name, sources, functions, cflags, ldflags, include_paths)
    entry = Entry(name, request.key())
    path = entry.library()
    if path is None:
        with entry.locked() as waited:
            path = entry.library() if waited else None
            if path is None:
                from ._compile import compile_request

                path = compile_request(request, entry, verbose)
    return path
