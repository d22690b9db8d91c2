"""The arrows between the parts: who may import, and include, whom.

- `mx` imports `ffi`, never the other way; `mxacc_check` imports both, and neither of them it.
  Inside `mx`: module -> graph -> acc -> numpy/ndarray -> context.
- src/api -> src/op -> src/acc -> src/runtime -> include. A plugin includes mxnet_acc.h and what
  plugins share; refacc, which tests MXNet, the C API, too.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A part may use the parts before it. What is not listed (helpers, private modules) is free.
PACKAGES = ("ffi", "mx", "mxacc_check")
MX_ORDER = ({"context"}, {"numpy", "ndarray"}, {"acc"}, {"graph"}, {"module"})
CXX_ORDER = ("include", "src/runtime", "src/acc", "src/op", "src/api")
PLUGIN_HEADERS = ("include/mxnet_acc.h", "include/mxnet/runtime/c_runtime_api.h")

CYTHON_IMPORT = re.compile(r"^\s*(?:from\s+([.\w]+)\s+c?import|c?import\s+([.\w]+))", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def imports_of_python(text: str, package: str) -> Iterator[str]:
    """Absolute names of all that a .py file of `package` imports, wherever in the file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute("." * node.level + (node.module or ""), package)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def imports_of_cython(text: str, package: str) -> Iterator[str]:
    """The same for a .pyx, .pxi or .pxd file."""
    for source, name in CYTHON_IMPORT.findall(text):
        yield absolute(source or name, package)


def absolute(name: str, package: str) -> str:
    """`..a` seen from package p.q is p.a."""
    dots = len(name) - len(name.lstrip("."))
    if not dots:
        return name
    parents = package.split(".")
    base = parents[: len(parents) - dots + 1]
    return ".".join([*base, name[dots:]] if name[dots:] else base)


def python_arrow_error(importer: str, imported: str) -> str | None:
    """What is wrong with one Python module importing another, both by dotted name."""
    source, target = importer.split("."), imported.split(".")
    if PACKAGES.index(source[0]) < (PACKAGES.index(target[0]) if target[0] in PACKAGES else 0):
        return f"{importer} imports {imported}: {source[0]} must not know {target[0]}"
    if source[0] != "mx" or target[0] != "mx" or min(len(source), len(target)) < 2:
        return None
    rank = {name: rank for rank, names in enumerate(MX_ORDER) for name in names}
    if rank.get(source[1], len(rank)) < rank.get(target[1], -1):
        return f"{importer} imports {imported}: mx.{target[1]} comes after mx.{source[1]}"
    return None


def resolve_include(includer: PurePosixPath, name: str, root: Path) -> PurePosixPath | None:
    """The file of this project that an #include means; None for a system header."""
    for folder in (includer.parent, PurePosixPath("include"), PurePosixPath("src")):
        path = root / folder / name
        if path.is_file():
            return PurePosixPath(path.resolve().relative_to(root).as_posix())
    return None


def cxx_part(path: PurePosixPath) -> str | None:
    """The part of the C++ code that a file belongs to."""
    return next((part for part in CXX_ORDER if path.is_relative_to(part)), None)


def include_arrow_error(includer: PurePosixPath, name: str, root: Path) -> str | None:
    """What is wrong with one file including another."""
    included = resolve_include(includer, name, root)
    if included is None:
        return None
    if includer.is_relative_to("accelerators"):
        folders = (PurePosixPath(*includer.parts[:2]), PurePosixPath("accelerators/sdk"))
        own = any(included.is_relative_to(folder) for folder in folders)
        is_test = includer.parts[1] == "refacc"
        allowed = own or included.as_posix() in PLUGIN_HEADERS[: 2 if is_test else 1]
        return None if allowed else f"{includer} includes {included}: a plugin may not"
    source, target = cxx_part(includer), cxx_part(included)
    if source and target and CXX_ORDER.index(source) < CXX_ORDER.index(target):
        return f"{includer} includes {included}: {target} comes after {source}"
    return None


def python_errors(root: Path) -> Iterator[str]:
    """Every wrong import under root/python."""
    readers = {".py": imports_of_python, ".pyi": imports_of_python}
    readers |= dict.fromkeys((".pyx", ".pxi", ".pxd"), imports_of_cython)
    for path in sorted((root / "python").rglob("*")):
        if path.suffix in readers:
            module = path.relative_to(root / "python").with_suffix("").parts
            package = ".".join(module[:-1])
            importer = package if module[-1] == "__init__" else ".".join(module)
            for imported in readers[path.suffix](path.read_text(encoding="utf-8"), package):
                error = python_arrow_error(importer, imported)
                if error:
                    yield error


def include_errors(root: Path) -> Iterator[str]:
    """Every wrong #include under root."""
    for folder in ("include", "src", "accelerators"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".h", ".c", ".cc", ".cpp"}:
                includer = PurePosixPath(path.relative_to(root).as_posix())
                for _, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                    error = include_arrow_error(includer, name, root)
                    if error:
                        yield error


@pytest.mark.parametrize("errors", [python_errors, include_errors])
def test_no_arrow_runs_the_other_way(errors):
    assert list(errors(ROOT)) == []


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        ("python/ffi/registry.py", "import mx", True),
        ("python/ffi/registry.py", "def f():\n    from mx.numpy import zeros", True),
        ("python/ffi/registry.py", "from . import function", False),
        ("python/ffi/_cython/base.pxi", "from mx._cython.ndarray cimport ndarray", True),
        ("python/mx/_cython/ndarray.pyx", "from ffi._cython.core cimport Object", False),
        ("python/mx/context.py", "import mxacc_check", True),
        ("python/mxacc_check/cli.py", "from mx._acc import elf", False),
        ("python/mx/context.py", "from .ndarray import ndarray", True),
        ("python/mx/context.py", "from . import numpy", True),
        ("python/mx/context.py", "import numpy", False),
        ("python/mx/numpy/__init__.py", "from ..context import Context", False),
        ("python/mx/numpy/creation.py", "from ..graph import Graph", True),
        ("python/mx/acc/__init__.py", "from ..module import Module", True),
        ("python/mx/module.py", "from .graph import Graph", False),
        ("src/runtime/registry.cc", '#include "api/operator.h"', True),
        ("src/runtime/registry.cc", '#include "../api/operator.h"', True),
        ("src/runtime/registry.cc", "#include <mxnet/runtime/any.h>", False),
        ("src/api/zeros.cc", '#include "runtime/pool.h"', False),
        ("src/op/kernels/sort.cc", '#include "api/operator.h"', True),
        ("include/mxnet/runtime/object.h", '#include "runtime/pool.h"', True),
        ("accelerators/toy/toy.c", "#include <mxnet/runtime/any.h>", True),
        ("accelerators/toy/toy.c", "#include <mxnet_acc.h>", False),
        ("accelerators/toy/toy.c", '#include "own.h"', False),
        ("accelerators/toy/toy.c", '#include "../sdk/shared.h"', False),
        ("accelerators/sdk/shared.cc", '#include "../toy/own.h"', True),
        ("accelerators/toy/toy.c", "#include <mxnet/runtime/c_runtime_api.h>", True),
        ("accelerators/refacc/toy.c", "#include <mxnet/runtime/c_runtime_api.h>", False),
        ("accelerators/refacc/toy.c", "#include <mxnet/runtime/any.h>", True),
    ],
)
def test_the_check_itself(tmp_path, file, line, wrong):
    headers = ("src/api/operator.h", "src/runtime/pool.h", "include/mxnet/runtime/any.h")
    plugins = ("accelerators/toy/own.h", "accelerators/sdk/shared.h")
    for name in (*headers, *PLUGIN_HEADERS, *plugins):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(line + "\n")
    errors = [*python_errors(tmp_path), *include_errors(tmp_path)]
    assert len(errors) == wrong, errors
