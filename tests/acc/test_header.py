"""mxnet_acc.h, and the library to start from, compile without a warning wherever a vendor may."""

import ctypes
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mxacc_check import abi

from .conftest import ROOT

HEADER = ROOT / "include" / "mxnet_acc.h"
TEMPLATE = ROOT / "accelerators" / "template" / "myacc.c"

WARNINGS = [
    *("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wsign-conversion"),
    *("-Wshadow", "-Wundef", "-Wcast-qual", "-Wcast-align", "-Wformat=2", "-Wpointer-arith"),
]
C_WARNINGS = ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition"]
CXX_WARNINGS = ["-Wold-style-cast", "-Wnon-virtual-dtor", "-Woverloaded-virtual"]

COMPILERS = [
    (compiler, standard)
    for compilers, standards in (
        (("gcc", "clang"), ("c99", "c11", "c17")),
        (("g++", "clang++"), ("c++17", "c++20")),
    )
    for compiler in compilers
    for standard in standards
]


def compiles(compiler: str, standard: str, file: Path, *flags: object) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    warnings = CXX_WARNINGS if standard.startswith("c++") else C_WARNINGS
    command = [compiler, f"-std={standard}", *WARNINGS, *warnings, f"-I{HEADER.parent}", file]
    done = subprocess.run([*command, *flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# Where one table is made of another, and nothing is used.
WRAPPERS = ("plugin/guard.cc", "plugin/adapter.cc", "plugin/functions_library.cc")
WRAPPERS += ("isolated/library.cc",)


# Constants that MXNet takes for the numbers that they are, and where.
NUMBERS = {
    r"kMXAcc(Int|Float|Bfloat|Complex|Bool)": "they are DLPack's",
    r"kMXAcc(NoDevice|Cancelled)": "failures without an exception of their own",
    r"kMXAcc(Other|CPU|GPU|NPU)Device": "names of kinds, in python/mx/_acc",
    r"kMXAccNoValue": "what attributes are at first",
    r"kMXAccNodeAnyGroup": "ANY in python/mx/graph/partition/_groups.py",
    r"kMXAccWhy(?!Type|Layout)\w+": "WHYS in python/mx/graph/partition/_device.py",
    r"kMXAccRecompile": "kVerdicts in src/acc/partition/functions.cc",
}


def test_header_and_guide_list_what_mxnet_does_not_use():
    folder = ROOT / "src" / "acc"
    sources = [p for p in folder.rglob("*") if str(p.relative_to(folder)) not in WRAPPERS]
    text = "".join(path.read_text() for path in sources if path.suffix in (".cc", ".h"))
    structs = (abi.MXAccApi, abi.MXAccRuntime, abi.MXAccModel)
    members = {name for struct in structs for name, kind in struct._fields_ if _is_function(kind)}
    members |= {name for name, _ in (*abi.MXAccTensorInfo._fields_, *abi.MXAccDeviceInfo._fields_)}
    unused = {name for name in members if not re.search(rf"(\.|->){name}\b", text)}
    header = HEADER.read_text()
    constants = set(re.findall(r"^(?:#define|) *(kMXAcc\w+)(?: =| \d)", header, re.M))
    assert len(constants) > 50
    for pattern in NUMBERS:
        assert any(re.fullmatch(pattern, name) for name in constants), pattern
        constants = {name for name in constants if not re.fullmatch(pattern, name)}
    unused |= {name for name in constants if not re.search(rf"\b{name}\b", text)}
    told = header.split(" * Not used yet.")[1].split("*/")[0]
    assert (members | constants) & set(re.findall(r"\w+", told)) == unused
    guide = (ROOT / "docs" / "guide" / "accelerators.md").read_text()
    section = guide.split("### What MXNet does not use yet\n")[1].split("\n#")[0]
    assert (members | constants) & set(re.findall(r"`(\w+)`", section)) == unused


def _is_function(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, ctypes._CFuncPtr)


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS)
def test_the_header_alone(tmp_path, compiler, standard):
    source = tmp_path / ("alone.cc" if standard.startswith("c++") else "alone.c")
    source.write_text("#include <mxnet_acc.h>\n#include <mxnet_acc.h>\n")
    compiles(compiler, standard, source, "-fsyntax-only")


@pytest.mark.parametrize(
    ("compiler", "standard"), [case for case in COMPILERS if not case[1].startswith("c++")]
)
def test_the_template(tmp_path, compiler, standard):
    for source in (TEMPLATE, TEMPLATE.with_name("mymodel.c")):
        library = tmp_path / f"lib{source.stem}.so"
        compiles(compiler, standard, source, "-shared", "-fPIC", "-o", library)


def test_the_template_is_small():
    assert len(TEMPLATE.read_text().splitlines()) <= 160
    assert len(TEMPLATE.with_name("mymodel.c").read_text().splitlines()) <= 160


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_warns_where_a_struct_is_misused(tmp_path, standard):
    """That a warning is an error is what the other tests rest on."""
    source = tmp_path / "wrong.cc"
    source.write_text("#include <mxnet_acc.h>\nint f(MXTensor t) { return t.num_parts * 1.5; }\n")
    with pytest.raises(AssertionError, match="conversion"):
        compiles("g++", standard, source, "-fsyntax-only")


def test_ctypes_sees_the_structs_as_the_header_has_them(tmp_path):
    structs = {
        name: struct
        for name, struct in vars(abi).items()
        if name.startswith("MX") and issubclass(struct, ctypes.Structure)
    }
    names = [(key, [name for name, *_ in struct._fields_]) for key, struct in structs.items()]
    lines = [
        f'printf("{{\\"sizeof\\": %zu", sizeof({struct}));'
        + "".join(f'printf(", \\"{name}\\": %zu", offsetof({struct}, {name}));' for name in fields)
        + 'printf("}\\n");'
        for struct, fields in names
    ]
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <mxnet_acc.h>\n#include <stdio.h>\nint main(void) {\n"
        + "\n".join(lines)
        + "\nreturn 0;\n}\n"
    )
    program = tmp_path / "layout"
    subprocess.run(["cc", f"-I{HEADER.parent}", source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    for (key, struct), line in zip(structs.items(), printed.splitlines(), strict=True):
        expected = {name: getattr(struct, name).offset for name, *_ in struct._fields_}
        expected["sizeof"] = ctypes.sizeof(struct)
        assert json.loads(line) == expected, key


def test_the_schema_of_graphs():
    """It is of the version that the header has, and refers to nothing that it does not define."""
    schema = json.loads((HEADER.parent / "mxnet_acc_graph.schema.json").read_text())
    assert schema["properties"]["version"]["const"] == abi.GRAPH_VERSION
    assert set(schema["required"]) <= set(schema["properties"])
    referred = re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(schema))
    assert set(referred) == set(schema["$defs"])
