"""What is told of optimized models: report, summary, and memory before the first run."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy
import pytest
import torch
from torch import nn

from mx import sol
from tests.graph.build import graph_of


class Net(nn.Module):
    """Layers of which the numbers are easy to count."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


@pytest.fixture(scope="module")
def fast():
    return sol.optimize(Net().eval(), torch.randn(2, 3, 6, 5))


def test_report(fast) -> None:
    found = sol.report(fast)
    assert found.dimensions.inputs == {"x": ("#0", 3, "#1", "#2")}
    assert found.dimensions.outputs == {"output": ("#0", 5)}
    assert found.vdims == (2, 6, 5)
    assert {one.name for one in found.removed} >= {"batch_norm"}
    assert found.left < found.nodes
    layers = [step.layer for step in found.steps]
    assert layers[0] == "conv" and layers[-1] == "head"
    # The batch norm is in the weights, and the kernel of the convolution has the ReLU.
    assert "norm" not in layers and ("Conv", "Relu") in [step.operators for step in found.steps]
    assert all(step.microseconds > 0 and step.implementation for step in found.steps)
    # What products take was estimated, when it was planned which backend computes them.
    assert found.steps[-1].estimate > 0 and found.steps[0].estimate is None
    text = str(found)
    assert "implementation" in text and "estimated" in text
    for line in ("Inputs:  x [#0, 3, #1, #2]", "Outputs: output [#0, 5]", "batch_norm: 1 removed",
                 "Estimated Peak Memory Consumption:", "  Inference: ~"):  # fmt: skip
        assert line in text


def test_an_example_that_needs_gradients(fast) -> None:
    x = torch.randn(2, 3, 6, 5, requires_grad=True)
    own = sol.optimize(Net().eval(), x)
    assert [one.layer for one in sol.report(own).steps] == [
        one.layer for one in sol.report(fast).steps
    ]
    more = sol.memory(own, training=True).gradients - sol.memory(fast, training=True).gradients
    assert more >= 4 * x.numel()


def test_summary(fast) -> None:
    found = sol.summary(fast)
    layers = {layer.name: layer for layer in found.layers}
    assert layers["conv"].shapes == ("(2, 4, 6, 5)",)
    assert layers["conv"].parameters == 3 * 4 * 9 + 4
    assert layers["conv"].operations == (2 * 3 * 9 + 1) * 2 * 4 * 6 * 5
    assert layers["conv"].bytes == 4 * (2 * 3 * 30 + 112 + 2 * 4 * 30)
    assert layers["norm"].parameters == 16
    assert layers["head"].operations == (2 * 4 + 1) * 2 * 5
    assert found.parameters == 112 + 16 + 25 and found.trainable == 112 + 8 + 25
    text = str(found)
    assert "conv (Conv)" in text and "Non-trainable params: 8" in text
    # Numbers are those of lengths, where dimensions vary.
    varying = sol.optimize(Net().eval(), torch.randn(2, 3, 6, 5), vdims=True)
    assert sol.summary(varying).layers[0] == found.layers[0]


class Counted(nn.Module):
    """Products and convolutions without bias, which torch does not count."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2, bias=False)
        self.up = nn.ConvTranspose2d(8, 6, 2, stride=2, bias=False)
        self.query, self.key = (nn.Linear(6, 10, bias=False) for _ in range(2))
        self.head = nn.Linear(10, 3, bias=False)

    def forward(self, x):
        x = self.up(torch.relu(self.conv(x))).flatten(2).transpose(1, 2)
        scores = torch.softmax(self.query(x) @ self.key(x).transpose(1, 2), -1)
        return self.head(scores @ self.query(x))


def test_counts_are_those_of_torch() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    model, x = Counted().eval(), torch.randn(2, 4, 6, 8)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(x)
    found = sol.summary(sol.optimize(model, x))
    products = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
    counted = [layer.operations for layer in found.layers if products & set(layer.operators)]
    assert sum(counted) == counter.get_total_flops()
    assert found.parameters == sum(one.numel() for one in model.parameters())
    assert found.weight_bytes == sum(one.nbytes for one in model.parameters())


def test_memory_is_the_sum_of_its_parts(fast) -> None:
    found = sol.memory(fast)
    assert found.inputs == 4 * 2 * 3 * 6 * 5 and found.outputs == 4 * 2 * 5
    assert found.parameters >= 4 * (112 + 25)
    assert found.peak == (found.parameters + found.inputs + found.outputs + found.intermediates)


class Flow(nn.Module):
    """Cannot be optimized."""

    def forward(self, x):
        return x if x.sum() > 0 else -x


def test_a_model_of_which_parts_are_optimized() -> None:
    model = nn.Sequential(nn.Sequential(nn.Linear(3, 3)), Flow(), nn.Sequential(nn.Linear(3, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sol.SolWarning)
        fast = sol.optimize(model.eval(), torch.randn(2, 3), fallback=True)
    found = sol.report(fast)
    assert list(found.parts) == ["0", "2"]
    assert [step.layer for step in found.parts["2"].steps] == ["2.0"]
    assert str(found).startswith("[0] Sequential")
    assert sol.summary(fast).parameters == 12 + 8
    assert sol.memory(fast).inputs == 2 * 4 * 6


VARYING = "g (float[N,4] x) => (float[N,4] y) { y = Abs(x) }"
ELEMENTS = "g (float[4] x) => (int64[1,N] y) { y = NonZero(x) }"


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: sol.report(nn.ReLU()), TypeError, "expected what sol.optimize has returned"),
        (lambda: sol.summary(3), TypeError, "expected what sol.optimize has returned, got int"),
        (lambda: sol.memory(sol.optimize(graph_of(VARYING))), ValueError, "'x' has dimensions"),
        (lambda: sol.memory(sol.optimize(graph_of(ELEMENTS))), NotImplementedError, "several plan"),
    ],
)
def test_what_is_not_known(call, kind, text) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_reports_of_graphs() -> None:
    fast = sol.optimize(graph_of(VARYING), numpy.ones((3, 4), "float32"), vdims=True)
    found = sol.report(fast)
    assert found.vdims == (True,) and found.memory.inputs == 48
    assert "Inputs:  x [#0, 4]" in str(found)
    elements = str(sol.report(sol.optimize(graph_of(ELEMENTS))))
    assert "not known for what takes several plans" in elements


# The most memory that the process had in a run, less what it had before; told and measured.
MEASURE = """
import numpy
from mx import sol
from tests.graph.build import graph_of

text = "g (float[1,8,768,768] x) => (float[1,8,768,768] y) <float[8,8,3,3] w = {%s}> {"
text += "a = Conv<pads=[1,1,1,1]>(x, w) b = Softplus(a) c = Conv<pads=[1,1,1,1]>(b, w)"
text += "d = Add(a, c) y = Conv<pads=[1,1,1,1]>(d, w) }"
fast = sol.optimize(graph_of(text % ", ".join(["0.01"] * 576)))
x = numpy.ones((1, 8, 768, 768), "float32")
told = sol.memory(fast)

def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))

before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
fast(x)
print(told.outputs + told.intermediates, status("VmHWM") - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory")
def test_memory_that_is_told_is_what_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told, used = map(int, done.stdout.split())
    assert told == pytest.approx(used, rel=0.05)
