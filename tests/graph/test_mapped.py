"""Code of libraries that counts as memory of a process although it is not needed any more."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from tests.sol.gradient.test_kernels import has_onednn

# It prints how many KiB of a library's code are in memory after it was loaded, and after a plan.
PROGRAM = """
import re
import numpy, onnx, mx, mx.graph
from onnx import helper
from mx import _library, _onednn

def in_memory(path):
    found, counts = 0, False
    for line in open("/proc/self/smaps"):
        head = re.match(r"[0-9a-f]+-[0-9a-f]+ (\\S+) .*?(/.*)?$", line.rstrip())
        if head:
            counts = head[2] == path and head[1][1:3] == "-x"
        elif counts and line.startswith("Rss:"):
            found += int(line.split()[1])
    return found

print(in_memory(_library.PATH))
_onednn.load()
path = _onednn._find()
print(in_memory(path))
value = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
weight = onnx.numpy_helper.from_array(numpy.ones((64, 64, 3, 3), "f"), "w")
graph = helper.make_graph(
    [helper.make_node("Conv", ["x", "w"], ["y"])], "g",
    [value("x", [1, 64, 56, 56])], [value("y", None)], [weight],
)
plan = mx.graph.Plan(mx.graph.load(helper.make_model(graph).SerializeToString()))
x = numpy.ones((1, 64, 56, 56), "f")
(y,) = plan(x)
print(in_memory(path), plan.steps()[0].backend, float(y[0, 0, 0, 0]))
"""

# It writes into the displacement of a nop, as a debugger writes a breakpoint, and prints what is
# there after code was given back.
CHANGED = """
import mx
from mx import _library, _mapped

code = _mapped.Code(_library.PATH)
begin, size = max(_mapped._spans_of(code._paths), key=lambda span: span[1])
nop = bytes.fromhex("662e0f1f8400000000")
with open("/proc/self/mem", "r+b", buffering=0) as memory:
    memory.seek(begin)
    address = begin + memory.read(size).index(nop) + 5
    code.give_back()
    try:
        memory.seek(address)
        memory.write(b"\\1")
    except OSError:
        print(1)  # the system forbids it
    else:
        code.give_back()
        memory.seek(address)
        print(memory.read(1)[0])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/pagemap"), reason="asks Linux")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="knows nops of x86")
def test_code_that_was_changed_stays() -> None:
    done = subprocess.run([sys.executable, "-c", CHANGED], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps"), reason="asks Linux")
@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
def test_it_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    operators, loaded, (planned, backend, y) = (
        line.split() if " " in line else int(line) for line in done.stdout.splitlines()
    )
    # They were 3,600, 11,000 and 15,000.
    assert operators < 2000 and loaded < 2000 and int(planned) < 6000
    assert (backend, float(y)) == ("onednn", 576.0)
