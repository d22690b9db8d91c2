"""Every row of the tables in docs/conversions.md holds.

A row's Python value is sent to a C++ function of each type it names, its type code is read where a
C function sees it, and what comes back is compared.
"""

import array
import collections
import ctypes
import dataclasses
import enum
import pathlib
import re
import subprocess
from pathlib import Path

import numpy
import pytest
import torch

import ffi
import mx

from ..ffi.plain import plain

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "conversions.md").read_text(encoding="utf-8")
PACKAGE = Path(ffi.__file__).parent
HEADER = (PACKAGE / "include" / "mxnet" / "runtime" / "c_runtime_api.h").read_text(encoding="utf-8")
TYPE_CODES = {
    int(code): name
    for name, code in re.findall(
        r"(kMXNet\w+)\s+=\s+(\d+)", HEADER.partition("} MXNetTypeCode;")[0]
    )
}


def read_only(array):
    array.setflags(write=False)
    return array


NAMES = {
    "array": array,
    "collections": collections,
    "dataclasses": dataclasses,
    "enum": enum,
    "ffi": ffi,
    "mx": mx,
    "numpy": numpy,
    "pathlib": pathlib,
    "read_only": read_only,
    "torch": torch,
}


def rows_of(kind):
    """The rows of the tables that a comment in the page calls so, as lists of each cell's code."""
    tables = re.findall(rf"<!-- {kind} -->\n\n\|.*\n\|[-|]*\n((?:\|.*\n)+)", PAGE)
    return [
        [re.findall(r"`([^`]*)`", cell) for cell in row.split(" | ")]
        for table in tables
        for row in table.splitlines()
    ]


# In the last column: the very object that was given.
ITSELF = "itself"
ARGUMENTS = [
    (value[0], code[0], types, back[0] if back else ITSELF)
    for value, code, types, back in rows_of("arguments")
]
RESULTS = [(expression[0], value[0]) for expression, value in rows_of("results")]
CPP_TYPES = sorted({name for row in ARGUMENTS for name in row[2]} | {"Any"})


def value_of(expression):
    return eval(expression, dict(NAMES))


def same(left, right):
    return plain(left) == plain(right)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Registers reads.TYPE for each C++ type of the page and gives.NUMBER for each expression."""
    folder = tmp_path_factory.mktemp("conversions")
    lines = ["#include <mxnet/runtime/registry.h>", "#include <complex>"]
    lines += ["using namespace mxnet::runtime;"]
    lines += [
        f'MXNET_REGISTER_API("reads.{name}").set_body_typed([]({name}) {{ return true; }});'
        for name in CPP_TYPES
    ]
    lines += [
        f'MXNET_REGISTER_API("gives.{i}").set_body_typed([] {{ return {expression}; }});'
        for i, (expression, _) in enumerate(RESULTS)
    ]
    (folder / "table.cc").write_text("\n".join([*lines, ""]))
    include, lib = PACKAGE / "include", PACKAGE / "lib"
    command = f"c++ -std=c++17 -shared -fPIC -I{include} table.cc -o table.so"
    subprocess.run([*command.split(), f"-L{lib}", "-lmxnet_runtime"], cwd=folder, check=True)
    loaded = ctypes.CDLL(str(folder / "table.so"))
    yield loaded
    for name in ffi.list_global_func_names():
        if name.startswith(("reads.", "gives.")):
            ffi.remove_global_func(name)


@pytest.fixture(scope="module")
def type_code():
    """Returns the name of the type code of an argument, as a function in C is given it."""
    runtime = ctypes.CDLL(str(PACKAGE / "lib" / "libmxnet_runtime.so"))
    seen = []
    prototype = ctypes.CFUNCTYPE(
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_int),
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_void_p,
    )

    @prototype
    def body(resource, values, codes, count, result, result_code):
        seen.append(codes[0])
        return 0

    handle = ctypes.c_void_p()
    assert runtime.MXNetFuncCreateFromCFunc(body, None, None, ctypes.byref(handle)) == 0
    assert runtime.MXNetFuncRegisterGlobal(b"tests.type_code", handle, 0) == 0
    assert runtime.MXNetFuncFree(handle) == 0
    function = ffi.get_global_func("tests.type_code")

    def name_of(value):
        function(value)
        return TYPE_CODES[seen.pop()]

    yield name_of
    ffi.remove_global_func("tests.type_code")


each_argument = pytest.mark.parametrize(
    ("expression", "code", "types", "back"), ARGUMENTS, ids=[row[0] for row in ARGUMENTS]
)


@each_argument
def test_type_code(expression, code, types, back, type_code):
    assert type_code(value_of(expression)) == code


@each_argument
def test_cpp_types(expression, code, types, back, library):
    for name in [*types, "Any"]:
        assert ffi.get_global_func(f"reads.{name}")(value_of(expression)) is True


@each_argument
def test_comes_back(expression, code, types, back):
    given = value_of(expression)
    returned = ffi.get_global_func("ffi.echo")(given)
    assert returned is given if back == ITSELF else same(returned, value_of(back))


@pytest.mark.parametrize(
    ("index", "value"),
    [(index, row[1]) for index, row in enumerate(RESULTS)],
    ids=[row[0] for row in RESULTS],
)
def test_result(index, value, library):
    assert same(ffi.get_global_func(f"gives.{index}")(), value_of(value))


def test_the_tables_are_found():
    assert len(ARGUMENTS) > 30
    assert len(RESULTS) > 15
