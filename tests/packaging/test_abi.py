"""What crosses the C ABI is laid out as it was when the libraries of others were compiled."""

import difflib
import platform
import re

import pytest

from .abi import GOLDEN, HEADERS, layout, names_of_types, program, read

HOW_TO_UPDATE = """
The ABI is not what tests/packaging/abi.txt says ('-' is the file, '+' the headers). Something
added is a new MXNET_RUNTIME_ABI_MINOR (MXACC_ABI_MINOR in mxnet_acc.h), anything else a new MAJOR:
docs/abi.md says what is promised. If it is meant: python -m tests.packaging.abi"""


@pytest.fixture(scope="module")
def source():
    return program([read(header) for header in HEADERS])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the golden file is that of x86-64")
@pytest.mark.parametrize("suffix", [".c", ".cc"])
def test_layout(source, suffix):
    golden = GOLDEN.read_text().splitlines()
    changes = difflib.unified_diff(golden, layout(source, suffix).splitlines(), lineterm="", n=1)
    text = "\n".join(changes)
    assert not text, f"{HOW_TO_UPDATE}\n{text}"


@pytest.mark.parametrize("header", HEADERS)
def test_every_type_is_in_the_golden_file(header):
    covered = re.findall(r"^(?:struct|union|enum) (\w+):", GOLDEN.read_text(), re.M)
    assert names_of_types(read(header)) <= set(covered)


ADDED = {
    "a struct": "typedef struct {\n  int32_t first;\n} MXNetNew;\n",
    "a struct with a name of its own": "typedef struct MXNetNew {\n  int* first;\n} MXNetNew;\n",
    "a union": "typedef union {\n  int64_t v_int64;\n} MXNetNew;\n",
    "an enum": "typedef enum {\n  kMXNetNew = 1\n} MXNetNew;\n",
    "a function": "MXNET_DLL int MXNetNew(void);\n",
    "a type": "typedef void* MXNetNew;\n",
    "a macro": "#define MXNetNew 3\n",
}


@pytest.mark.parametrize("declaration", ADDED.values(), ids=ADDED.keys())
def test_what_is_added_is_seen(declaration):
    """Without a compiler: what the program prints of the headers says all that they declare."""
    text = read(HEADERS[-1])
    marked = text.replace(
        "typedef void* MXNetObjectHandle;", declaration + "typedef void* MXNetObjectHandle;"
    )
    assert marked != text
    added = set(program([marked]).splitlines()) - set(program([text]).splitlines())
    assert any("MXNetNew" in line for line in added)
