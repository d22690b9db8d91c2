"""Work that fails in a stream: who is told, and who is not."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import ffi
import mx
from mx._library import PATH as OPERATORS

from .conftest import ROOT

VALUES = np.arange(6, dtype="float32").reshape(2, 3)
Arrays = dict[str, mx.np.ndarray]


class Accelerator:
    """refacc with streams: two devices, and faults of work."""

    def __init__(self, first: mx.Context):
        self.first = first
        self.second = mx.Context(first.device_type, 1)

    def array(self, values=VALUES) -> mx.np.ndarray:
        return mx.np.array(values, ctx=self.first, dtype="float32")

    def fail(self, position: int, code: str = "failed", more: str = "") -> None:
        """Has the work of that position fail, of all that comes from now on."""
        self.first.configure(faults=f"work@{position}{more}={code}")


def load(library: Path) -> Iterator[Accelerator]:
    acc = Accelerator(mx.load_acc(library, "spoiled"))
    yield acc
    acc.first.configure(faults="", slow=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        gc.collect()  # the arrays in the frames of exceptions
        for ctx in (acc.first, acc.second):
            answer = ctx.configure(check=1)
            assert answer["violations"] == "0", answer
        mx.unload_acc("spoiled")


@pytest.fixture(params=["named", "unnamed"])
def failures(request, monkeypatch) -> str:
    monkeypatch.setenv("REFACC_FAILURES", request.param)
    return request.param


@pytest.fixture(params=["opaque", "address"])
def handles(request, monkeypatch) -> str:
    monkeypatch.setenv("REFACC_HANDLES", request.param)
    return request.param


@pytest.fixture
def acc(accelerators: Path, monkeypatch) -> Iterator[Accelerator]:
    monkeypatch.setenv("REFACC_STREAMS", "1")
    yield from load(accelerators / "librefacc.so")


# ---- a queue of work, each piece of which may fail ----


def into_row(arrays: Arrays) -> None:
    arrays["zeros"][0] = arrays["sum"][1]


def into_all(arrays: Arrays) -> None:
    mx.np.multiply(arrays["back"], arrays["given"], out=arrays["spare"])


def in_place(arrays: Arrays) -> None:
    arrays["sum"] += arrays["given"]


def makes(name: str, make: Callable[[Arrays], mx.np.ndarray]) -> Callable[[Arrays], None]:
    return lambda arrays: arrays.__setitem__(name, make(arrays))


Step = tuple[str, str, set[str], Callable[[Arrays], None]]


def steps_of(acc: Accelerator) -> list[Step]:
    """Each is one piece of work: what it is called, what it writes, what it reads, and itself."""
    here, there = acc.first, acc.second
    return [
        ("mx_zero", "zeros", set(), makes("zeros", lambda a: mx.np.zeros((2, 3), ctx=here))),
        ("add", "sum", {"given"}, makes("sum", lambda a: a["given"] + a["given"])),
        ("subtract", "other", {"given"}, makes("other", lambda a: a["given"] - 1)),
        ("add", "sum", {"sum", "given"}, in_place),
        ("copyWithinAcc", "there", {"sum"}, makes("there", lambda a: a["sum"].as_in_ctx(there))),
        ("negative", "turned", {"there"}, makes("turned", lambda a: mx.np.negative(a["there"]))),
        ("copyWithinAcc", "back", {"turned"}, makes("back", lambda a: a["turned"].as_in_ctx(here))),
        ("copyWithinAcc", "zeros", {"zeros", "sum"}, into_row),
        ("multiply", "spare", {"back", "given"}, into_all),
        ("exp", "last", {"zeros"}, makes("last", lambda a: mx.np.exp(a["zeros"].T))),
    ]


def expected() -> dict[str, np.ndarray]:
    given = VALUES
    zeros = np.zeros_like(given)
    zeros[0] = 3 * given[1]
    return {
        "given": given,
        "zeros": zeros,
        "sum": 3 * given,
        "other": given - 1,
        "there": 3 * given,
        "turned": -3 * given,
        "back": -3 * given,
        "spare": -3 * given * given,
        "last": np.exp(zeros.T),
    }


def lost_by(steps: list[Step], position: int) -> set[str]:
    """What is lost when the piece of work at a position, from 1 on, fails."""
    lost: set[str] = set()
    for at, (_, written, read, _) in enumerate(steps, 1):
        if at == position or read & lost:
            lost.add(written)
        else:
            lost.discard(written)
    return lost


def given(acc: Accelerator) -> Arrays:
    """What there is before: known to be good."""
    return {"given": acc.array(), "spare": acc.array(VALUES * 0)}


def look(arrays: Arrays, names: list[str]) -> dict[str, str]:
    """What reading tells of each array: 'good', 'garbage', or the error."""
    seen = {}
    for name in names:
        try:
            values = arrays[name].asnumpy()
        except Exception as error:
            seen[name] = f"{type(error).__name__}: {error}"
        else:
            good = np.allclose(values, expected()[name])
            seen[name] = "good" if good else f"garbage {values}"
    return seen


KINDS = {"failed": "RuntimeError", "bad_index": "IndexError", "bad_argument": "ValueError"}
KINDS |= {"unsupported": "NotImplementedError", "memory": "MemoryError"}
NUM_STEPS = 10


@pytest.mark.parametrize("order", ["first to last", "last to first"])
@pytest.mark.parametrize("position", range(1, NUM_STEPS + 2))
def test_who_is_told_at_every_position(failures, acc, position: int, order: str) -> None:
    steps, arrays = steps_of(acc), given(acc)
    code = list(KINDS)[position % len(KINDS)]
    acc.fail(position, code)
    for *_, step in steps:
        step(arrays)
    acc.first.configure(faults="")
    lost = lost_by(steps, position)
    assert bool(lost) == (position <= NUM_STEPS)
    names = list(arrays) if order == "first to last" else list(reversed(arrays))
    first = look(arrays, names)
    elsewhere: dict[str, str] = {}
    thread = threading.Thread(target=lambda: elsewhere.update(look(arrays, names)))
    thread.start()
    thread.join()
    assert first == elsewhere == look(arrays, names)
    for name, seen in first.items():
        if name in lost:
            assert seen.startswith(KINDS[code]), (name, seen)
            assert "the fault that was asked for at work" in seen
            assert steps[position - 1][0] in seen
        elif failures == "named" or name == "given" or not lost:
            assert seen == "good", (name, seen)
        else:
            assert "garbage" not in seen, (name, seen)


@pytest.mark.parametrize("position", range(1, 2 * NUM_STEPS + 1, 3))
def test_threads_beside_each_other(acc, position: int) -> None:
    """Each has its own queue of work on the same devices, and reads it all."""
    mine = [given(acc) for _ in range(2)]
    acc.fail(position)
    seen: list[dict[str, str]] = [{}, {}]

    def work(number: int) -> None:
        try:
            for *_, step in steps_of(acc):
                step(mine[number])
        except RuntimeError as error:
            # Told while it was going on, as the other one has read; the rest was not begun.
            seen[number] = {"told": f"RuntimeError: {error}"}
            return
        seen[number] = look(mine[number], list(mine[number]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [" ".join(one.values()) for one in seen]
    assert "garbage" not in texts[0] + texts[1]
    # One piece of work has failed, which is in one of the queues.
    assert sorted("RuntimeError" in text for text in texts) == [False, True]


def test_a_copy_to_the_host_that_fails(acc) -> None:
    """Spoils nothing on the device."""
    array = acc.array()
    acc.fail(1)
    with pytest.raises(RuntimeError, match="copyFromAcc failed: the fault"):
        array.asnumpy()
    assert array.tolist() == VALUES.tolist()


def test_a_copy_from_the_host_that_fails(acc) -> None:
    array = acc.array()
    acc.fail(1)
    for work in (lambda: array.__setitem__(..., mx.np.array(VALUES)), array.asnumpy, array.tolist):
        with pytest.raises(RuntimeError, match="copyToAcc failed: the fault"):
            work()


# ---- every way to look at an array ----


def callback(array: mx.np.ndarray) -> object:
    return ffi.convert(lambda given: given.asnumpy())(array)


def assigned(array: mx.np.ndarray) -> object:
    target = mx.np.zeros((2, 3))
    target[...] = array
    return target


def saved_to(array: mx.np.ndarray) -> object:
    target = mx.np.zeros((2, 3), ctx=array.ctx)
    array.copyto(target)
    return target.asnumpy()


WAYS: dict[str, Callable[[mx.np.ndarray], object]] = {
    "asnumpy": lambda a: a.asnumpy(),
    "tolist": lambda a: a.tolist(),
    "item": lambda a: a[0, 0].item(),
    "repr": repr,
    "str": str,
    "numpy": np.asarray,
    "pickle": pickle.dumps,
    "view": lambda a: a.T[1:].asnumpy(),
    "another device": lambda a: a.as_in_ctx(mx.Context(a.ctx.device_type, 1)).asnumpy(),
    "the CPU": lambda a: a.as_in_ctx("cpu(0)"),
    "copy": lambda a: a.copy().asnumpy(),
    "copyto": saved_to,
    "assigned": assigned,
    "operator": lambda a: (a + 1).asnumpy(),
    "on the CPU": lambda a: mx.np.tanh(a).asnumpy(),
    "in place": lambda a: a.__iadd__(1).asnumpy(),
    "some of it": lambda a: a.__setitem__(0, 5),
    "list": lambda a: [row.asnumpy() for row in a],
    "bool": lambda a: bool(a[0, 0]),
    "callback": callback,
}
VISIBLE: dict[str, Callable[[mx.np.ndarray], object]] = {
    "host view": np.asarray,
    "from_dlpack": np.from_dlpack,
}


@pytest.mark.parametrize("known", [False, True], ids=["not known", "known"])
@pytest.mark.parametrize("way", WAYS | VISIBLE)
def test_every_way_to_look(handles, acc, way: str, known: bool) -> None:
    if way in VISIBLE and handles == "opaque":
        pytest.skip("only where the CPU can read the memory")
    if way == "on the CPU":
        acc.first.configure(operators="!tanh")
    given = acc.array()
    acc.fail(1, "bad_index")
    failed = given + given
    made = failed * 2
    if known:
        with pytest.raises(IndexError):
            mx.waitall()
    for array in (made, failed, made, failed):
        with pytest.raises(IndexError, match=r"spoiled\(0\): add failed: the fault"):
            (WAYS | VISIBLE)[way](array)
    assert (given + 1).tolist() == (VALUES + 1).tolist()


# ---- what is good again ----


HEALING: dict[str, Callable[[Accelerator, mx.np.ndarray], object]] = {
    "the host's": lambda acc, a: a.__setitem__(..., mx.np.array(VALUES)),
    "the device's": lambda acc, a: a.__setitem__(..., acc.array()),
    "another device's": lambda acc, a: a.__setitem__(..., acc.array().as_in_ctx(acc.second)),
    "an operator's": lambda acc, a: mx.np.add(
        acc.array(VALUES - 1), acc.array(VALUES * 0 + 1), out=a
    ),
}


@pytest.mark.parametrize("known", [False, True], ids=["not known", "known"])
@pytest.mark.parametrize("heal", HEALING.values(), ids=HEALING)
def test_what_is_overwritten_is_good_again(acc, heal, known: bool) -> None:
    given = acc.array()
    acc.fail(1)
    array = given + given
    of_before = array * 2
    if known:
        with pytest.raises(RuntimeError):
            array.asnumpy()
    heal(acc, array)
    assert array.tolist() == (array * 1).tolist() == VALUES.tolist()
    with pytest.raises(RuntimeError, match="add failed"):
        of_before.asnumpy()


def test_memory_of_lost_arrays_is_as_good_as_any(acc) -> None:
    for known in (False, True):
        given = acc.array()
        acc.fail(1)
        array = given + given
        if known:
            with pytest.raises(RuntimeError):
                array.asnumpy()
        del array
        for _ in range(3):
            empty = mx.np.empty((2, 3), ctx=acc.first)
            empty[0] = given[0]
            empty[1] = given[1]
            assert empty.tolist() == VALUES.tolist()
            assert (given + 0).tolist() == VALUES.tolist()
            assert mx.np.zeros((2, 3), ctx=acc.first).tolist() == (VALUES * 0).tolist()


# ---- the CPU's exceptions ----


def test_an_index_out_of_range(acc) -> None:
    index = mx.np.array([0, 99], dtype="int64").as_in_ctx(acc.first)
    failed = mx.np.take(acc.array(), index)
    good = acc.array() + 1
    for _ in range(2):
        with pytest.raises(IndexError, match="take failed: .*index 99 is out of bounds"):
            failed.asnumpy()
        assert good.tolist() == (VALUES + 1).tolist()


def test_the_cause_is_the_first(acc) -> None:
    """Of a chain of failures: what is computed from garbage may fail in its own way."""
    index = mx.np.array([0, 1], dtype="int64").as_in_ctx(acc.first)
    far = mx.np.full((2,), 2**40, dtype="int64").as_in_ctx(acc.first)
    values = acc.array()
    acc.fail(1)
    failed = index + index
    taken = mx.np.take(values, failed + far)
    with pytest.raises(RuntimeError, match="add failed: the fault"):
        taken.asnumpy()
    mx.waitall()


# ---- who is told where nobody asks ----


def test_waitall_tells_what_nobody_was_told(acc) -> None:
    given = acc.array()
    acc.fail(2, more="+")
    kept = [given + 1, given + 2, given - 3]
    acc.first.configure(faults="")
    with pytest.raises(RuntimeError, match=r"add failed: .* \(and 1 more\)"):
        mx.waitall()
    mx.waitall()
    assert kept[0].tolist() == (VALUES + 1).tolist()
    for array in kept[1:]:
        with pytest.raises(RuntimeError, match="the fault"):
            array.asnumpy()
    mx.waitall()


@pytest.mark.parametrize("asked", [False, True])
def test_unloading_tells_what_nobody_was_told(accelerators, monkeypatch, asked: bool) -> None:
    monkeypatch.setenv("REFACC_STREAMS", "1")
    acc = Accelerator(mx.load_acc(accelerators / "librefacc.so", "unasked"))
    given = acc.array()
    acc.fail(1)
    array = given * given
    if asked:
        with pytest.raises(RuntimeError):
            array.asnumpy()
    del given, array
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mx.unload_acc("unasked")
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == (0 if asked else 1)
    assert all("nobody asked" in text and "multiply failed" in text for text in texts)


def test_unloading_lets_other_threads_run(accelerators, monkeypatch) -> None:
    monkeypatch.setenv("REFACC_STREAMS", "1")
    acc = Accelerator(mx.load_acc(accelerators / "librefacc.so", "slow"))
    given = acc.array()
    acc.first.configure(slow=500_000)
    made = given + given
    del given, made
    gc.collect()
    begun, ran = threading.Event(), []

    def run() -> None:
        begun.wait()
        time.sleep(0.05)
        ran.append(time.monotonic())

    thread = threading.Thread(target=run)
    thread.start()
    begun.set()
    mx.unload_acc("slow")
    over = time.monotonic()
    thread.join()
    assert over - ran[0] > 0.1


@pytest.mark.parametrize("asked", [False, True])
def test_the_end_tells_what_nobody_was_told(accelerators, monkeypatch, asked: bool) -> None:
    monkeypatch.setenv("REFACC_STREAMS", "1")
    script = f"""
import mx
ctx = mx.load_acc({str(accelerators / "librefacc.so")!r})
array = mx.np.ones(3, ctx=ctx)
ctx.configure(faults="work=bad_index", slow=20000)
failed = mx.np.exp(array)
try:
    {"failed.tolist()" if asked else "pass"}
except IndexError:
    pass
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    told = "nobody asked for its result: IndexError: refacc(0): exp failed: the fault"
    assert (told in done.stderr) == (not asked), done.stderr


# ---- long queues, and a process of its own ----


@pytest.mark.parametrize("position", [None, 1, 4100, 7501])
def test_more_work_than_is_remembered_at_a_time(acc, position: int | None) -> None:
    given = healthy = array = acc.array()
    if position is not None:
        acc.fail(position)
    steps = 0
    try:
        for _ in range(4500):
            array = array + given  # the odd ones
            healthy = healthy - given
            steps += 1
    except RuntimeError as error:
        assert "the fault" in str(error)
    lost, good = (array, healthy) if position is None or position % 2 else (healthy, array)
    if position is None:
        assert lost.tolist() == (4501 * VALUES).tolist()
        assert good.tolist() == (-4499 * VALUES).tolist()
        return
    with pytest.raises(RuntimeError, match="the fault"):
        lost.asnumpy()
    assert np.isfinite(good.asnumpy()).all()
    assert steps < 4500


def test_two_devices_that_read_from_each_other(acc) -> None:
    there = acc.array().as_in_ctx(acc.second)
    acc.fail(4)
    array, healthy = there, there + 1
    for _ in range(4):
        array = (array + 1).as_in_ctx(acc.first)
        array = (array + 1).as_in_ctx(acc.second)
    beside = there * 2
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"spoiled\([01]\): .* failed: the fault"):
            array.asnumpy()
        assert healthy.tolist() == (VALUES + 1).tolist()
        assert beside.tolist() == (VALUES * 2).tolist()


def test_in_a_process_of_its_own(accelerators, monkeypatch) -> None:
    """There are no streams; the error is that of the call."""
    monkeypatch.setenv("REFACC_STREAMS", "1")
    monkeypatch.setenv("REFACC_RUNTIME", str(OPERATORS))
    ctx = mx.load_acc(accelerators / "librefacc.so", "lonely", isolate=True)
    given = mx.np.array(VALUES, ctx=ctx)
    with pytest.raises(IndexError, match="index 99 is out of bounds"):
        mx.np.take(given, mx.np.array([0, 99], dtype="int64").as_in_ctx(ctx))
    ctx.configure(faults="run@1=bad_index")
    with pytest.raises(IndexError, match=r"lonely\(0\): add failed: the fault"):
        given + given
    assert (given + given).tolist() == (VALUES * 2).tolist()
    del given
    gc.collect()
    mx.unload_acc("lonely")
