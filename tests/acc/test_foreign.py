"""Memory of an accelerator that goes out through DLPack, and comes back as somebody else's."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import ffi
import mx
from tests.native import compile_library

VALUES = np.arange(6, dtype="float32").reshape(2, 3)

SOURCE = """
#include <mxnet/runtime/registry.h>

using namespace mxnet::runtime;

template <typename Tensor, auto Export, auto Import>
NDArray Passed(const NDArray& array) {
  Tensor* tensor = nullptr;
  MXNET_CHECK_CALL(Export(array.get(), &tensor));
  MXNetNDArrayHandle handle = nullptr;
  MXNET_CHECK_CALL(Import(tensor, &handle));
  return NDArray(ObjectRef::Steal(handle));
}
MXNET_REGISTER_API("foreign.versioned")
    .set_body_typed(
        Passed<DLManagedTensorVersioned, MXNetNDArrayToDLPack, MXNetNDArrayFromDLPack>);
MXNET_REGISTER_API("foreign.legacy")
    .set_body_typed(
        Passed<DLManagedTensor, MXNetNDArrayToDLPackLegacy, MXNetNDArrayFromDLPackLegacy>);
"""

# Memory of a kind of device that no accelerator has: DLPack's number of CUDA.
SOURCE += """
MXNET_REGISTER_API("foreign.of_cuda").set_body_typed([](const NDArray& array) {
  DLManagedTensor* tensor = nullptr;
  MXNET_CHECK_CALL(MXNetNDArrayToDLPackLegacy(array.get(), &tensor));
  tensor->dl_tensor.device = DLDevice{kDLCUDA, 0};
  tensor->dl_tensor.data = reinterpret_cast<void*>(64);
  MXNetNDArrayHandle handle = nullptr;
  MXNET_CHECK_CALL(MXNetNDArrayFromDLPackLegacy(tensor, &handle));
  return NDArray(ObjectRef::Steal(handle));
});
"""

Pass = Callable[[mx.np.ndarray], mx.np.ndarray]


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> ffi.Module:
    folder = tmp_path_factory.mktemp("foreign")
    return ffi.load_library(compile_library(folder, "foreign", SOURCE, "-O0", suffix=".cc"))


@pytest.fixture(params=["versioned", "legacy"])
def passed(library: ffi.Module, request) -> Pass:
    return getattr(library, request.param)


@pytest.fixture
def ctx(accelerators, monkeypatch) -> Iterator[mx.Context]:
    monkeypatch.setenv("REFACC_STREAMS", "1")
    ctx = mx.load_acc(accelerators / "librefacc.so", "outgoing")
    yield ctx
    ctx.configure(faults="", slow=0)
    gc.collect()
    mx.unload_acc("outgoing")


LOOKS: dict[str, Callable[[mx.np.ndarray], object]] = {
    "asnumpy": lambda a: a.asnumpy(),
    "operator": lambda a: a + a,
    "copy": lambda a: a.copy(),
    "to the CPU": lambda a: a.as_in_ctx("cpu"),
    "row": lambda a: a[0].asnumpy(),
    "written": lambda a: a.__setitem__(0, 1),
    "asarray": np.asarray,
    "numpy.from_dlpack": np.from_dlpack,
    "into the CPU": lambda a: mx.np.add(a, a, out=mx.np.zeros((2, 3))),
    "with the CPU": lambda a: mx.np.zeros((2, 3)) + a,
    "sum": lambda a: a.sum(),
    "shape of": lambda a: mx.np.reshape(a, (3, 2)).tolist(),
    "index": lambda a: mx.np.zeros((2, 3))[a.astype("int64")],
    "truth": lambda a: bool(a[0, 0]),
    "text": lambda a: repr(a) and str(a) and a.tolist(),
    "assigned": lambda a: mx.np.zeros((2, 3)).__setitem__(..., a),
    "numpy's operand": lambda a: np.ones((2, 3), "float32") + a,
    "list": lambda a: mx.np.array([a, a]),
    "where": lambda a: mx.np.where(a, a, a),
    "nonzero": lambda a: mx.np.nonzero(a),
    "equal": lambda a: mx.np.array_equal(a, a),
}


@pytest.mark.parametrize("loaded", [False, True], ids=["alone", "beside an accelerator"])
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_memory_of_cuda(library, request, look, loaded: bool) -> None:
    if loaded:
        request.getfixturevalue("ctx")
    foreign = library.of_cuda(mx.np.array(VALUES))
    with pytest.raises(ValueError, match=r"device2\(0\)"):
        look(foreign)


def test_comes_back_as_what_it_was(ctx, passed: Pass) -> None:
    a = mx.np.array(VALUES, ctx=ctx)
    ctx.configure(slow=20_000)
    doubled = a + a
    back = passed(doubled[1:])
    assert (back.ctx, back.shape) == (ctx, (1, 3))
    assert back.tolist() == [[6, 8, 10]]
    back[0, 0] = 5
    del doubled
    gc.collect()
    assert (back + 1).tolist() == [[6, 9, 11]]


def test_what_is_lost_does_not_go_out(ctx, passed: Pass) -> None:
    a = mx.np.array(VALUES, ctx=ctx)
    ctx.configure(faults="work@1=bad_index")
    lost = a + a
    for _ in range(2):
        with pytest.raises(IndexError, match=r"outgoing\(0\): add failed: the fault"):
            passed(lost)
    assert passed(a).tolist() == VALUES.tolist()


def test_what_is_lost_later_is_known(ctx, passed: Pass) -> None:
    a = mx.np.array(VALUES, ctx=ctx)
    back = passed(a)
    ctx.configure(faults="work@1=bad_index")
    a += 1
    with pytest.raises(IndexError, match=r"outgoing\(0\): add failed: the fault"):
        back.tolist()
