"""Chains and cycles that have no end of their own: neither making nor dropping them may crash.

Each in a process of its own, because what goes wrong here ends the process.
"""

import pytest

LENGTH = 100_000

CHAINS = {
    "arrays": ("ffi.convert([])", "ffi.convert([last])"),
    "maps": ("ffi.convert({})", "ffi.convert({'last': last})"),
    "functions": ("ffi.convert(print)", "ffi.convert(functools.partial(last))"),
    "tensors": ("numpy.zeros(3)", "ffi.from_dlpack(last)"),
}

CYCLES = {
    "callable that calls itself": """
partial = functools.partial(print)
function = ffi.convert(partial)
partial.__setstate__((function, (), {}, None))
action = function
""",
    "calls in calls": """
action = functools.partial(call, *[call] * 100_000)
""",
    "callback that calls itself": """
action = ffi.convert(lambda: action())
""",
}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS.keys())
def test_chains(chain, run_python):
    first, following = chain
    script = f"""
import functools
import numpy
import ffi
last = {first}
for _ in range({LENGTH}):
    last = {following}
del last
print("gone")
"""
    done = run_python(script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "gone\n", "")


@pytest.mark.parametrize("cycle", CYCLES.values(), ids=CYCLES.keys())
def test_cycles(cycle, run_python):
    script = f"""
import functools
import ffi
call = ffi.get_global_func("ffi.call")
{cycle}
try:
    action()
except RecursionError:
    print("rejected")
"""
    done = run_python(script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "rejected\n", "")
