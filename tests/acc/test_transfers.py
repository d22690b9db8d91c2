"""Assignments and copies between devices: one copy each, straight from where the elements are."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import mx

# Writes down each copy: the function, the device, the bytes, and the address on the host.
RECORDER = r"""
#include <stdio.h>
static char text[4096];
static MXAccStatus GetAccName(void* self, char* name, size_t size) {
  return strcpy(name, "recorder"), NULL;
}
static MXAccStatus GetNumAcc(void* self, int32_t* count) { return *count = 2, NULL; }
static MXAccStatus Describe(void* self, int32_t dev, MXAccDeviceInfo* info) {
  return info->flags = kMXAccStrides, NULL;
}
static MXAccStatus Alloc(void* self, int32_t dev, int32_t memory, size_t size,
                         size_t alignment, void** out) {
  *out = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return NULL;
}
static void Free(void* self, int32_t dev, void* data) { free(data); }
static void CopyAxis(const MXAccDLTensor* to, const MXAccDLTensor* from, int axis, char* at,
                     const char* source, size_t item) {
  if (axis == to->ndim) {
    memcpy(at, source, item);
    return;
  }
  for (int64_t i = 0; i < to->shape[axis]; ++i) {
    CopyAxis(to, from, axis + 1, at + i * to->strides[axis] * (int64_t)item,
             source + i * from->strides[axis] * (int64_t)item, item);
  }
}
static void CopyOne(const char* what, int32_t dev, MXAccDLTensor* to, const MXAccDLTensor* from,
                    const MXAccDLTensor* host) {
  size_t item = to->dtype.bits / 8, size = item;
  for (int i = 0; i < to->ndim; ++i) size *= to->shape[i];
  char* target = (char*)to->data + to->byte_offset;
  const char* source = (char*)from->data + from->byte_offset;
  const void* address = host == NULL ? NULL : host == to ? (const void*)target : source;
  sprintf(text + strlen(text), "%s %d %d %llu;", what, (int)dev, (int)size,
          (unsigned long long)(uintptr_t)address);
  CopyAxis(to, from, 0, target, source, item);
}
static MXAccStatus CopyTo(void* self, int32_t dev, MXTensor* to, const MXTensor* from, int32_t n,
                          MXAccStream stream) {
  for (int i = 0; i < n; ++i) CopyOne("to", dev, &to[i].tensor, &from[i].tensor, &from[i].tensor);
  return NULL;
}
static MXAccStatus CopyFrom(void* self, int32_t dev, MXTensor* to, const MXTensor* from, int32_t n,
                            MXAccStream stream) {
  for (int i = 0; i < n; ++i) CopyOne("from", dev, &to[i].tensor, &from[i].tensor, &to[i].tensor);
  return NULL;
}
static MXAccStatus CopyWithin(void* self, int32_t dev, MXTensor* to, const MXTensor* from,
                              int32_t n, MXAccStream stream) {
  for (int i = 0; i < n; ++i) CopyOne("within", dev, &to[i].tensor, &from[i].tensor, NULL);
  return NULL;
}
static MXAccStatus Configure(void* self, int32_t dev, const char* const* keys,
                             const char* const* values, int32_t n, MXAccEmit emit, void* context) {
  emit(context, "copies", text, strlen(text));
  return text[0] = 0, NULL;
}
MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {
  MXAccApi table = {.struct_size = sizeof(MXAccApi), .abi_major = 1, .getAccName = GetAccName,
                    .getNumAcc = GetNumAcc, .getDeviceInfo = Describe, .mx_alloc = Alloc,
                    .mx_free = Free, .copyToAcc = CopyTo, .copyFromAcc = CopyFrom,
                    .copyWithinAcc = CopyWithin, .configure = Configure};
  return *api = table, NULL;
}
"""


@pytest.fixture(scope="module")
def recorder(compile_library, tmp_path_factory: pytest.TempPathFactory) -> Iterator[mx.Context]:
    yield mx.load_acc(compile_library(tmp_path_factory.mktemp("recorder"), RECORDER))
    gc.collect()
    mx.unload_acc("recorder")


def copies(ctx: mx.Context) -> list[tuple[str, int, int, int]]:
    """Function, device, bytes and address on the host of each copy since the last call."""
    words = [line.split() for line in ctx.configure()["copies"].split(";")[:-1]]
    return [(name, *map(int, numbers)) for name, *numbers in words]  # type: ignore[misc]


def assign(target: Any, key: Any, value: Any) -> None:
    target[key] = value


HERE, THERE, SECOND = "here", "there", "second"
SHAPE = (3, 4)
ROW = SHAPE[1] * 4
WHOLE = SHAPE[0] * ROW

# The call, and its copies: function, device, bytes, and whether the memory of `here` is used.
COPIES: dict[str, tuple[Callable[[dict[str, Any]], Any], list[tuple[str, int, int, bool]]]] = {
    "to device": (lambda a: a[HERE].copyto(a[THERE]), [("to", 0, WHOLE, True)]),
    "to host": (lambda a: a[THERE].copyto(a[HERE]), [("from", 0, WHOLE, True)]),
    "to a second device": (lambda a: a[THERE].copyto(a[SECOND]), [("within", 1, WHOLE, False)]),
    "to a context": (lambda a: a[HERE].copyto(a[THERE].ctx), [("to", 0, WHOLE, True)]),
    "to the host's context": (lambda a: a[THERE].copyto(mx.cpu()), [("from", 0, WHOLE, False)]),
    "to its own context": (
        lambda a: a[THERE].copyto(a[THERE].ctx),
        [("within", 0, WHOLE, False)],
    ),
    "array": (
        lambda a: mx.np.array(a[HERE], ctx=a[THERE].ctx),
        [("to", 0, WHOLE, True)],
    ),
    "array of another": (
        lambda a: mx.np.array(a[THERE], ctx=a[SECOND].ctx),
        [("within", 1, WHOLE, False)],
    ),
    "whole": (lambda a: assign(a[THERE], ..., a[HERE]), [("to", 0, WHOLE, True)]),
    "whole from NumPy": (
        lambda a: assign(a[THERE], ..., numpy.asarray(a[HERE])),
        [("to", 0, WHOLE, True)],
    ),
    "whole by a slice": (lambda a: assign(a[HERE], slice(None), a[THERE]), [("from", 0, 48, True)]),
    "row": (lambda a: assign(a[THERE], 1, a[HERE][0]), [("to", 0, ROW, True)]),
    "row to row": (lambda a: assign(a[THERE], 1, a[SECOND][0]), [("within", 0, ROW, False)]),
    "column": (
        lambda a: assign(a[THERE], (slice(None), 0), a[HERE][:, 0]),
        [("to", 0, SHAPE[0] * 4, True)],
    ),
    "element": (lambda a: assign(a[THERE], (1, 1), 5), [("to", 0, 4, False)]),
    "number": (lambda a: assign(a[THERE], ..., 5), [("to", 0, WHOLE, False)]),
    "broadcast": (lambda a: assign(a[THERE], ..., a[HERE][0]), [("to", 0, WHOLE, False)]),
    "broadcast on devices": (
        lambda a: assign(a[THERE], ..., a[SECOND][:, :1]),
        [("within", 0, WHOLE, False)],
    ),
    "one axis more": (
        lambda a: assign(a[THERE], ..., a[SECOND][None]),
        [("within", 0, WHOLE, False)],
    ),
    "another type": (
        lambda a: assign(a[THERE], ..., a[HERE].astype("int64")),
        [("to", 0, WHOLE, False)],
    ),
    "another type to host": (
        lambda a: a[THERE].copyto(mx.np.zeros(SHAPE, "float64")),
        [("from", 0, WHOLE, False)],
    ),
    "nothing": (lambda a: assign(a[THERE], slice(0, 0), a[HERE][:0]), []),
    # What is written may be read again.
    "shifted": (
        lambda a: assign(a[THERE], slice(1, None), a[THERE][:-1]),
        [("from", 0, 2 * ROW, False), ("to", 0, 2 * ROW, False)],
    ),
}


@pytest.mark.parametrize("call, expected", COPIES.values(), ids=COPIES)
def test_is_one_copy(
    recorder: mx.Context,
    call: Callable[[dict[str, Any]], Any],
    expected: list[tuple[str, int, int, bool]],
) -> None:
    given = {
        name: (numpy.arange(12, dtype="float32") + 100 * i).reshape(SHAPE)
        for i, name in enumerate((HERE, THERE, SECOND))
    }
    contexts = {HERE: mx.cpu(), THERE: recorder, SECOND: mx.recorder(1)}
    arrays = {name: mx.np.array(given[name], ctx=ctx) for name, ctx in contexts.items()}
    on_host = {name: mx.np.array(array) for name, array in given.items()}
    first = arrays[HERE].data_ptr
    copies(recorder)
    mx.acc_stats(reset=True)
    with mx.acc_fallback("error"):
        result = call(arrays)
    made = copies(recorder)
    assert [
        (name, device, size, first <= address < first + WHOLE)
        for name, device, size, address in made
    ] == expected
    assert not mx.acc_stats()
    reference = call(on_host)
    for name, array in arrays.items():
        numpy.testing.assert_array_equal(array.asnumpy(), on_host[name].asnumpy(), err_msg=name)
    if result is not None:
        numpy.testing.assert_array_equal(result.asnumpy(), reference.asnumpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool"])
@pytest.mark.parametrize("shape", [(), (1, 4), (3, 1), (3, 4), (1, 1, 3, 4)], ids=str)
def test_converts_and_broadcasts(ctx: mx.Context, shape: tuple[int, ...], dtype: str) -> None:
    value = numpy.arange(numpy.prod(shape)).reshape(shape).astype(dtype)
    expected = numpy.empty(SHAPE, "float32")
    expected[...] = value
    others = mx.test_utils.list_acc(ctx)
    for target in (mx.cpu(), ctx):
        for source in (mx.cpu(), *(mx.Context(ctx.device_type, i) for i in others)):
            array = mx.np.zeros(SHAPE, ctx=target)
            array[...] = mx.np.array(value, ctx=source)
            numpy.testing.assert_array_equal(array.asnumpy(), expected, err_msg=str(source))


REJECTED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "shape": (
        lambda a: assign(a, ..., mx.np.zeros(3, ctx=a.ctx)),
        r"_npi.setitem: could not broadcast input array from shape \(3,\) into shape \(3,4\)",
    ),
    "sequence": (lambda a: assign(a, (0, 0), [1, 2]), "setting an array element with a sequence"),
    "read only": (
        lambda a: assign(mx.np.broadcast_to(a[0], (2, 4)), 0, a[0]),
        "assignment destination is read-only",
    ),
}


@pytest.mark.parametrize("call, message", REJECTED.values(), ids=REJECTED)
def test_rejects(ctx: mx.Context, call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(mx.np.zeros(SHAPE, ctx=ctx))
