"""Arrays on accelerators as NumPy, torch and others see them: in place where the CPU can read."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import ffi
import mx
from mx._library import PATH as OPERATORS

# What each consumer makes of an array on the host, or None where it copies in any case; and what
# it does with memory that the CPU cannot read: an error with its message, or a copy (None).
NO_VIEW = (
    BufferError,
    r"__dlpack__: the CPU cannot read the memory of \w+\(0\); copy the array wi",
)
CONSUMERS: dict[str, tuple[Callable[[Any], Any], tuple[type[Exception], str] | None]] = {
    "asarray": (numpy.asarray, None),
    "array without a copy": (
        lambda a: numpy.array(a, copy=False),
        (ValueError, r"an array on \w+\(0\) cannot be seen by NumPy without a copy"),
    ),
    "numpy.from_dlpack": (numpy.from_dlpack, NO_VIEW),
    "numpy.from_dlpack, cpu": (lambda a: numpy.from_dlpack(a, device="cpu"), None),
    "numpy.from_dlpack, cpu, no copy": (
        lambda a: numpy.from_dlpack(a, device="cpu", copy=False),
        NO_VIEW,
    ),
    "torch.from_dlpack": (
        lambda a: pytest.importorskip("torch").from_dlpack(a).numpy(),
        NO_VIEW,
    ),
    "ffi.from_dlpack": (lambda a: numpy.asarray(ffi.from_dlpack(a)), NO_VIEW),
    "legacy capsule": (lambda a: numpy.from_dlpack(Legacy(a)), NO_VIEW),
    "memoryview": (
        lambda a: numpy.asarray(memoryview(a)),
        (BufferError, r"an array on \w+\(0\) has no memory that the CPU can read"),
    ),
    "flat": (lambda a: a.flat.base, None),
}


class Legacy:
    """An array as it was exported before DLPack had versions."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self.array.__dlpack_device__()
        return device


def is_visible(ctx: mx.Context) -> bool:
    found = (a for a in mx.accelerators() if a.name == ctx.device_type)
    return next(found).devices[ctx.device_id].host_visible


GIVEN = numpy.arange(12, dtype="float32").reshape(3, 4)
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda a: a,
    "transposed": lambda a: a.T,
    "part": lambda a: a[1:, ::2],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("consume, rejection", CONSUMERS.values(), ids=CONSUMERS)
def test_is_seen(
    ctx: mx.Context,
    consume: Callable[[Any], Any],
    rejection: tuple[type[Exception], str] | None,
    view: Callable[[Any], Any],
) -> None:
    array = view(mx.np.array(GIVEN, ctx=ctx))
    visible = is_visible(ctx)
    if consume is CONSUMERS["memoryview"][0] and ffi.backend == "ctypes":
        visible, rejection = False, (TypeError, "a bytes-like object is required")
    if not visible and rejection is not None:
        with pytest.raises(rejection[0], match=rejection[1]):
            consume(array)
        return
    seen = consume(array)
    numpy.testing.assert_array_equal(seen, view(GIVEN))
    if not visible:
        return
    # NumPy writes to nothing of before DLPack had versions.
    if seen.flags.writeable:
        seen[0, 1] = 70
        assert array[0, 1].tolist() == 70
    array[0, 0] = 71
    assert seen[0, 0] == 71


def test_says_where_it_is(ctx: mx.Context) -> None:
    device = mx.np.zeros(3, ctx=ctx).__dlpack_device__()
    assert (device == mx.np.zeros(3).__dlpack_device__() == (1, 0)) == is_visible(ctx)


# Requests of __dlpack__ that are rejected whatever the memory.
REJECTED: dict[str, tuple[dict[str, Any], str]] = {
    "stream": ({"stream": 1}, "'stream' must be None"),
    "another device": ({"dl_device": (2, 0)}, r"the array is on \w+\(0\), not on device \(2, 0\)"),
}


@pytest.mark.parametrize("request_, message", REJECTED.values(), ids=REJECTED)
def test_rejects(ctx: mx.Context, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(BufferError, match=message):
        mx.np.zeros(3, ctx=ctx).__dlpack__(**request_)


def test_a_copy_says_that_it_is_one(ctx: mx.Context) -> None:
    array = mx.np.zeros(3, ctx=ctx)
    copied = numpy.from_dlpack(array, device="cpu", copy=True)
    copied[0] = 1
    assert array.tolist() == [0, 0, 0]


def test_read_only_stays_so(ctx: mx.Context) -> None:
    frozen = mx.np.broadcast_to(mx.np.ones(3, ctx=ctx), (2, 3))
    seen = numpy.asarray(frozen)
    assert seen.tolist() == [[1] * 3] * 2
    assert seen.flags.writeable == (not is_visible(ctx))


def test_numpy_writes_to_its_out(ctx: mx.Context) -> None:
    out = mx.np.zeros(3, ctx=ctx)
    # Of a function that mx.np lacks.
    assert numpy.heaviside(mx.np.array([-1, 0, 1], ctx=ctx), 0.5, out=out) is out
    assert out.tolist() == [0, 0.5, 1]
    out.flat = [1, 2]
    assert out.tolist() == [1, 2, 1]


@pytest.fixture
def streaming(
    accelerators: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[mx.Context]:
    """Visible memory, and streams in which work takes its time."""
    library = shutil.copy(accelerators / "librefacc.so", tmp_path)
    settings = {"HANDLES": "address", "STREAMS": "1", "RUNTIME": OPERATORS}
    for key, value in settings.items():
        monkeypatch.setenv(f"REFACC_{key}", value)
    ctx = mx.load_acc(library, "streaming")
    yield ctx
    ctx.configure(slow=0, faults="")
    gc.collect()
    assert ctx.configure(check=1)["violations"] == "0"
    mx.unload_acc("streaming")


@pytest.mark.parametrize(
    "look",
    [numpy.asarray, numpy.from_dlpack, lambda a: numpy.asarray(ffi.from_dlpack(a))],
    ids=["asarray", "numpy.from_dlpack", "ffi.from_dlpack"],
)
def test_is_seen_after_the_work_under_way(
    streaming: mx.Context, look: Callable[[Any], Any]
) -> None:
    a = mx.np.ones(3, ctx=streaming)
    streaming.configure(slow=100_000)
    assert look(a + a).tolist() == [2, 2, 2]


def test_new_zeros_wait_for_the_work_under_way(streaming: mx.Context) -> None:
    """Which may write to the memory for an array that is gone."""
    a = mx.np.ones(3, ctx=streaming)
    streaming.configure(slow=100_000)
    address_on_cpu = numpy.asarray(a).ctypes.data
    gone = a + a
    address = ffi.get_global_func("mx.context.location")(gone)
    del gone
    zeros = mx.np.zeros(3, ctx=streaming)
    assert ffi.get_global_func("mx.context.location")(zeros) == address != (address_on_cpu, 0)
    mx.waitall()
    assert zeros.tolist() == [0, 0, 0]


def test_keeps_the_accelerator(streaming: mx.Context) -> None:
    seen = [
        consume(mx.np.ones(3, ctx=streaming))
        for consume in (numpy.asarray, numpy.from_dlpack, ffi.from_dlpack)
    ]
    for left in range(len(seen), 0, -1):
        gc.collect()
        with pytest.raises(RuntimeError, match=f"cannot unload streaming: {left} arrays or calls"):
            mx.unload_acc("streaming")
        assert numpy.asarray(seen.pop()).tolist() == [1, 1, 1]
