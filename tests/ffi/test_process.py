"""What shows only in a process of its own: import, choice of the path, Ctrl-C, exit."""

import pytest

import ffi

HEAVY = ["numpy", "torch", "ml_dtypes", "inspect", "typing", "dataclasses", "mx"]


@pytest.mark.parametrize("module", HEAVY + ["ctypes"] * (ffi.backend == "cython"))
def test_import_loads_no_more_than_it_needs(run_python, module):
    done = run_python(f"import sys, ffi; print({module!r} in sys.modules)")
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.parametrize("module", ["config", "cpp", "reference", "typing"])
def test_modules_that_are_imported_when_they_are_used(run_python, module):
    script = "import ffi; print({0!r} in vars(ffi), {0!r} in dir(ffi), ffi.{0}.__name__)"
    done = run_python(script.format(module))
    assert (done.stdout, done.stderr) == (f"False True ffi.{module}\n", "")


def test_calls_load_no_numpy(run_python):
    script = """
import sys, ffi
nop = ffi.get_global_func("testing.nop")
nop(1, "a", (1, 2), [1, "b"], {"k": None}, b"b", 1.5, lambda: None, ffi.cpu(0), float)
print("numpy" in sys.modules)
"""
    done = run_python(script)
    assert (done.stdout, done.stderr) == ("False\n", "")


PRINT_BACKEND = "import ffi; print(ffi.backend)"
WITHOUT_CYTHON = "import sys; sys.modules['ffi._cython.core'] = None\n" + PRINT_BACKEND


@pytest.mark.parametrize(
    ("enable", "enforce", "backend"),
    [
        ("0", None, "ctypes"),
        ("0", "0", "ctypes"),
        ("0", "", "ctypes"),
        (None, None, "cython"),
        ("1", "1", "cython"),
        (None, "1", "cython"),
        (None, "0", "cython"),
    ],
)
def test_choice_of_the_path(run_python, enable, enforce, backend):
    done = run_python(PRINT_BACKEND, MXNET_ENABLE_CYTHON=enable, MXNET_ENFORCE_CYTHON=enforce)
    assert (done.stdout, done.stderr) == (f"{backend}\n", "")


def test_missing_cython_is_loud(run_python):
    done = run_python(WITHOUT_CYTHON, MXNET_ENABLE_CYTHON=None, MXNET_ENFORCE_CYTHON=None)
    assert done.stdout == "ctypes\n"
    assert done.stderr.count("RuntimeWarning: the Cython path of ffi cannot be imported") == 1


def test_missing_cython_is_silent_where_ctypes_is_asked_for(run_python):
    done = run_python(WITHOUT_CYTHON, MXNET_ENABLE_CYTHON="0", MXNET_ENFORCE_CYTHON=None)
    assert (done.stdout, done.stderr) == ("ctypes\n", "")


@pytest.mark.parametrize(
    ("script", "enable", "message"),
    [
        (WITHOUT_CYTHON, None, "the Cython path of ffi cannot be imported: "),
        (PRINT_BACKEND, "0", "MXNET_ENABLE_CYTHON=0 rules the Cython path of ffi out"),
    ],
    ids=["missing", "contradiction"],
)
def test_enforced_cython(run_python, script, enable, message):
    done = run_python(script, MXNET_ENABLE_CYTHON=enable, MXNET_ENFORCE_CYTHON="1")
    assert done.returncode == 1
    assert f"ImportError: {message}" in done.stderr


# Signals at moments of which most lie in C code, in a callback's first and last instructions, or in
# the release of an argument.
INTERRUPTED = """
import random, signal, sys
import ffi
signal.signal(signal.SIGALRM, signal.default_int_handler)
call = ffi.get_global_func("ffi.call")
lost = []
sys.unraisablehook = lambda failure: lost.append(repr(failure.exc_value))

def callback(*args):
    pass

random.seed(0)
for function in (callback, ffi.convert(callback)):
    for attempt in range(100):
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-4, 2e-3))
            for _ in range(10**6):
                call(function, "text", [1, "b"])
            lost.append("never raised")
        except KeyboardInterrupt:
            pass
print(lost)
"""


def test_no_interrupt_is_lost(run_python):
    done = run_python(INTERRUPTED)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_ctrl_c_ends_a_process(run_python):
    # A job in the background inherits SIGINT ignored, and then Python installs no handler itself.
    script = """
import os, signal, subprocess
import ffi
signal.signal(signal.SIGINT, signal.default_int_handler)
call = ffi.get_global_func("ffi.call")
subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -INT {os.getpid()}"])
def callback():
    return call(lambda: None)
while True:
    call(callback)
"""
    done = run_python(script)
    assert "KeyboardInterrupt" in done.stderr
    assert done.returncode != 0


EXITS = {
    "registered function": "ffi.register_func('f', lambda: None)",
    "overridden function": "[ffi.register_func('f', lambda: i, True) for i in range(3)]",
    "converted function": "f = ffi.convert(lambda: None)",
    "function in an Array": "a = ffi.Array([lambda: None])",
    "function of the registry": "f = ffi.get_global_func('testing.nop')",
    "array": "import numpy; a = echo(numpy.ones(3))",
    "shared array": "import numpy; a = ffi.from_dlpack(numpy.ones(3))",
    "capsule": "import numpy; c = echo(numpy.ones(3)).__dlpack__()",
    "handled error": """
def fail(): raise ValueError('text')
try: call(fail)
except ValueError as error: kept = error
""",
    "error of a thread": """
import threading
def fail(): raise ValueError('text')
def run():
    try: call(fail)
    except ValueError: pass
thread = threading.Thread(target=run); thread.start(); thread.join()
""",
    "reference cycle": "c = []; c.append(ffi.convert(lambda: c)); c.append(c)",
    "call at exit": "import atexit; atexit.register(lambda: print(echo('last')))",
    "call in __del__": """
class Late:
    def __del__(self): self.echo('late')
late = Late(); late.echo = echo
""",
    "finalizer that fails": """
import sys
sys.unraisablehook = lambda failure: None
class Bad:
    def __call__(self): pass
    def __del__(self): raise ValueError
ffi.register_func('bad', Bad()); ffi.remove_global_func('bad'); f = ffi.convert(Bad())
""",
}


def test_exit_while_daemon_threads_call_back(run_python):
    """The interpreter ends a thread that waits for the GIL, in a callback that C++ called."""
    script = """
import threading, time
import ffi
call = ffi.get_global_func("ffi.call")
def work():
    while True:
        call(lambda: sum(range(1000)))
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
"""
    done = [run_python(script) for _ in range(8)]
    assert [(process.returncode, process.stderr) for process in done] == [(0, "")] * 8


@pytest.mark.parametrize("statement", EXITS.values(), ids=EXITS.keys())
def test_exit(run_python, statement):
    script = f"""
import ffi
echo, call = ffi.get_global_func("ffi.echo"), ffi.get_global_func("ffi.call")
{statement}
print("ready")
"""
    done = run_python(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ready\n")


def test_exit_by_an_error(run_python):
    script = "import ffi; ffi.get_global_func('testing.throw_error')('ValueError', 'text')"
    done = run_python(script)
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: text\n")
    assert "in testing.throw_error" in done.stderr


def test_exit_by_sys_exit_in_a_callback(run_python):
    script = "import ffi, sys; ffi.get_global_func('ffi.call')(sys.exit, 5)"
    assert run_python(script).returncode == 5


def test_version():
    assert ffi.__version__.count(".") == 2
