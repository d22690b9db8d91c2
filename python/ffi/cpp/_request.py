"""What is asked of the compiler, read from the arguments of build and load_inline.

Like _build.py, it imports neither `re` nor `typing`, which take long.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from .. import config
from .._backend import core
from ._cache import key_of
from ._compiler import compiler, identity
from ._flags import C_SUFFIX, CXX_FLAGS, CXX_SUFFIXES, FLAGS, LINK_FLAGS, VARIABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Request:
    """Everything that a compiled library depends on."""

    def __init__(
        self,
        name: str,
        texts: tuple[str, ...],
        files: tuple[str, ...],
        functions: Mapping[str, str],
        cflags: tuple[str, ...],
        ldflags: tuple[str, ...],
        commands: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.name = name
        self.texts = texts
        self.files = files
        self.functions = functions
        self.cflags = cflags
        self.ldflags = ldflags
        self.commands = commands

    def key(self) -> str:
        """A hash that differs where the library would."""
        flags = (*self.cflags, *self.ldflags)
        relative = any(not flag.startswith("-") or flag[1] in "ILi" for flag in flags)
        return key_of(
            (
                *(self.name, self.texts, self.files, list(self.functions.items())),
                *(CXX_FLAGS, FLAGS, LINK_FLAGS, self.cflags, self.ldflags),
                [identity(command) for command in self.commands.values()],
                [os.environ.get(variable) for variable in VARIABLES],
                os.getcwd() if relative else "",
                *(core.version(), config.include_dir()),
            )
        )


def read_request(
    caller: str,
    name: object,
    sources: object,
    functions: object,
    cflags: object,
    ldflags: object,
    include_paths: object,
) -> Request:
    """The request that arguments make; messages about them name the function that was called."""
    if not isinstance(name, str):
        raise TypeError(f"{caller}: argument 0 ('name') expected str, got {type(name).__name__}")
    if not _is_path(name, "."):
        raise ValueError(
            f"{caller}: argument 0 ('name') must be a name such as 'demo', got {name!r}"
        )
    texts, files = _sorted_sources(caller, sources)
    wanted = _functions(caller, functions)
    for function in wanted:
        last = function.rpartition("::")[2]
        if not any(_has_word(text, last) for text in texts):
            raise ValueError(
                f"{caller}: argument 2 ('functions') names {function!r}, which no source text has"
            )
    folders = _list_of(caller, "extra_include_paths", include_paths, "paths", (str, os.PathLike))
    includes = (f"-I{os.path.abspath(os.fspath(folder))}" for folder in folders)
    has_c = any(file.endswith(C_SUFFIX) for file in files)
    has_cxx = bool(texts) or any(not file.endswith(C_SUFFIX) for file in files)
    used = {"CXX": has_cxx, "CC": has_c}
    return Request(
        name,
        texts,
        files,
        wanted,
        (*includes, *_list_of(caller, "extra_cflags", cflags, "flags", str)),
        tuple(_list_of(caller, "extra_ldflags", ldflags, "flags", str)),
        {variable: compiler(variable) for variable, is_used in used.items() if is_used},
    )


def _is_path(text: str, separator: str) -> bool:
    """Whether a text is a name of C++, or several with a separator between."""
    return text.isascii() and all(name.isidentifier() for name in text.split(separator))


def _has_word(text: str, word: str) -> bool:
    """Whether a name occurs in a text other than as a part of another."""
    end = -1
    while (start := text.find(word, end + 1)) >= 0:
        end = start + len(word)
        around = text[max(start - 1, 0) : start] + text[end : end + 1]
        if not any(character.isalnum() or character == "_" for character in around):
            return True
    return False


def _list_of(
    caller: str, name: str, given: Any, what: str, cls: type | tuple[type, ...]
) -> list[Any]:
    """The items of an argument that has to be a list of them, not one of them."""
    if isinstance(given, (str, bytes, os.PathLike)) or not hasattr(given, "__iter__"):
        raise TypeError(
            f"{caller}: argument {name!r} expected a list of {what}, got {type(given).__name__}"
        )
    items = list(given)
    for index, item in enumerate(items):
        if not isinstance(item, cls):
            raise TypeError(
                f"{caller}: argument {name!r} expected a list of {what}, "
                f"got {type(item).__name__} as item {index}"
            )
    return items


def _sorted_sources(caller: str, sources: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Texts and absolute file names."""
    where = f"{caller}: argument 1 ('sources')"
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    elif not isinstance(sources, Iterable) or isinstance(sources, bytes):
        raise TypeError(f"{where} expected source text or paths, got {type(sources).__name__}")
    texts, files = [], []
    for source in sources:
        if isinstance(source, os.PathLike):
            files.append(os.path.abspath(os.fspath(source)))
            if not os.path.isfile(files[-1]):
                raise FileNotFoundError(f"{where} has {files[-1]}, which is no file")
            if not files[-1].endswith((C_SUFFIX, *CXX_SUFFIXES)):
                known = ", ".join((C_SUFFIX, *CXX_SUFFIXES))
                raise ValueError(f"{where} has {files[-1]}, which ends in none of {known}")
        elif not isinstance(source, str):
            raise TypeError(f"{where} expected source text or paths, got {type(source).__name__}")
        elif "\n" not in source and source.endswith((C_SUFFIX, *CXX_SUFFIXES)):
            raise ValueError(
                f"{where} has {source!r}, which is a file's name, not C++; "
                f"pass pathlib.Path({source!r})"
            )
        else:
            texts.append(source)
    if not texts and not files:
        raise ValueError(f"{where} is empty")
    return tuple(texts), tuple(files)


def _functions(caller: str, functions: Any) -> dict[str, str]:
    """Names with their documentation."""
    where = f"{caller}: argument 2 ('functions')"
    if functions is None:
        return {}
    if isinstance(functions, str):
        functions = [functions]
    if not isinstance(functions, Iterable) or isinstance(functions, bytes):
        raise TypeError(f"{where} expected names of functions, got {type(functions).__name__}")
    named = [(function, "") for function in functions]
    if isinstance(functions, Mapping):
        named = list(functions.items())
    for function, doc in named:
        if not isinstance(function, str) or not isinstance(doc, str):
            raise TypeError(
                f"{where} expected names of functions, or a mapping of names to docs, got "
                f"{type(function if not isinstance(function, str) else doc).__name__} in it"
            )
        if not _is_path(function.removeprefix("::"), "::"):
            raise ValueError(f"{where} has {function!r}, which is no function's name")
    return dict(named)
