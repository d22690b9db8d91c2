"""What users see when a library fails: every fault at every call, with and without streams."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mx

CODES = {
    "failed": RuntimeError,
    "bad_argument": ValueError,
    "unsupported": NotImplementedError,
    "memory": MemoryError,
    "no_device": RuntimeError,
    "rejected": ImportError,
    "bad_index": IndexError,
}
# Calls of the scenario below, and where MXNet goes another way than to fail.
CALLS = ["mx_alloc", "copyToAcc", "copyFromAcc", "copyWithinAcc", "accGetExecutor", "run"]
IN_STREAMS = ["syncStream", "recordEvent", "waitEvent", "work"]
AVOIDED = {
    ("accGetExecutor", "unsupported"),  # on the CPU
    ("run", "unsupported"),
    ("copyWithinAcc", "unsupported"),  # through the host
}
# What is tried once more when the pool has been emptied.
RETRIED = {("mx_alloc", "memory"), ("run", "memory")}


def scenario(ctx: mx.Context) -> None:
    """Allocates, copies in every direction, runs operators; checks all that comes back."""
    a = mx.np.array([[1.0, 2.0], [3.0, 4.0]], ctx=ctx)
    b = a + a
    assert b.tolist() == [[2, 4], [6, 8]]
    other = mx.np.matmul(b, a).as_in_ctx(mx.Context(ctx.device_type, 1))
    assert other.T.tolist() == [[14, 30], [20, 44]]
    b -= a
    assert b.sum(axis=0).tolist() == [4, 6]
    mx.waitall()


@pytest.fixture(params=["0", "1"], ids=["blocking", "streams"])
def ctx(request, accelerators: Path, monkeypatch) -> Iterator[mx.Context]:
    monkeypatch.setenv("REFACC_STREAMS", request.param)
    yield mx.load_acc(accelerators / "librefacc.so", "faulty")
    gc.collect()  # the arrays in the frames of exceptions
    mx.unload_acc("faulty")


@pytest.mark.parametrize("times", ["@1", "@2", "@3+", ""])
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("call", CALLS + IN_STREAMS)
def test_a_fault_is_an_error_or_another_way(
    ctx: mx.Context, call: str, code: str, times: str
) -> None:
    scenario(ctx)
    mx.empty_cache(ctx)
    ctx.configure(faults=f"{call}{times}={code}")
    once = times in ("@1", "@2")
    avoided = (call, code) in AVOIDED or (once and (call, code) in RETRIED)
    try:
        scenario(ctx)
    except CODES[code] as error:
        assert not avoided and f"the fault that was asked for at {call}" in str(error)
        assert "faulty" in str(error)
    else:
        # Some calls are made less often than that, or only with streams.
        assert avoided or call in IN_STREAMS or times in ("@2", "@3+")
    ctx.configure(faults="")
    scenario(ctx)
    gc.collect()
    for device in (0, 1):
        here = mx.Context("faulty", device)
        assert mx.memory_info(here).in_use == 0
        mx.empty_cache(here)
        answer = here.configure(check=1)
        assert (answer["violations"], answer["live"]) == ("0", "0"), answer


LOADING = ["mxacc_get_api", "getAccName", "initialize", "getNumAcc", "getDeviceInfo"]
LOADING += ["supportsImperative", "createStream", "createEvent"]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("call", LOADING)
def test_a_fault_in_loading_is_told(accelerators: Path, monkeypatch, call: str, code: str) -> None:
    monkeypatch.setenv("REFACC_STREAMS", "1")
    monkeypatch.setenv("REFACC_FAULTS", f"{call}={code}")
    with pytest.raises(CODES[code], match=f"{call} failed: the fault that was asked for"):
        mx.load_acc(accelerators / "librefacc.so", "failing")
    monkeypatch.delenv("REFACC_FAULTS")
    scenario(mx.load_acc(accelerators / "librefacc.so", "failing"))
    mx.unload_acc("failing")


# Configure is asked for by the user, so its fault is too.
def test_a_fault_in_configure(ctx: mx.Context) -> None:
    ctx.configure(faults="configure@1=bad_argument")
    with pytest.raises(ValueError, match="faulty: configure failed: the fault"):
        ctx.configure(slow="0")
    assert ctx.configure()["faults"] == "configure@1=bad_argument"


FREED: dict[str, Callable[[mx.Context], object]] = {
    "sum": lambda ctx: mx.np.ones((100, 100), ctx=ctx).sum(),
    "result in use": lambda ctx: mx.np.ones((100, 100), ctx=ctx) + 1,
}


@pytest.mark.parametrize("call", FREED.values(), ids=FREED)
def test_out_of_memory_names_what_there_is(ctx: mx.Context, call) -> None:
    ctx.configure(memory=50_000)
    with pytest.raises(MemoryError, match=r"unable to allocate \d+ bytes on faulty\(0\): "):
        kept = [call(ctx) for _ in range(3000)]
        del kept
    ctx.configure(memory=0)
    scenario(ctx)
