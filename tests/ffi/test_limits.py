"""The end of the memory, and of the stack: an error, not the end of the process."""

import pytest

from .growth import SANITIZED, WHY_NOT

pytestmark = pytest.mark.skipif(SANITIZED, reason=WHY_NOT)

# The first exception of a thread, where malloc has nothing left; all that is needed to say so was
# there before. What is freed for the first time then goes the same way.
NO_MEMORY = """
import ctypes, resource
import ffi
{setup}
libc = ctypes.CDLL(None)
malloc, free = libc.malloc, libc.free
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
free.argtypes = [ctypes.c_void_p]
spare = [malloc(1 << 20) for _ in range(8)]
with open("/proc/self/statm") as statm:
    pages = int(statm.read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096, resource.RLIM_INFINITY))
size = 1 << 22
while size >= 16:
    while malloc(size):
        pass
    size >>= 1
try:
    {action}
    said = "nothing"
except (ValueError, MemoryError):
    said = "an error"
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
for block in spare:
    free(block)
print(said)
"""
ACTIONS = {
    "throw": (
        'throw = ffi.get_global_func("testing.throw_error")',
        'throw("ValueError", "x")',
        "an error",
    ),
    "free": ("import numpy; array = ffi.from_dlpack(numpy.ones(3))", "del array", "nothing"),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_without_memory(name, run_python):
    setup, action, said = ACTIONS[name]
    done = run_python(NO_MEMORY.format(setup=setup, action=action))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{said}\n", "")


# Limits of Python's that are higher than what the stack has room for, and threads of a short stack.
DEEP = """
import sys, threading
import ffi
call = ffi.get_global_func("ffi.call")
def dive(left):
    return call(dive, left - 1) if left else 0
def run():
    try:
        print(dive(100_000))
    except RecursionError:
        print(dive(5), call(len, "abc"))
def turn():  # no Python inside: C++ that calls C++
    try:
        call(*[call] * 100_000)
    except RecursionError as error:
        print(error)
sys.setrecursionlimit(10**6)
for size in (256 << 10, 1 << 20, 8 << 20):
    threading.stack_size(size)
    for target in (run, turn):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
"""
FULL = "ffi.call: maximum recursion depth exceeded: the stack of the thread is full"


def test_recursion_ends_before_the_stack_does(run_python):
    done = run_python(DEEP)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"0 3\n{FULL}\n" * 3, "")
