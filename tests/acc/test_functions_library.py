"""Libraries whose functions are found by their names, mxnet_acc_functions.h."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import mx
from mxacc_check import abi
from mxacc_check.plugin import AccError, attribute_struct, tensors

from .conftest import ROOT
from .loaded import Loaded

# A whole library. What a test changes of it are its macros.
SOURCE = r"""
#define _POSIX_C_SOURCE 200112L
#include <mxnet_acc_functions.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef NAME
#define NAME "functions"
#endif
#ifndef DEVICES
#define DEVICES 1
#endif
#ifndef REJECT
#define REJECT 0
#endif

static char text[64];
static int version_given, runs, live, model_nodes;

void getAccName(char* name) { strcpy(name, NAME); }
int getNumAcc(void) { return DEVICES; }
int initialize(int version) { version_given = version; return REJECT; }

#ifndef NO_MEMORY
void* mx_alloc(size_t size) {
  void* data = NULL;
  if (posix_memalign(&data, 64, size) == 0) ++live;
  return data;
}
void mx_free(void* data) { free(data); --live; }
#ifndef HALF
static size_t size_of(const MXAccFnTensor* tensor) {
  static const size_t item[] = {4, 8, 2, 1, 4, 1, 8};
  size_t size = item[tensor->dtype];
  for (uint64_t i = 0; i < tensor->shape_len; ++i) size *= (size_t)tensor->shape[i];
  return size;
}
int copyToAcc(MXAccFnTensor* to, const MXAccFnTensor* from) {
  memcpy(to->data, from->data, size_of(from));
  return 0;
}
int copyFromAcc(MXAccFnTensor* to, const MXAccFnTensor* from) {
  if (*(const char*)from->data == 99) return 7;
  memcpy(to->data, from->data, size_of(from));
  return 0;
}
#endif
#endif

#ifndef NO_OPERATORS
int supportsImperative(void) { return 1; }
static int add(const MXAccFnTensor* in, int num_in, MXAccFnTensor* out, int num_out) {
  const float* x = in[0].data;
  const float* y = in[1].data;
  float* z = out[0].data;
  size_t count = 1;
  for (uint64_t i = 0; i < out[0].shape_len; ++i) count *= (size_t)out[0].shape[i];
  if (num_in != 2 || num_out != 1) return 1;
  for (size_t i = 0; i < count; ++i) z[i] = x[i] + y[i];
  ++runs;
  return x[0] == 13 ? 13 : 0;
}
MXAccFnExecutor accGetExecutor(const char* name, const MXAccFnTensor* in, const MXAccFnTensor* out,
                              int num_in, int num_out, const char* const* keys,
                              const char* const* vals, int num_attrs) {
  (void)out, (void)num_out, (void)keys, (void)vals, (void)num_attrs;
  return strcmp(name, "add") == 0 && num_in == 2 && in[0].dtype == kMXAccFnFloat32 ? add : NULL;
}
#endif

void supportedOps(const char* json, const char* const* names, const MXAccFnTensor* data, int num,
                  int* ids) {
  (void)json, (void)data;
  ids[1] = num == 2 && strcmp(names[1], "weight") == 0 ? 3 : -1;
}
int loadModel(const char* id, const char* json, const char* const* names, const MXAccFnTensor* data,
              int num, int dev_id) {
  (void)names, (void)data, (void)dev_id;
  model_nodes = (int)strlen(json) + num;
  return strcmp(id, "model1") == 0 ? 0 : 5;
}
void unloadModel(const char* id) { (void)id; model_nodes = 0; }
int infer(const char* id, const char* const* in_names, const char* const* out_names,
          const MXAccFnTensor* in, MXAccFnTensor* out, int num_in, int num_out) {
  if (model_nodes == 0 || num_in != 1 || num_out != 1) return 4;
  if (strcmp(id, "model1") || strcmp(in_names[0], "x") || strcmp(out_names[0], "y")) return 5;
  *(float*)out->data = *(const float*)in->data * (float)model_nodes;
  return 0;
}

int configure(const char* const* keys, const char* const* values, int num, const char** out_keys,
              const char** out_values) {
  if (num == 1 && strcmp(keys[0], "count") == 0) {
    for (int i = 0; i < atoi(values[0]) && i < MXACC_FN_MAX_ANSWERS; ++i) {
      out_keys[i] = out_values[i] = "again";
    }
    return atoi(values[0]);
  }
  if (num != 0) return -1;
  sprintf(text, "%d %d %d", version_given, runs, live);
  out_keys[0] = "state";
  out_values[0] = text;
  return 1;
}
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory) -> Callable[..., Path]:
    def build(*macros: str) -> Path:
        folder = tmp_path_factory.mktemp("functions")
        (folder / "functions.c").write_text(SOURCE)
        command = ["cc", "-std=c99", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]
        flags = [f"-I{ROOT / 'include'}", "-Werror", "-Wno-unused", *(f"-D{m}" for m in macros)]
        library = folder / "libfunctions.so"
        subprocess.run([*command, *flags, "functions.c", "-o", library], check=True, cwd=folder)
        return library

    return build


@pytest.fixture(scope="module")
def functions(build) -> Iterator[mx.Context]:
    yield mx.load_acc(build())
    mx.unload_acc("functions")


def state(ctx: mx.Context) -> list[int]:
    """Version given, runs, living memory."""
    return [int(word) for word in ctx.configure()["state"].split()]


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "uint16"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)])
def test_arrays(functions: mx.Context, dtype: str, shape: tuple[int, ...]) -> None:
    """Of the types that the header does not list, too: they are bytes to the library."""
    count = int(np.prod(shape))
    expected = (np.arange(count).reshape(shape) % 2).astype(dtype)
    array = mx.np.array(expected, dtype=dtype, ctx=functions)
    assert array.ctx == functions
    np.testing.assert_array_equal(array.asnumpy(), expected)
    np.testing.assert_array_equal(array.T.asnumpy(), expected.T)
    np.testing.assert_array_equal(
        array[..., 1:].asnumpy() if shape else array.asnumpy(),
        expected[..., 1:] if shape else expected,
    )


def test_is_told_the_version(functions: mx.Context) -> None:
    major, minor, patch = map(int, mx.__version__.split("."))
    assert state(functions)[0] == 10000 * major + 100 * minor + patch


def test_operators(functions: mx.Context) -> None:
    a = mx.np.array([[1.0, 2.0], [3.0, 4.0]], ctx=functions)
    before = state(functions)[1]
    assert (a + a).tolist() == [[2, 4], [6, 8]]
    assert (a * a).tolist() == [[1, 4], [9, 16]]
    assert state(functions)[1] == before + 1


def test_executors(functions: mx.Context) -> None:
    plugin = Loaded("functions")
    x = plugin.to_device(np.arange(6, dtype="float32").reshape(2, 3))
    out = plugin.empty((2, 3))
    executor = plugin.executor("add", {"x1": x, "x2": x}, [out])
    before = state(functions)[1]
    executor.run([x, x], [out])
    assert state(functions)[1] == before + 1
    np.testing.assert_array_equal(plugin.to_host(out), 2 * np.arange(6).reshape(2, 3))
    unlucky = plugin.to_device(np.full((2, 3), 13, "float32"))
    with pytest.raises(AccError, match="failed: it returned 13"):
        executor.run([unlucky, x], [out])
    executor.close()
    for memory in (x, out, unlucky):
        memory.free()


def test_rejects_what_has_no_form(functions: mx.Context) -> None:
    plugin = Loaded("functions")
    x, out = plugin.empty((3, 2)), plugin.empty((2, 3))
    odd = plugin.empty((2, 3), "uint16")
    cases = {
        "row-major": ("add", {"x1": x.view(...).like(x.array.T), "x2": out}),
        "no elements of that type": ("add", {"x1": odd, "x2": odd}),
        "does not do that": ("tan", {"x": out}),
    }
    for message, (name, inputs) in cases.items():
        with pytest.raises(AccError, match=f"unsupported: .*{message}"):
            plugin.executor(name, inputs, [out])
    for memory in (x, out, odd):
        memory.free()


def test_models(functions: mx.Context) -> None:
    plugin = Loaded("functions")
    weight = np.zeros(2, "float32")
    x, y = np.full(1, 2, "float32"), np.zeros(1, "float32")
    data, outputs = tensors([x, weight], ["x", "weight"]), tensors([y], ["y"], role=abi.OUTPUT)
    graph = abi.MXAccGraph(
        ctypes.sizeof(abi.MXAccGraph), b"{12345}", data, 2, 3, abi.GRAPH_VERSION, 1, outputs, 1
    )
    nodes = (abi.MXAccNodeSupport * 3)(
        *[abi.MXAccNodeSupport(ctypes.sizeof(abi.MXAccNodeSupport))] * 3
    )
    plugin.call("supportedOps", 0, ctypes.byref(graph), nodes)
    assert [node.id for node in nodes] == [-1, 3, -1]
    model = abi.MXAccModel(ctypes.sizeof(abi.MXAccModel))
    with pytest.raises(AccError, match="it has no options"):
        option = attribute_struct("effort", 1)
        plugin.call("loadModel", 0, ctypes.byref(graph), option, 1, None, ctypes.byref(model))
    load = (0, ctypes.byref(graph), None, 0, None, ctypes.byref(model))
    plugin.call("loadModel", *load)
    assert (model.num_in, model.num_out) == (1, 1)
    assert (model.inputs[0].name, model.outputs[0].name) == (b"x", b"y")
    assert model.inputs[0].tensor.shape[0] == 1
    run = (tensors([x]), 1, tensors([y]), 1, None, None, None)
    plugin.check("infer", model.infer(model.state, *run))
    assert y[0] == 2 * (len("{12345}") + 2)
    model.unloadModel(model.state)
    with pytest.raises(AccError, match="it returned 5"):
        plugin.call("loadModel", *load)


def test_options(functions: mx.Context) -> None:
    assert list(functions.configure(count=1)) == ["again"]
    assert list(functions.configure(count=1000)) == ["again"]
    with pytest.raises(ValueError, match="configure failed: it returned -1"):
        functions.configure(nothing=1)


def test_a_failing_copy(functions: mx.Context) -> None:
    with pytest.raises(RuntimeError, match="copyFromAcc failed: it returned 7"):
        mx.np.array([99], dtype="uint8", ctx=functions).asnumpy()


def test_releases_all(build) -> None:
    """Nothing is left when it is unloaded."""
    ctx = mx.load_acc(build("NO_OPERATORS"), "released")
    array = mx.np.ones(100, ctx=ctx)
    assert state(ctx)[2] >= 1
    del array
    mx.empty_cache(ctx)
    assert state(ctx)[2] == 0
    mx.unload_acc("released")


def test_arrays_are_on_the_first_device(build) -> None:
    mx.load_acc(build("DEVICES=2"), "twodevices")
    try:
        assert mx.np.ones(2, ctx=mx.twodevices(0)).sum() == 2
        with pytest.raises(RuntimeError, match="twodevices.1. cannot be used: mx_alloc of its"):
            mx.np.ones(2, ctx=mx.twodevices(1))
    finally:
        mx.unload_acc("twodevices")


REJECTED: dict[str, tuple[str, type[Exception], str]] = {
    "name": ('NAME="Upper"', ImportError, "names itself 'Upper'"),
    "long name": (
        f'NAME="{"x" * 40}"',
        ValueError,
        "getAccName failed: it wrote more than 31 characters",
    ),
    "devices": ("DEVICES=0", RuntimeError, "it finds no device"),
    "failing count": ("DEVICES=-3", ImportError, "there are -3 devices"),
    "version": ("REJECT=9", ImportError, "initialize failed: it returned 9 for version [0-9]+"),
    "half of memory": ("HALF", ImportError, "its table lacks copyToAcc"),
    "imperative without memory": ("NO_MEMORY", ImportError, "lacks mx_alloc or accGetExecutor"),
}


@pytest.mark.parametrize("macro, error, message", REJECTED.values(), ids=REJECTED)
def test_rejects(build, macro: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        mx.load_acc(build(macro), "rejected")


def test_many_at_once(build, tmp_path: Path) -> None:
    """Each has a table of its own, whose functions are told which it is."""
    content = build().read_bytes()
    names: list[str] = []
    try:
        for number in range(40):
            library = tmp_path / f"lib{number}.so"
            library.write_bytes(content)
            mx.load_acc(library, f"many{number}")
            names.append(f"many{number}")
        for name in ("many0", "many39"):
            ctx = mx.Context(name)
            before = state(ctx)
            assert mx.np.ones(3, ctx=ctx).sum() == 3
            assert state(mx.Context("many20"))[1] == 0, before
    finally:
        for name in names:
            mx.unload_acc(name)
