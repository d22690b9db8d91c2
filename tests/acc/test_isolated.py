"""Libraries in a process of their own: what ends that process ends nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mx
from mx._library import PATH as OPERATORS
from mxacc_check.plugin import AccError

from .conftest import ROOT
from .loaded import Loaded

TEMPLATE = ROOT / "accelerators" / "template" / "myacc.c"


@pytest.fixture
def lone(accelerators: Path, monkeypatch) -> Iterator[Callable[..., mx.Context]]:
    """Loads refacc into a process of its own, with settings; the same again where it has ended."""
    monkeypatch.setenv("REFACC_RUNTIME", OPERATORS)

    def load(timeout: float | None = None, **settings: str) -> mx.Context:
        for key, value in settings.items():
            monkeypatch.setenv(f"REFACC_{key}".upper(), value)
        return mx.load_acc(accelerators / "librefacc.so", "lone", True, timeout)

    yield load
    if hasattr(mx, "lone"):
        mx.unload_acc("lone")


def process_of(name: str) -> int:
    process = next(row.process for row in mx.accelerators() if row.name == name)
    assert process is not None
    return process


def children() -> set[int]:
    """The processes that this one has, also those that have ended and nobody has waited for."""
    tasks = Path("/proc/self/task").iterdir()
    return {int(pid) for task in tasks for pid in (task / "children").read_text().split()}


def wait_for(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def is_running(process: int) -> bool:
    """Not one that has ended and waits for its parent to look."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return text.rpartition(")")[2].split()[0] not in ("Z", "X")


CRASH = r"lone.*: {} failed: its process was ended by signal {}.*mx.load_acc starts it again"

# What a call that crashes is, and the fault that it meets.
CRASHES: dict[str, tuple[str, Callable[[mx.Context], object], str]] = {
    "operator": (
        "run@3=crash",
        lambda ctx: [-mx.np.ones(3, ctx=ctx) for _ in range(3)],
        CRASH.format(r"\w+", signal.SIGABRT.value),
    ),
    "to device": (
        "copyToAcc@1=crash",
        lambda ctx: mx.np.array([1, 2, 3], ctx=ctx),
        CRASH.format("copyToAcc", signal.SIGABRT.value),
    ),
    "configure": (
        "configure@1=crash",
        lambda ctx: ctx.configure(check=1),
        CRASH.format("configure", signal.SIGABRT.value),
    ),
    "alloc": (
        "mx_alloc@1=crash",
        lambda ctx: mx.np.zeros((100, 100), ctx=ctx),
        "unable to allocate .*mx_alloc failed: its process was ended by signal 6|ended by signal",
    ),
}


@pytest.mark.parametrize("fault, call, message", CRASHES.values(), ids=CRASHES)
def test_a_crash_is_an_exception(
    lone, fault: str, call: Callable[[mx.Context], object], message: str
) -> None:
    others = children()
    ctx = lone(faults="")
    array = mx.np.arange(4, ctx=ctx)
    ctx.configure(faults=fault)
    with pytest.raises((RuntimeError, MemoryError), match=message):
        call(ctx)
    with pytest.raises(RuntimeError, match="ended by signal"):
        array.asnumpy()
    # Nothing of it is left to wait for.
    assert children() == others
    again = lone()
    assert again == ctx
    assert mx.np.arange(4, ctx=ctx).tolist() == [0, 1, 2, 3]
    # What was kept to execute operators was in the process that ended.
    assert (-mx.np.ones(3, ctx=ctx)).tolist() == [-1, -1, -1]
    with pytest.raises(RuntimeError, match="the array was lost when the process"):
        array.asnumpy()
    # What was lost is no memory for the next array.
    del array
    assert mx.np.arange(4, ctx=ctx).tolist() == [0, 1, 2, 3]
    assert ctx.configure(check=1)["violations"] == "0"


def test_is_ended_from_outside(lone) -> None:
    ctx = lone()
    process = process_of("lone")
    assert f"  {process}  " in repr(mx.accelerators())
    os.kill(process, signal.SIGKILL)
    assert wait_for(lambda: mx.accelerators()[-1].ended)
    assert f"  {process} (ended)  " in repr(mx.accelerators())
    with pytest.raises(RuntimeError, match="ended by signal 9"):
        mx.np.ones(3, ctx=ctx)
    lone()
    assert not mx.accelerators()[-1].ended
    assert process_of("lone") not in (process, 0)
    assert mx.np.ones(3, ctx=ctx).sum() == 3


def test_loads_again_what_has_ended_unnoticed(lone) -> None:
    ctx = lone()
    os.kill(process_of("lone"), signal.SIGKILL)
    assert wait_for(lambda: not is_running(process_of("lone")))
    lone()
    assert mx.np.ones(3, ctx=ctx).sum() == 3


def test_an_executor_lives_on(lone) -> None:
    """It is made anew in the process that follows."""
    lone(faults="run@2=crash")
    plugin = Loaded("lone")
    x, out = plugin.to_device(np.arange(6, dtype="float32")), plugin.empty(6)
    executor = plugin.executor("add", {"x1": x, "x2": x}, [out])
    executor.run([x, x], [out])
    np.testing.assert_array_equal(plugin.to_host(out), 2 * np.arange(6))
    with pytest.raises(AccError, match="its process was ended by signal 6"):
        executor.run([x, x], [out])
    lone(faults="")
    with pytest.raises(AccError, match="the array was lost"):
        executor.run([x, x], [out])
    for memory in (x, out):
        memory.free()
    x, out = plugin.to_device(np.ones(6, dtype="float32")), plugin.empty(6)
    executor.run([x, x], [out])
    np.testing.assert_array_equal(plugin.to_host(out), np.full(6, 2))
    executor.close()
    for memory in (x, out):
        memory.free()


def test_large_arrays(lone) -> None:
    """Larger than the memory that the processes share."""
    ctx = lone()
    expected = np.arange(5 * 2**20 + 3, dtype="float64")
    array = mx.np.array(expected, dtype="float64", ctx=ctx)
    np.testing.assert_array_equal(array.asnumpy(), expected)
    np.testing.assert_array_equal(array[::-1].asnumpy(), expected[::-1])


# What fails, and what new zeros then say.
ZEROING = {
    "none sent there": ("copyToAcc=failed", None),
    "sent where the library cannot": ("mx_zero=unsupported", None),
    "neither": ("mx_zero=unsupported,copyToAcc=failed", "copyToAcc failed"),
    "an error": ("mx_zero=failed", "mx_zero failed"),
}


@pytest.mark.parametrize("faults, message", ZEROING.values(), ids=ZEROING)
@pytest.mark.parametrize("shape", [(3,), (1000, 3000)], ids=str)
def test_new_zeros(lone, shape: tuple[int, ...], faults: str, message: str | None) -> None:
    ctx = lone()
    mx.np.full(shape, 7, ctx=ctx)  # whose memory the zeros get
    ctx.configure(faults=faults)
    if message is None:
        assert not mx.np.zeros(shape, ctx=ctx).asnumpy().any()
    else:
        with pytest.raises(RuntimeError, match=message):
            mx.np.zeros(shape, ctx=ctx)


def test_new_zeros_in_memory_that_the_cpu_sees(tmp_path: Path, compile_library) -> None:
    """They need no function of the library's."""
    source = TEMPLATE.read_text()
    for old, new in {
        ".copyToAcc = Copy": ".copyToAcc = (void*)abort",
        "return posix_memalign(out, alignment, size) == 0 ?": (
            "const int failed = posix_memalign(out, alignment, size);\n"
            "  return !failed && memset(*out, 7, size) != NULL ?"
        ),
    }.items():
        assert source.count(old) == 1
        source = source.replace(old, new)
    ctx = mx.load_acc(compile_library(tmp_path, source), "seen", isolate=True)
    try:
        assert mx.np.empty(3, ctx=ctx).asnumpy().all()
        assert not mx.np.zeros((1000, 3000), ctx=ctx).asnumpy().any()
    finally:
        mx.unload_acc("seen")


def test_errors_are_the_same(lone) -> None:
    ctx = lone(memory=str(1 << 20))
    with pytest.raises(MemoryError, match="unable to allocate .* bytes on lone.0."):
        mx.np.zeros(1 << 20, ctx=ctx)
    with pytest.raises(ValueError, match="configure failed: .*nonsense"):
        ctx.configure(nonsense=1)
    ctx.configure(faults="copyFromAcc=no_device")
    with pytest.raises(RuntimeError, match="copyFromAcc failed"):
        mx.np.ones(3, ctx=ctx).asnumpy()


def test_several_of_one_library(lone, accelerators: Path) -> None:
    """Each has a process; unlike in this process, where a library is there once."""
    lone()
    other = mx.load_acc(accelerators / "librefacc.so", "another", isolate=True)
    try:
        assert process_of("another") != process_of("lone")
        os.kill(process_of("lone"), signal.SIGKILL)
        assert mx.np.ones(3, ctx=other).sum() == 3
    finally:
        mx.unload_acc("another")


def test_unloading_ends_the_process(lone) -> None:
    others = children()
    for _ in range(3):
        lone()
        process = process_of("lone")
        mx.unload_acc("lone")
        assert not is_running(process)
        assert children() == others


def test_a_crash_while_it_is_loaded(tmp_path: Path, compile_library) -> None:
    others = children()
    source = "__attribute__((constructor)) static void f(void) { abort(); }"
    with pytest.raises(ImportError, match="libbad.so: its process was ended by signal 6"):
        mx.load_acc(compile_library(tmp_path, source), isolate=True)
    assert children() == others


# Loads a library, has its process print its number, and ends in one way or the other.
PARENT = """
import mx, os, signal, sys, threading, time
ctx = mx.load_acc({library!r}, "lone", isolate=True)
print(mx.accelerators()[0].process, flush=True)
{end}
"""
ENDS = {
    "at the end": "",
    "by os._exit": "os._exit(0)",
    "by a signal": "os.kill(os.getpid(), signal.SIGKILL)",
    "while a child of fork lives on": (
        "pid = os.fork()\n"
        "if pid == 0:\n    os.close(1); os.close(2); time.sleep(5); os._exit(0)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    ),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_ends_with_its_parent(accelerators: Path, end: str) -> None:
    script = PARENT.format(library=str(accelerators / "librefacc.so"), end=end)
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60
    )
    process = int(done.stdout)
    began = time.monotonic()
    assert wait_for(lambda: not is_running(process))
    assert time.monotonic() - began < 4


def test_ends_with_its_parent_while_it_works(accelerators: Path) -> None:
    work = "ctx.configure(slow=30_000_000)\nmx.np.ones(3, ctx=ctx)"
    script = PARENT.format(library=str(accelerators / "librefacc.so"), end=work)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        process = int(parent.stdout.readline())
        time.sleep(0.3)
        assert is_running(process)
        parent.kill()
    assert wait_for(lambda: not is_running(process))


def test_a_thread_that_loads_may_end(lone) -> None:
    thread = threading.Thread(target=lone)
    thread.start()
    thread.join()
    assert mx.np.ones(3, ctx=mx.lone(0)).sum() == 3


def test_many_threads(lone) -> None:
    ctx = lone()

    def work(number: int) -> bool:
        return bool((mx.np.full(1000, number, ctx=ctx).asnumpy() == number).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def test_a_child_of_fork(accelerators: Path) -> None:
    """It has none of its parent's, and may have its own."""
    script = f"""
import mx, os
library = {str(accelerators / "librefacc.so")!r}
array = mx.np.ones(3, ctx=mx.load_acc(library, "lone", isolate=True))
child = os.fork()
if child == 0:
    try:
        array.asnumpy()
    except RuntimeError as error:
        assert "before this process was forked" in str(error)
        assert mx.np.ones(3, ctx=mx.load_acc(library, "own", isolate=True)).sum() == 3
        mx.unload_acc("own")
        os._exit(17)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
assert array.sum() == 3
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


# ---- libraries that hang ----

# Calls that take as long as refacc is slow: 30 seconds.
HANG = "30000000"
HANGING: dict[str, Callable[[mx.Context, Any], object]] = {
    "operator": lambda ctx, a: a + a,
    "to device": lambda ctx, a: mx.np.array([1, 2, 3], ctx=ctx),
    "from device": lambda ctx, a: a.asnumpy(),
    "within": lambda ctx, a: a.copyto(mx.np.empty(4, ctx=ctx)),
}
LATE = (
    r"lone.*: \w+ failed: its process did not answer within 0.5 s and was ended; what was on it is"
)


@pytest.mark.parametrize("call", HANGING.values(), ids=HANGING)
def test_what_takes_too_long_is_ended(lone, call: Callable[[mx.Context, Any], object]) -> None:
    others = children()
    ctx = lone(0.5)
    array = mx.np.arange(4.0, ctx=ctx)
    ctx.configure(slow=HANG)
    began = time.monotonic()
    with pytest.raises(RuntimeError, match=LATE):
        call(ctx, array)
    assert 0.5 <= time.monotonic() - began < 5
    assert children() == others
    # Nothing is waited for any longer.
    with pytest.raises(RuntimeError, match="did not answer within 0.5 s and was ended"):
        array.asnumpy()
    del array
    assert lone() == ctx
    assert mx.np.arange(4, ctx=ctx).tolist() == [0, 1, 2, 3]


def test_what_takes_less_time_is_not_ended(lone) -> None:
    ctx = lone(20)
    ctx.configure(slow=300_000)
    assert mx.np.ones(3, ctx=ctx).tolist() == [1, 1, 1]


def test_a_timeout_that_is_given_later(lone) -> None:
    ctx = lone()
    process = process_of("lone")
    assert lone(0.5) == ctx and process_of("lone") == process
    assert lone() == ctx
    ctx.configure(slow=HANG)
    with pytest.raises(RuntimeError, match=LATE):
        mx.np.ones(3, ctx=ctx)


def test_a_library_that_hangs_when_it_is_loaded(tmp_path: Path, compile_library) -> None:
    others = children()
    source = "#include <unistd.h>\n__attribute__((constructor)) static void f(void) { sleep(30); }"
    library = compile_library(tmp_path, source)
    with pytest.raises(ImportError, match="its process did not answer within 0.5 s and was ended"):
        mx.load_acc(library, isolate=True, timeout=0.5)
    assert children() == others


def test_unloading_what_hangs(lone) -> None:
    """While another thread waits for it."""
    ctx = lone(1)
    # So large that other threads may run while it is copied.
    arrays = [mx.np.ones(1 << 16, ctx=ctx)]
    ctx.configure(slow=HANG)
    failed = []

    def work() -> None:
        try:
            arrays[0].asnumpy()
        except RuntimeError as error:
            failed.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.2)
    assert process_of("lone")
    with pytest.raises(RuntimeError, match="cannot unload lone: 2 arrays or calls use it"):
        mx.unload_acc("lone")
    # Waits for its turn.
    with pytest.raises(RuntimeError, match="did not answer within 1 s"):
        mx.np.ones(3, ctx=ctx)
    thread.join()
    assert len(failed) == 1
    arrays.clear()
    mx.unload_acc("lone")


BAD_TIMEOUTS: dict[str, tuple[tuple[Any, ...], type[Exception], str]] = {
    "text": ((True, "1"), TypeError, "expected a number or None, got str"),
    "bool": ((True, True), TypeError, "expected a number or None, got bool"),
    "zero": ((True, 0), ValueError, "expected more than 0 seconds, got 0"),
    "negative": ((True, -1.5), ValueError, "expected more than 0 seconds, got -1.5"),
    "nan": ((True, float("nan")), ValueError, "expected more than 0 seconds, got nan"),
    "without a process": ((False, 1), ValueError, "expected None without isolate=True, got 1"),
}


@pytest.mark.parametrize("given, error, message", BAD_TIMEOUTS.values(), ids=BAD_TIMEOUTS)
def test_timeouts_that_are_none(
    accelerators: Path, given: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=r"load_acc: argument 3 \('timeout'\) " + message):
        mx.load_acc(accelerators / "librefacc.so", "lone", *given)


# Waits for what hangs, in the main thread or for its turn behind another one.
INTERRUPTED = """
import mx, threading, time
ctx = mx.load_acc({library!r}, "lone", isolate=True)
array = mx.np.ones(1 << 16, ctx=ctx)
ctx.configure(slow={hang})
{start}
print("waiting", flush=True)
try:
    array.asnumpy()
except KeyboardInterrupt:
    print("interrupted", flush=True)
try:
    array.asnumpy()
except RuntimeError as error:
    print(error)
"""


def test_ctrl_c_ends_what_hangs(accelerators: Path) -> None:
    library = str(accelerators / "librefacc.so")
    script = INTERRUPTED.format(library=library, hang=HANG, start="")
    with interrupted(script) as output:
        assert output[0] == "interrupted\n"
        assert "its process was ended when a call was interrupted" in output[1]


def test_ctrl_c_ends_waiting_for_another_thread(accelerators: Path) -> None:
    library = str(accelerators / "librefacc.so")
    start = "threading.Thread(target=array.asnumpy, daemon=True).start(); time.sleep(0.5)"
    script = INTERRUPTED.format(library=library, hang=HANG, start=start)
    script = script.partition("\ntry:\n    array.asnumpy()\nexcept RuntimeError")[0] + "\n"
    with interrupted(script + "import os; os._exit(0)\n") as output:
        assert output == ["interrupted\n"]


@contextmanager
def interrupted(script: str) -> Iterator[list[str]]:
    """What a program prints that Ctrl-C comes to while it waits."""
    # Shells have programs in the background ignore it, and those of these, too.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command = [sys.executable, "-c", heard + script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "waiting\n"
        time.sleep(0.3)
        began = time.monotonic()
        program.send_signal(signal.SIGINT)
        yield program.stdout.readlines()
        assert program.wait() == 0
        assert time.monotonic() - began < 10


def test_ctrl_c_does_not_end_what_answers(accelerators: Path) -> None:
    """What takes less than a second loses no arrays."""
    library = str(accelerators / "librefacc.so")
    script = f"""
import mx
ctx = mx.load_acc({library!r}, "lone", isolate=True)
array = mx.np.ones(3, ctx=ctx)
ctx.configure(slow=800_000)
print("waiting", flush=True)
try:
    array.asnumpy()
    array.asnumpy()
except KeyboardInterrupt:
    ctx.configure(slow=0)
    print(array.tolist())
"""
    with interrupted(script) as output:
        assert output == ["[1.0, 1.0, 1.0]\n"]


def _lost(others: list[Any], ctx: mx.Context) -> None:
    others.clear()  # and its memory is freed


def _rejected(call: Callable[[list[Any], mx.Context], object]) -> Callable[..., None]:
    def made(others: list[Any], ctx: mx.Context) -> None:
        with pytest.raises(RuntimeError, match="is used by a signal handler while the thread"):
            call(others, ctx)

    return made


# What a signal handler does while its thread waits for an answer.
HANDLERS = {
    "drops": _lost,
    "reads": _rejected(lambda others, ctx: others[0].asnumpy()),
    "computes": _rejected(lambda others, ctx: others[0] + others[0]),
    "makes": _rejected(lambda others, ctx: mx.np.array([1.0], ctx=ctx)),
}


@pytest.mark.unobserved  # what is rejected has no other errors
@pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
def test_signal_handlers_take_no_answers_of_others(lone, handler) -> None:
    ctx = lone()
    array, others = mx.np.arange(4.0, ctx=ctx), [mx.np.full(4, 7.0, ctx=ctx)]
    done = []
    before = signal.signal(signal.SIGALRM, lambda *_: done.append(handler(others, ctx)))
    ctx.configure(slow=1_400_000)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        assert array.tolist() == [0, 1, 2, 3]
    finally:
        signal.signal(signal.SIGALRM, before)
        ctx.configure(slow=0)
    assert len(done) == 1
    assert array.tolist() == [0, 1, 2, 3] and all(one.tolist() == [7] * 4 for one in others)
    assert mx.np.ones(4, ctx=ctx).tolist() == [1] * 4


def test_nothing_is_left_of_what_ends_by_itself(lone, accelerators: Path) -> None:
    """Whichever accelerator is used next."""
    others = children()
    lone()
    other = mx.load_acc(accelerators / "librefacc.so", "another", isolate=True)
    try:
        process = process_of("lone")
        os.kill(process, signal.SIGKILL)
        assert wait_for(lambda: not is_running(process))
        assert wait_for(lambda: mx.np.ones(3, ctx=other).sum() == 3 and process not in children())
        assert children() == {*others, process_of("another")}
        again = mx.load_acc(accelerators / "librefacc.so", "lone", isolate=True)
        process = process_of("lone")
        assert mx.np.ones(3, ctx=again).sum() == 3
        os.kill(process, signal.SIGKILL)
        assert wait_for(lambda: not is_running(process))
        # Threads of it may take a moment longer.
        assert wait_for(lambda: bool(mx.accelerators()) and process not in children())
    finally:
        mx.unload_acc("another")
