"""How much memory whole models take, in processes of their own."""

import subprocess
import sys

import numpy
import onnx

MIB = 1 << 20
EXTENT = 1024
LAYERS = 16
WEIGHTS = LAYERS * EXTENT * EXTENT * 4 // MIB

PROGRAM = """
import re, sys
from pathlib import Path
import numpy
import mx.graph

def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

small = mx.graph.Plan(mx.graph.load(sys.argv[2]))
small(numpy.ones((1, 4), "float32"))
before = peak()
plan = mx.graph.Plan(mx.graph.load(sys.argv[1]))
for rows in range(1, 9):
    plan(numpy.ones((rows, {extent}), "float32"))
print(peak() - before)
"""


def save(path, extent, layers):
    """A chain of products."""
    eye = numpy.eye(extent, dtype="float32")
    names = ["x", *(f"a{i}" for i in range(1, layers)), "y"]
    nodes = [
        onnx.helper.make_node("MatMul", [names[i], f"w{i}"], [names[i + 1]]) for i in range(layers)
    ]
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", extent])
        for name in ("x", "y")
    ]
    weights = [onnx.numpy_helper.from_array(eye * (i + 1), f"w{i}") for i in range(layers)]
    graph = onnx.helper.make_graph(nodes, "chain", ends[:1], ends[1:], weights)
    onnx.save(onnx.helper.make_model(graph), path)
    return str(path)


def test_weights_are_in_memory_once_for_all_shapes(tmp_path):
    big = save(tmp_path / "big.onnx", EXTENT, LAYERS)
    small = save(tmp_path / "small.onnx", 4, 1)
    program = PROGRAM.replace("{extent}", str(EXTENT))
    child = [sys.executable, "-c", program, big, small]
    done = subprocess.run(child, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.6 * WEIGHTS
