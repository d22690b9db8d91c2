"""The arrows between the parts: who may import, include and look up whom.

A part may use those before it in LAYERS: by an import, an #include, or the name of a function in
the registry. A name belongs to the first part that registers it; a later one may replace what the
first has registered, and so hand down what that calls.

Nor do files use each other in a circle, wherever in a function the import is; an import for type
checkers alone does not count, and the Cython files of a folder are one module.

A plugin includes mxnet_acc.h, what operators mean (mxnet/op/formulas.inc, narrow_floats.inc and
conversions.inc) and what plugins share; refacc, which tests MXNet, the C API, too, and onednn the
wrapper of oneDNN that plans use.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Parts of one entry may use each other. A module is named as a folder would be.
LAYERS = (
    ("include",),
    ("src/mxacc_check",),
    ("src/runtime/core",),
    ("src/runtime/library",),
    ("src/runtime/ndarray",),
    ("src/runtime/diagnostics",),
    ("src/acc/sync",),
    ("src/acc/plugin",),
    ("src/acc/isolated",),
    ("src/acc/device",),
    ("src/acc/dispatch",),
    ("src/acc/partition",),
    ("src/acc/functions",),
    ("src/acc_server",),
    ("src/op/parallel",),
    ("src/op/semantics",),
    ("src/op/tensor", "src/op/kernels"),
    ("src/op/schema",),
    ("src/op/elementwise",),
    ("src/op",),
    ("src/graph",),
    ("src/onednn",),
    ("src/onednn/functions",),
    ("src/api/argument",),
    ("src/api",),
    ("python/ffi",),
    (
        "python/mx/_dtypes",
        "python/mx/_library",
        "python/mx/_lazy",
        "python/mx/_deferred",
        "python/mx/_installed",
        "python/mx/_mapped",
    ),
    (
        "python/mx/context",
        "python/mx/_registry",
        "python/mx/_api_internal",
        "python/mx/threads",
        "python/mx/_onednn",
        "python/mx/_onednn_types",
    ),
    ("python/mx/ndarray", "python/mx/_cython"),
    ("python/mx/op",),
    ("python/mx/numpy", "python/mx/numpy_extension"),
    ("python/mx/_acc", "python/mx/acc"),
    ("python/mx/cache",),
    ("python/mx/graph",),
    # What reads ONNX files makes graphs; mx.graph.load calls it.
    ("python/mx/importers/onnx",),
    ("python/mx/graph/__init__", "python/mx/graph/_load"),
    ("python/mx/importers",),
    ("python/mx/symbol",),
    ("python/mx/model",),
    ("python/mx/io", "python/mx/nd"),
    ("python/mx/module",),
    ("python/mx/sol",),
    ("python/mx/test_utils",),
    ("python/mx/__init__",),
    ("python/mx/_cli",),
    ("python/mx/__main__",),
    ("python/mxacc_check",),
)
RANKS = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}

# Whose the names are that begin so; some of them are registered by macros.
PREFIXES = {"_npi.": "src/op/elementwise", "_npx.": "src/op/elementwise"}

# What a part may not use although it comes later, with what begins so: ffi is another package's
# foundation, and has no business with the operators and arrays that its process may have.
FORBIDDEN = {"python/ffi": ("mx.", "_npi.", "_npx.")}

# These parts call nothing by its name in the registry: later ones hand functions down to them. The
# files that do look something up, each with the reason.
WITHOUT_LOOKUPS = ("src/runtime", "src/acc")
LOOKING_UP = {
    "src/runtime/core/registry.cc": "is the registry",
    "src/runtime/core/registration_log.cc": "tells which functions of a library are still there",
    "src/runtime/diagnostics/trace.cc": "asks for names of callables as the headers do",
}

# Operators are described, and computed with tensors and attributes; what a call is, with its
# arguments and its result, src/api alone knows. The names of that in C++, and its headers.
WITHOUT_CALLS = ("src/op", "src/graph")
CALLS = re.compile(
    r"\b(?:MXNetArgs|MXNetRetValue|set_body)\b"
    r"|#\s*include\s*<mxnet/runtime/packed_func[./]"
)

CXX_SUFFIXES = {".h", ".c", ".cc", ".cpp", ".cu", ".inc"}
CYTHON_SUFFIXES = {".pyx", ".pxi", ".pxd"}
PYTHON_SUFFIXES = {".py", ".pyi"}

PLUGIN_HEADERS = (
    "include/mxnet_acc.h",
    "include/mxnet/op/formulas.h",
    "include/mxnet/op/formulas.inc",
    "include/mxnet/op/conversions.h",
    "include/mxnet/op/conversions.inc",
    "include/mxnet/op/narrow_floats.h",
    "include/mxnet/op/narrow_floats.inc",
    "include/mxnet/op/promotion.h",
)
C_API = "include/mxnet/runtime/c_runtime_api.h"
# Of plugins, what else of this project each includes; none of it needs the runtime's library.
PLUGIN_PARTS = {
    "refacc": (C_API,),
    "onednn": (
        "include/mxnet/runtime/error.h",
        "src/graph/memory_plan.h",
        "src/onednn/engine.h",
        "src/onednn/makers.h",
        "src/onednn/openmp.h",
        "src/onednn/threads.h",
        "src/op/parallel/thread_pool.h",
    ),
}

CYTHON_IMPORT = re.compile(
    r"^\s*(?:from\s+([.\w]+)\s+c?import\s+([\w, ]+)|c?import\s+([.\w]+))", re.M
)
CYTHON_INCLUDE = re.compile(r'^\s*(?:include|cdef extern from)\s+(["<])([^">]+)[">]', re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
REGISTRATION = re.compile(r'(?:MXNET_REGISTER_\w+\(\s*(?:[\w:]+,\s*)?|register_func\(\s*)"([^"]+)"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# Of a class by the header that defines it: who uses the class is who includes the header.
DECLARATION = re.compile(r"MXNET_DECLARE_CLASS\([^)]*\)")
LOOKUP = re.compile(r'GetGlobal\(\s*"([^"]+)"')
ANY_LOOKUP = re.compile(r"GetGlobal\(")
NAME = re.compile(r'"([A-Za-z_]\w*(?:\.\w+)+)"')


def part_of(path: PurePosixPath) -> str | None:
    """The part that a file or folder, or a module without its suffix, belongs to."""
    for part in (path.with_suffix(""), *path.parents):
        if part.as_posix() in RANKS:
            return part.as_posix()
    return None


def arrow_error(user: PurePosixPath, verb: str, name: object, used: PurePosixPath) -> str | None:
    """What is wrong with one file using another."""
    source, target = part_of(user), part_of(used)
    if source is None or target is None or RANKS[source] >= RANKS[target]:
        return None
    return f"{user} {verb} {name}: {target} comes after {source}"


def imports_of_python(text: str, package: str) -> Iterator[str]:
    """Absolute names of all that a .py file of `package` imports, wherever in the file."""
    yield from imports_below(ast.parse(text), package, for_checkers=True)


def imports_below(node: ast.AST, package: str, for_checkers: bool) -> Iterator[str]:
    """The imports of a piece of Python, with or without those for type checkers alone."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = absolute("." * node.level + (node.module or ""), package)
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
        yield from (arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant))
    children = list(ast.iter_child_nodes(node))
    if not for_checkers and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        children = list(node.orelse)
    for child in children:
        yield from imports_below(child, package, for_checkers)


def imports_of_cython(text: str, package: str) -> Iterator[str]:
    """The same for a .pyx, .pxi or .pxd file."""
    for source, names, module in CYTHON_IMPORT.findall(text):
        if module:
            yield absolute(module, package)
        for name in filter(None, names.split(",")):
            yield f"{absolute(source, package)}.{name.split()[0]}"


def absolute(name: str, package: str) -> str:
    """`..a` seen from package p.q is p.a."""
    dots = len(name) - len(name.lstrip("."))
    if not dots:
        return name
    parents = package.split(".")
    base = parents[: len(parents) - dots + 1]
    return ".".join([*base, name[dots:]] if name[dots:] else base)


def module_path(name: str) -> PurePosixPath:
    """Where a module is, or what is imported from one; a package itself is its __init__."""
    path = PurePosixPath("python", *name.split("."))
    is_of_package = len(path.parts) < 4 and part_of(path) is None
    return PurePosixPath(*path.parts[:2], "__init__") if is_of_package else path


def resolve_include(includer: PurePosixPath, name: str, root: Path) -> PurePosixPath | None:
    """The file of this project that an #include means; None for a system header."""
    for folder in (includer.parent, PurePosixPath("include"), PurePosixPath("src")):
        path = root / folder / name
        if path.is_file():
            return PurePosixPath(path.resolve().relative_to(root).as_posix())
    return None


def include_error(includer: PurePosixPath, name: str, root: Path) -> str | None:
    """What is wrong with one file including another."""
    included = resolve_include(includer, name, root)
    if included is None:
        return None
    if includer.parts[0] != "accelerators":
        return arrow_error(includer, "includes", included, included)
    folders = (PurePosixPath(*includer.parts[:2]), PurePosixPath("accelerators/sdk"))
    own = any(included.is_relative_to(folder) for folder in folders)
    more = PLUGIN_PARTS.get(includer.parts[1], ())
    allowed = own or included.as_posix() in (*PLUGIN_HEADERS, *more)
    return None if allowed else f"{includer} includes {included}: a plugin may not"


def files(root: Path, suffixes: set[str]) -> Iterator[tuple[PurePosixPath, str]]:
    """The sources with one of these suffixes, by their path below root, and their text."""
    for folder in ("include", "src", "accelerators", "python"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                name = PurePosixPath(path.relative_to(root).as_posix())
                yield name, path.read_text(encoding="utf-8")


def import_errors(root: Path) -> Iterator[str | None]:
    """Every wrong import under root/python."""
    for path, text in files(root, PYTHON_SUFFIXES | CYTHON_SUFFIXES):
        package = ".".join(path.parent.parts[1:])
        read = imports_of_python if path.suffix in PYTHON_SUFFIXES else imports_of_cython
        for imported in read(text, package):
            yield arrow_error(path, "imports", imported, module_path(imported))


def include_errors(root: Path) -> Iterator[str | None]:
    """Every wrong #include under root, those of Cython among them."""
    for path, text in files(root, CXX_SUFFIXES | CYTHON_SUFFIXES):
        pattern = CYTHON_INCLUDE if path.suffix in CYTHON_SUFFIXES else INCLUDE
        for _, name in pattern.findall(text):
            yield include_error(path, name, root)


def registered_names(root: Path) -> dict[str, PurePosixPath]:
    """The names of the registry, each with the first part's file that registers it."""
    owners: dict[str, PurePosixPath] = {}
    for path, text in files(root, CXX_SUFFIXES | PYTHON_SUFFIXES):
        part = part_of(path)
        if part is None or part == "include":  # there it is an example
            continue
        for name in REGISTRATION.findall(text):
            owner = owners.setdefault(name, path)
            if RANKS[part] < RANKS[part_of(owner) or part]:
                owners[name] = path
    return owners


def owner_of(name: str, owners: dict[str, PurePosixPath]) -> PurePosixPath | None:
    """A file, or the part, whose a name is; None where nobody registers it."""
    for prefix, part in PREFIXES.items():
        if name.startswith(prefix):
            return PurePosixPath(part)
    return owners.get(name)


def lookup_errors(root: Path) -> Iterator[str | None]:
    """Every name of the registry in a text constant of a part that may not know it."""
    owners = registered_names(root)
    for path, text in files(root, CXX_SUFFIXES | CYTHON_SUFFIXES | PYTHON_SUFFIXES):
        part = part_of(path)
        code = COMMENT.sub("", text) if path.suffix in CXX_SUFFIXES else text
        # Headers run in the libraries that are built with them, upon the runtime.
        user = PurePosixPath("src/runtime/diagnostics") if part == "include" else path
        for name in NAME.findall(DECLARATION.sub("", code)):
            owner = owner_of(name, owners)
            if owner is not None:
                yield arrow_error(user, "looks up", name, owner)
                if name.startswith(FORBIDDEN.get(part or "", ("\0",))):
                    yield f"{path} looks up {name}: that is nothing of {part}"
        for name in LOOKUP.findall(code) if part != "include" else ():
            if owner_of(name, owners) is None:
                yield f"{path} looks up {name}, which nothing registers"
        without = path.as_posix().startswith(tuple(f"{folder}/" for folder in WITHOUT_LOOKUPS))
        if without and path.as_posix() not in LOOKING_UP and ANY_LOOKUP.search(code):
            yield f"{path} looks up a function: have a later part hand it down"


def call_errors(root: Path) -> Iterator[str]:
    """Every mention of a call in a part that may not know of any."""
    for path, text in files(root, CXX_SUFFIXES):
        if path.as_posix().startswith(tuple(f"{folder}/" for folder in WITHOUT_CALLS)):
            for found in CALLS.findall(COMMENT.sub("", text)):
                yield f"{path} has {found}: only src/api knows of the arguments of a call"


def module_graph(root: Path) -> dict[str, set[str]]:
    """The modules of python/, each with those that it imports when it runs."""
    modules: dict[str, set[str]] = {}
    for path, text in files(root, {".py"} | CYTHON_SUFFIXES):
        package = ".".join(path.parent.parts[1:])
        if path.suffix in CYTHON_SUFFIXES:
            modules.setdefault(package, set()).update(imports_of_cython(text, package))
        else:
            name = package if path.stem == "__init__" else f"{package}.{path.stem}"
            found = imports_below(ast.parse(text), package, for_checkers=False)
            modules.setdefault(name, set()).update(found)

    def known(name: str) -> str:
        while name and name not in modules:
            name = name.rpartition(".")[0]
        return name

    return {
        name: {known(used) for used in imported} - {name, ""} for name, imported in modules.items()
    }


def include_graph(root: Path) -> dict[str, set[str]]:
    """The headers and sources, each with the files of this project that it includes."""
    return {
        path.as_posix(): {
            included.as_posix()
            for _, name in INCLUDE.findall(text)
            if (included := resolve_include(path, name, root)) is not None
        }
        for path, text in files(root, CXX_SUFFIXES)
    }


def circle_errors(root: Path) -> Iterator[str]:
    """Every circle of imports or includes, from one of its files back to it."""
    for graph in (module_graph(root), include_graph(root)):
        left = set(graph)
        while left:
            # What uses nothing that is left is in no circle.
            free = {name for name in left if not graph[name] & left}
            left -= free
            if free:
                continue
            way = [min(left)]
            while way[-1] not in way[:-1]:
                way.append(min(graph[way[-1]] & left))
            circle = way[way.index(way[-1]) :]
            yield f"a circle: {' uses '.join(circle)}"
            left.remove(circle[0])


CHECKS = (import_errors, include_errors, lookup_errors, call_errors, circle_errors)


def errors(root: Path) -> list[str]:
    return [error for check in CHECKS for error in check(root) if error is not None]


def test_no_arrow_runs_the_other_way():
    assert errors(ROOT) == []


def test_those_who_look_up_do():
    for path in LOOKING_UP:
        assert ANY_LOOKUP.search((ROOT / path).read_text(encoding="utf-8")), path


def test_every_part_has_a_layer():
    sources = CXX_SUFFIXES | CYTHON_SUFFIXES | PYTHON_SUFFIXES
    homeless = {
        path.as_posix()
        for path, _ in files(ROOT, sources)
        if path.parts[0] != "accelerators" and part_of(path) is None
    }
    assert homeless == set()


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        ("python/ffi/registry.py", "import mx", True),
        ("python/ffi/registry.py", "def f():\n    from mx.numpy import zeros", True),
        ("python/ffi/registry.py", "from . import function", False),
        ("python/ffi/registry.py", "from . import circular", True),
        ("python/ffi/registry.py", "def f():\n    from .circular import f", True),
        ("python/ffi/registry.py", 'import_module("ffi.circular")', True),
        ("python/ffi/registry.py", "if TYPE_CHECKING:\n    from . import circular", False),
        ("python/ffi/_cython/base.pxi", "from ffi import circular", False),
        ("python/ffi/other.py", "from . import circular", False),
        ("src/runtime/core/circular.h", '#include "runtime/core/user.h"', True),
        ("src/runtime/core/other.h", '#include "runtime/core/user.h"', False),
        ("python/ffi/registry.py", 'f = get_global_func("low.f")', False),
        ("python/ffi/registry.py", 'f = get_global_func("mx.f")', True),
        ("python/ffi/_cython/base.pxi", "from mx._cython.ndarray cimport ndarray", True),
        ("python/ffi/_cython/base.pxi", 'cdef extern from "mxnet/runtime/any.h":', False),
        ("python/ffi/_cython/base.pxi", 'f = get_global("mx.f")', True),
        ("python/mx/_cython/ndarray.pyx", "from ffi._cython.core cimport Object", False),
        ("python/mx/_cython/ndarray.pyx", "from mx import _dtypes, numpy", True),
        ("python/mx/context.py", "from .ndarray import ndarray", True),
        ("python/mx/context.py", "from . import numpy", True),
        ("python/mx/context.py", "import mx", True),
        ("python/mx/context.py", "import numpy", False),
        ("python/mx/context.py", 'f = ffi.get_global_func("mx.f")', False),
        ("python/mx/numpy/__init__.py", "from ..context import Context", False),
        ("python/mx/numpy/creation.py", "from ..graph import Graph", True),
        ("python/mx/acc/__init__.py", "from ..module import Module", True),
        ("python/mx/module.py", "from .graph import Graph", False),
        ("python/mx/graph.py", "import mxacc_check", True),
        ("src/runtime/core/registry.cc", '#include "api/operator.h"', True),
        ("src/runtime/core/registry.cc", '#include "../../api/operator.h"', True),
        ("src/runtime/core/registry.cc", "#include <mxnet/runtime/any.h>", False),
        ("src/runtime/core/registry.cc", '#include "runtime/ndarray/array.h"', True),
        ("src/runtime/core/registry.cc", 'GetGlobal("mx.f")', True),
        ("src/runtime/core/registry.cc", 'GetGlobal("high.f")', True),
        ("src/runtime/core/registry.cc", 'GetGlobal("low.f")', False),
        ("src/runtime/core/registry.cc", '// by "high.f"', False),
        ("src/runtime/core/registry.cc", 'GetGlobal("no.f")', True),
        ("src/runtime/ndarray/copy.inc", '#include "api/operator.h"', True),
        ("src/acc/dispatch/call.cc", '#include "runtime/ndarray/array.h"', False),
        ("src/acc/dispatch/call.cc", 'GetGlobal("mx.f")', True),
        ("src/acc/dispatch/call.cc", "GetGlobal(name.c_str())", True),
        ("src/acc/dispatch/call.cc", "MXNetFuncGetGlobal(name, &func)", True),
        ("src/acc/dispatch/call.cc", '// GetGlobal("mx.f")', False),
        ("src/runtime/core/devices.cc", 'GetGlobal("low.f")', True),
        ("src/api/zeros.cc", 'GetGlobal("mx.f")', False),
        ("src/acc/dispatch/call.cc", 'GetGlobal("high.f")', True),
        ("src/acc/plugin/plugin.cc", 'GetGlobal("mx.f")', True),
        ("src/acc/plugin/plugin.cc", 'GetGlobal("_npi.f")', True),
        ("src/api/zeros.cc", '#include "runtime/ndarray/array.h"', False),
        ("src/op/kernels/sort.cc", '#include "api/operator.h"', True),
        ("src/op/sort.cc", "bool QuickSort(const MXNetArgs& args, MXNetRetValue* ret);", True),
        ("src/op/sort.h", "void Return(runtime::MXNetRetValue* ret);", True),
        ("src/op/sort.inc", "#include <mxnet/runtime/packed_func.h>", True),
        ("src/op/sort.cc", "#include <mxnet/runtime/packed_func/arguments.h>", True),
        ("src/op/sort.cc", ".set_body([](auto args, auto* ret) {});", True),
        ("src/op/sort.cc", ".set_body_typed([] { return 1; });", False),
        ("src/op/sort.cc", "// MXNetArgs", False),
        ("src/op/sort.cc", "static Kind Read(const MXNetArgValue& arg);", False),
        ("src/op/sort.cc", '#include "api/operator.h"', True),
        ("src/api/sort.cc", "bool QuickSort(const MXNetArgs& args, MXNetRetValue* ret);", False),
        ("src/graph/plan.cc", "void Run(const MXNetArgs& args);", True),
        ("include/mxnet/runtime/object.h", '#include "runtime/ndarray/array.h"', True),
        ("include/mxnet/runtime/object.h", 'GetGlobal("low.f")', False),
        ("include/mxnet/runtime/object.h", 'GetGlobal("mx.f")', True),
        ("accelerators/toy/toy.c", "#include <mxnet/runtime/any.h>", True),
        ("accelerators/toy/toy.cu", "#include <mxnet/runtime/any.h>", True),
        ("accelerators/toy/toy.c", "#include <mxnet_acc.h>", False),
        ("accelerators/toy/toy.cc", "#include <mxnet/op/formulas.inc>", False),
        ("accelerators/toy/toy.c", '#include "own.h"', False),
        ("accelerators/toy/toy.c", '#include "../sdk/shared.h"', False),
        ("accelerators/sdk/shared.cc", '#include "../toy/own.h"', True),
        ("accelerators/toy/toy.c", "#include <mxnet/runtime/c_runtime_api.h>", True),
        ("accelerators/refacc/toy.c", "#include <mxnet/runtime/c_runtime_api.h>", False),
        ("accelerators/refacc/toy.c", "#include <mxnet/runtime/any.h>", True),
    ],
)
def test_the_check_itself(tmp_path, file, line, wrong):
    headers = ("src/api/operator.h", "src/runtime/ndarray/array.h", "include/mxnet/runtime/any.h")
    plugins = ("accelerators/toy/own.h", "accelerators/sdk/shared.h")
    texts = dict.fromkeys((*headers, *PLUGIN_HEADERS, C_API, *plugins), "")
    # A name of the lowest part that registers it, whoever registers it again.
    texts["src/runtime/core/low.cc"] = 'MXNET_REGISTER_API("low.f")'
    texts["src/acc/functions.cc"] = 'MXNET_REGISTER_API("low.f")\nMXNET_REGISTER_API("high.f")'
    texts["src/acc/dispatch/low.cc"] = 'MXNET_REGISTER_API("mx.f")'
    texts["python/mx/context.py"] = 'register_func("mx.f")'
    texts["python/ffi/circular.py"] = "def f():\n    from . import registry"
    texts["python/ffi/registry.py"] = ""
    texts["src/runtime/core/user.h"] = '#include "runtime/core/circular.h"'
    texts["src/runtime/core/circular.h"] = ""
    texts[file] = line + "\n"
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert bool(errors(tmp_path)) == wrong, errors(tmp_path)
