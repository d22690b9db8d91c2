"""Ctrl-C in long operations of C++, processes that fork, spawn and end, and subinterpreters."""

import threading

import pytest

from ..native import compile_library

INTERRUPT = """
import os, signal, subprocess, sys, threading, time
import ffi
signal.signal(signal.SIGINT, signal.default_int_handler)
ffi.load_library({path!r})
spin = ffi.get_global_func({name!r})
call = ffi.get_global_func("ffi.call")
subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -INT {{os.getpid()}}"])
start = time.monotonic()
try:
    {statement}
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
print(time.monotonic() - start < 50)
"""


@pytest.mark.parametrize("name", ["native.spin", "native.spin_without_gil"])
@pytest.mark.parametrize("statement", ["spin(60)", "call(lambda: spin(60))", "call(spin, 60)"])
def test_ctrl_c_in_a_long_operation(native, run_python, name, statement):
    script = INTERRUPT.format(path=str(native.path), name=name, statement=statement)
    done = run_python(script)
    assert (done.stdout, done.stderr) == ("interrupted\nTrue\n", "")


@pytest.mark.parametrize(
    ("handler", "outcome"),
    [("lambda *_: seen.append(1)", "[1]"), ("lambda *_: 1 / 0", "ZeroDivisionError")],
    ids=["that returns", "that raises"],
)
def test_other_handlers(native, run_python, handler, outcome):
    script = f"""
import signal
import ffi
ffi.load_library({str(native.path)!r})
seen = []
signal.signal(signal.SIGALRM, {handler})
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    ffi.get_global_func("native.spin")(0.5)
    print(seen)
except Exception as error:
    print(type(error).__name__)
"""
    assert run_python(script).stdout == outcome + "\n"


def test_signals_are_the_main_threads(native):
    """In another thread a long operation asks in vain, and goes on."""
    failed = []

    def work():
        try:
            native("native.spin_without_gil")(0.1)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failed == []


def fail():
    raise ValueError("text")


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (lambda: "text", "text"),
        (lambda: threading.current_thread() is threading.main_thread(), False),
        (lambda: (1, "a", None), (1, "a", None)),
        (fail, "ValueError: text"),
    ],
    ids=["text", "thread", "tuple", "error"],
)
def test_callback_in_a_thread_of_cpp(native, function, result):
    for _ in range(20):
        assert native("native.call_in_thread")(function) == result


FORK = """
import os, sys, threading, warnings
import numpy, ffi
# Since 3.12 Python warns of forks like this.
warnings.simplefilter("ignore", DeprecationWarning)
echo = ffi.get_global_func("ffi.echo")
stop = threading.Event()
def work():
    while not stop.is_set():
        ffi.register_func("tests.busy", lambda: None, True)
        ffi.get_global_func("tests.busy")()
        echo(numpy.ones(100))
        with ffi.trace(10):
            echo("x")
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
statuses = []
for i in range(20):
    child = os.fork()
    if child == 0:
        with ffi.trace() as t:
            ffi.register_func("tests.child", lambda x: x + 1, True)
            assert ffi.get_global_func("tests.child")(i) == i + 1
            assert "tests.child" in ffi.list_global_func_names()
            assert numpy.asarray(echo(numpy.full(1000, i)))[5] == i
        assert any(call.name == "tests.child" for call in t.calls)
        os._exit(7)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for thread in threads: thread.join()
print(set(statuses))
"""


def test_fork_while_threads_work(run_python):
    done = run_python(FORK)
    assert (done.stdout, done.stderr) == ("{7}\n", "")


# Its MXNetLibraryInit says that it is under way, and waits.
WAITS = """
#include <mxnet/runtime/c_runtime_api.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((visibility("default"))) int MXNetLibraryInit(void) {
  char byte = 0;
  const int told = write(atoi(getenv("TELL")), &byte, 1) == 1;
  return told && read(atoi(getenv("WAIT")), &byte, 1) == 1 ? 0 : -1;
}
"""
FORK_WHILE_LOADING = """
import os, signal, sys, threading, warnings
import ffi
# Since 3.12 Python warns of forks like this.
warnings.simplefilter("ignore", DeprecationWarning)
told, tell = os.pipe()
wait, end = os.pipe()
os.environ.update(TELL=str(tell), WAIT=str(wait))
first, second = sys.argv[1:]
loading = threading.Thread(target=ffi.load_library, args=[first])
loading.start()
os.read(told, 1)
child = os.fork()
if child == 0:
    signal.alarm(30)
    # A pipe of its own, which has what the second library waits for.
    wait, end = os.pipe()
    os.write(end, b"e")
    os.environ["WAIT"] = str(wait)
    ffi.load_library(second)
    os._exit(7)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
os.write(end, b"e")
loading.join()
print(status)
"""


def test_fork_while_a_library_loads(run_python, tmp_path):
    paths = [str(compile_library(tmp_path, name, WAITS)) for name in ("first", "second")]
    done = run_python(f"import sys; sys.argv = {['-', *paths]}\n" + FORK_WHILE_LOADING)
    assert (done.stdout, done.stderr) == ("7\n", "")


PROCESSES = """
import multiprocessing, sys
import ffi
echo = ffi.get_global_func("ffi.echo")
def work(x):
    return ffi.get_global_func("ffi.call")(lambda y: y * 2, x)
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(work, range(5)), pool.map(echo, ["a", (1, 2)]))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(run_python, tmp_path, method):
    script = tmp_path / "processes.py"
    script.write_text(PROCESSES)
    done = run_python(
        f"import runpy, sys; sys.argv[1:] = [{method!r}]\n"
        f"import os; os.execv(sys.executable, [sys.executable, {str(script)!r}, "
        f"{method!r}])"
    )
    assert (done.stdout, done.stderr) == ("[0, 2, 4, 6, 8] ['a', (1, 2)]\n", "")


EXITS = {
    "callback in a C++ static": "ffi.get_global_func('native.keep')(lambda: None)",
    "thread of C++ that calls back": "ffi.get_global_func('native.call_for_ever')(lambda: None)",
    "thread of C++ that drops objects": """
drop = ffi.get_global_func('native.drop_slowly')
drop(*(ffi.opaque(object()) for _ in range(20000)))
""",
    "thread of C++ that drops arrays": """
import array
drop = ffi.get_global_func('native.drop_slowly')
drop(*(array.array('f', [1]) for _ in range(20000)))
""",
    "thread in a long operation": """
import threading
spin = ffi.get_global_func('native.spin_without_gil')
threading.Thread(target=spin, args=(60,), daemon=True).start()
""",
    "trace that is on": "t = ffi.trace(); t.__enter__(); ffi.get_global_func('testing.nop')(1)",
    "crash report": "ffi.enable_crash_report()",
}


@pytest.mark.parametrize("statement", EXITS.values(), ids=EXITS.keys())
def test_exit(native, run_python, statement):
    script = f"""
import time
import ffi
ffi.load_library({str(native.path)!r})
{statement}
time.sleep(0.05)
print("ready")
"""
    for _ in range(3):
        done = run_python(script)
        assert (done.returncode, done.stdout, done.stderr) == (0, "ready\n", "")


SUBINTERPRETER = """
import sys
{first}
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
try:
    import ffi
    print("imported")
except ImportError as error:
    print(error)
'''
setup = f"import sys; sys.path[:] = {{sys.path!r}}\\n"
interpreters.run_string(interpreters.create(), setup + code)
{last}
"""


@pytest.mark.parametrize(
    ("first", "last"),
    [("", ""), ("import ffi", "print(ffi.get_global_func('ffi.echo')('main'))")],
    ids=["alone", "after the main one"],
)
def test_subinterpreter(run_python, first, last):
    done = run_python(SUBINTERPRETER.format(first=first, last=last))
    rejection, *main = done.stdout.splitlines()
    assert rejection.startswith("ffi works in the main interpreter only: ")
    assert (main, done.stderr) == (["main"] if last else [], "")
