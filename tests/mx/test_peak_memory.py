"""What operators need besides their operands and the result: measured as the peak of a process."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.host_memory

SIZE = 1 << 25
MEGABYTE = 1 << 20

PROGRAM = """
import mx
X = mx.np
def peak():
    # Not ru_maxrss, which begins with what the process that started this one had.
    with open("/proc/self/status") as status:
        (line,) = [line for line in status if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024
a = {operand}
{warm_up}
before = peak()
result = {call}
print(peak() - before)
"""

BYTES = f"X.ones({SIZE}, dtype='uint8')"
GRID = f"X.ones(({SIZE // 64}, 64), dtype='uint8')"
# Operand, the call, the bytes of its result.
CASES = [
    ("X.ones(1, dtype='uint8')", f"X.repeat(a, {SIZE})", SIZE),
    (f"X.ones({SIZE // 4}, dtype='uint8')", "X.repeat(a, 4)", SIZE),
    (f"X.ones(({SIZE // 64}, 16), dtype='uint8')", "X.repeat(a, 4, axis=0)", SIZE),
    ("X.ones(4, dtype='uint8')", f"X.repeat(a, [{SIZE // 2}, 0, 1, {SIZE // 2}])", SIZE),
    # The operand once more, which it packs.
    (f"X.ones({SIZE // 4}, dtype='uint8')", "X.tile(a, 4)", SIZE + SIZE // 4),
    *((operand, call, 0) for operand in (BYTES, GRID) for call in ("a.mean()", "a.std()")),
    *(
        (GRID, f"a.{name}(axis={axis})", 8 * MEGABYTE)
        for name in ("mean", "var")
        for axis in (0, 1)
    ),
    (BYTES, "a.mean(dtype='float32')", 0),
    (BYTES, "a.sum(dtype='float64')", 0),
    (BYTES, "a.prod(dtype='float32')", 0),
    (f"X.ones({SIZE // 4})", "a.var()", 0),
    (f"X.ones({SIZE // 4})", "a.var(dtype='float64')", 0),
    (f"X.ones({SIZE // 2}, dtype='float16')", "a.std()", 0),
]


@pytest.mark.parametrize(("operand", "call", "result"), CASES)
def test_peak(operand, call, result):
    program = PROGRAM.format(operand=operand, call=call, warm_up="X.ones(3).mean()")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert int(done.stdout) < result + 4 * MEGABYTE
