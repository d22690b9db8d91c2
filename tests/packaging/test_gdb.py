"""The printers that the wheel has for gdb, in gdb itself."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import ffi

PACKAGE = Path(ffi.__file__).parent

PROGRAM = """
#include <mxnet/runtime/class.h>
using namespace mxnet::runtime;

struct Item {
  int value;
};
MXNET_REGISTER_CLASS(Item, "gdb.Item");

__attribute__((noinline)) void Stop() { asm volatile(""); }

int Run(MXNetArgs args) {
  Any number = details::ToAny(42);
  Any text = details::ToAny(std::string("text"));
  Any nothing;
  Array<Any> array({number, text, nothing});
  Array<Any> nested({details::ToAny(array)});
  Map<std::string, int> map({{"a", 1}});
  String string("s\\xc3\\xa4");
  Shape shape{3, 4};
  Tuple pair({number, text});
  NDArray tensor = NDArray::Empty(shape, DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
  PackedFunc function = PackedFunc::GetGlobal("ffi.echo");
  FunctionView view = function;
  ObjectRef none;
  const ObjectRef& reference = array;
  MXNetValue value = args.values[1];
  Error error("ValueError", "wrong");
  Ref<Item> item = Ref<Item>::Make(Item{3});
  Ref<Item> no_item;
  const Ref<Item>& same_item = item;
  Stop();
  const int defined = reference.defined() + same_item.defined() + no_item.defined();
  return defined + none.defined() + static_cast<int>(value.v_int64);
}

int main() {
  PackedFunc run([](MXNetArgs args, MXNetRetValue*) { Run(args); });
  const int codes[] = {kMXNetInt, kMXNetStr, kMXNetIntTuple, kMXNetBool, kMXNetDict, kMXNetType,
                       kMXNetFloat, kMXNetMissing, kMXNetKeyword, kMXNetEnum, kMXNetBorrowedArray};
  int64_t ints[] = {3, 4};
  MXNetAny entry[2] = {};
  entry[0].type_code = kMXNetInt;
  entry[1].type_code = kMXNetNull;
  MXNetBorrowedTensor borrowed = {};
  borrowed.tensor.shape = ints;
  borrowed.tensor.ndim = 2;
  borrowed.tensor.dtype = kFloat32;
  borrowed.tensor.device = DLDevice{kDLCPU, 0};
  MXNetValue values[11] = {};
  values[0].v_int64 = -5;
  values[1].v_str = {"hello", 5};
  values[2].v_ints = {ints, 2};
  values[3].v_int64 = 1;
  values[4].v_seq = {entry, 2};
  values[5].v_type = {kDLBfloat, 16, 1};
  values[6].v_float64 = 1.5;
  values[8].v_str = {"axis", 4};
  values[9].v_enum = {2, 99};
  values[10].v_handle = &borrowed;
  run.CallPacked(values, codes, 11);
}
"""

PRINTED = {
    "args": "(-5, 'hello', (3, 4), True, {0: None}, bfloat16, 1.5, <not given>, <keyword 'axis'>, "
    "<member 2 of the enum of type 99>, <borrowed float32[3, 4] at 0x0>)",
    "number": "42",
    "text": "'text'",
    "nothing": "None",
    "array": "Array[42, 'text', None]",
    "nested": "Array[Array[42, 'text', None]]",
    "map": "Map{'a': 1}",
    "string": "'sä'",
    "shape": "Shape(3, 4)",
    "pair": "(42, 'text')",
    "tensor": "<NDArray float32[3, 4] at 0x",
    "function": "<function at 0x",
    "view": "<function at 0x",
    "none": "<no object>",
    "reference": "Array[42, 'text', None]",
    "error": '<Error "ValueError": "wrong">',
    "*error.content_.ptr_": "<object of type 0 at 0x",
    "item": "<Item at 0x",
    "same_item": "<Item at 0x",
    "no_item": "<no object>",
    "*array.ptr_": "Array[42, 'text', None]",
    "$mxnet(value, args.type_codes[1])": "\"'hello'\"",
    "$mxnet_object(shape.ptr_)": '"Shape(3, 4)"',
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What gdb prints of each expression, where the program has stopped."""
    if shutil.which("gdb") is None:
        pytest.skip("no gdb")
    folder = tmp_path_factory.mktemp("gdb")
    source, program = folder / "values.cc", folder / "values"
    source.write_text(PROGRAM)
    compiler = [*shlex.split(os.environ.get("CXX", "c++")), "-std=c++17", "-g", "-O0"]
    paths = [f"-I{PACKAGE / 'include'}", f"-L{PACKAGE / 'lib'}", f"-Wl,-rpath,{PACKAGE / 'lib'}"]
    subprocess.run(
        [*compiler, str(source), *paths, "-lmxnet_runtime", "-o", str(program)], check=True
    )
    commands = [f"source {PACKAGE / '_gdb_printers.py'}", "break Stop", "run", "up"]
    for number, expression in enumerate(PRINTED):
        commands += [f"echo \\n:{number}:", f"print {expression}"]
    arguments = [part for command in commands for part in ("-ex", command)]
    done = subprocess.run(
        ["gdb", "-nx", "-batch", *arguments, str(program)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        timeout=120,
    )
    parts = done.stdout.split("\n:")[1:]
    assert len(parts) == len(PRINTED), done.stdout + done.stderr
    return {
        name: part.partition(" = ")[2].strip() for name, part in zip(PRINTED, parts, strict=True)
    }


@pytest.mark.parametrize("expression", PRINTED)
def test_printed(printed, expression):
    assert printed[expression].startswith(PRINTED[expression])
