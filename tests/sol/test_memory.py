"""Memory before the first run: over time, for training, and the largest batch that fits."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import numpy
import pytest
import torch
from torch import nn

from mx import sol
from mx.sol._memory import _largest
from tests.graph.build import graph_of


class Net(nn.Module):
    """A product between two convolutions of which the memory is easy to count."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 16, 3, padding=1)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        hidden = torch.nn.functional.softplus(self.first(x))
        return self.head((hidden + self.second(hidden)).mean((2, 3)))


X = torch.zeros(2, 3, 16, 16)
SGD = torch.optim.SGD(Net().parameters(), lr=0.1)
WEIGHTS = 4 * (3 * 16 * 9 + 16 + 16 * 16 * 9 + 16 + 16 * 5 + 5)
AXES = 16  # bytes, of the mean


@pytest.fixture(scope="module")
def fast():
    return sol.optimize(Net().eval(), torch.randn(2, 3, 16, 16))


def test_over_time(fast) -> None:
    found = sol.memory(fast)
    # Kernels have them in blocks, of which the last is not full.
    assert WEIGHTS + AXES <= found.parameters <= 1.1 * WEIGHTS and not found.is_training
    columns = found.over_time()
    assert len(columns) == len(found.moments) == len(sol.report(fast).steps)
    hidden = 4 * 2 * 16 * 16 * 16
    # What the second convolution reads, and what it writes, while it runs.
    second = [one for one in found.moments if one.step == "second"]
    assert max(one.intermediates for one in second) >= 2 * hidden
    most = max(one.intermediates + one.workspace for one in found.moments)
    assert most <= found.intermediates <= 1.1 * most + 4096
    assert max(sum(one.values()) for one in columns) <= found.peak
    assert found.moments[-1].intermediates < hidden
    text = found.table()
    assert "second" in text and len(text.splitlines()) == 1 + len(columns)


def test_the_picture(fast) -> None:
    root = ElementTree.fromstring(sol.memory(fast).picture())
    areas = {one.get("class"): one for one in root.iter() if one.tag.endswith("polygon")}
    assert list(areas)[:3] == ["parameters", "inputs", "outputs"] and "intermediates" in areas
    columns = len(sol.memory(fast).moments)
    for area in areas.values():
        assert len(area.get("points").split()) == 4 * columns
    texts = " ".join("".join(one.itertext()) for one in root.iter() if one.tag.endswith("text"))
    assert "peak" in texts and "parameters 12 KB" in texts


def test_training() -> None:
    model = Net()
    found = sol.memory(sol.optimize(model, torch.randn(2, 3, 16, 16)), training=True)
    assert found.is_training and found.parameters == WEIGHTS
    assert found.gradients == WEIGHTS
    assert found.inputs == 4 * 2 * 3 * 16 * 16 and found.outputs == 4 * 2 * 5
    assert found.saved >= 4 * 2 * 16 * 16 * 16
    names = [one.step for one in found.moments]
    assert names[0] == "forward: first" and names[-1].startswith("backward: ")
    assert found.moments[0].gradients == 0 and found.moments[-1].gradients == WEIGHTS
    assert "Training:  ~" in str(found)
    (area,) = [
        one
        for one in ElementTree.fromstring(found.picture()).iter()
        if one.get("class") == "gradients"
    ]
    assert area.get("points")


def test_what_is_printed_tells_both(fast) -> None:
    """As Listing 7 of the article does; the modes of the module stay what they are."""
    inference, training = (sol.memory(fast, training=one) for one in (False, True))
    title, first, second = str(inference).splitlines()
    assert title == "Estimated Peak Memory Consumption:" and str(training) == str(inference)
    assert first.startswith("  Inference: ~") and second.startswith("  Training:  ~")
    assert "saved" in second and "saved" not in first and not fast.training
    assert str(sol.report(fast)).endswith(str(inference))
    last = str(sol.memory(FIXED)).splitlines()[-1]
    assert last.startswith("  Training:  not known: training: g comes back as a function of NumPy")


def test_largest_batch_of_training() -> None:
    module = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))
    fast = sol.optimize(module, torch.ones(2, 16))
    peaks = {
        n: sol.memory(sol.optimize(module, torch.ones(n, 16)), training=True).peak for n in (9, 10)
    }
    assert sol.largest_batch(fast, peaks[9], training=True) == 9 and peaks[9] < peaks[10]
    assert sol.largest_batch(fast, peaks[9]) > 9
    assert sol.largest_batch(fast, 100, training=True) == 0
    limited = sol.optimize(module, torch.ones(2, 16), memory_limit=peaks[9])
    assert 9 <= sol.largest_batch(limited, 4 * peaks[9], training=True) < 30


ONES = ", ".join(["1"] * 64)
CONV = f"""g (float[N,8,H,16] x) => (float[] y) <float[8,8,1,1] w = {{{ONES}}}>
{{ a = Conv(x, w) b = Softplus(a) y = Conv(b, w) }}"""


@pytest.mark.parametrize("vdims", [None, [True, False], [False, True]])
def test_largest_batch(vdims) -> None:
    def example(batch: int):
        return numpy.ones((batch, 8, 16, 16), "float32")

    fast = sol.optimize(graph_of(CONV), example(2), vdims=vdims)
    limit = 3_000_000
    batch = sol.largest_batch(fast, limit)
    one, more = (
        sol.memory(sol.optimize(graph_of(CONV), example(n))).peak for n in (batch, batch + 1)
    )
    assert one <= limit < more
    assert sol.largest_batch(fast, "3MB") == batch
    assert sol.largest_batch(fast, 1000) == 0
    assert fast(example(2)).shape == (2, 8, 16, 16)


@pytest.mark.parametrize(
    "peak",
    [
        lambda n: 10 * n,
        lambda n: 7 + n * n,
        lambda n: 5 + 3 * n + (n % 16 == 0),
        lambda n: min(10 * n, 90 + n // 50) if n < 777 else None,
        lambda n: None,
    ],
)
@pytest.mark.parametrize("most", [0, 9, 10, 11, 99, 1000, 123_456])
def test_the_search_ends_at_the_largest(peak, most) -> None:
    asked = []
    found = _largest(lambda n: asked.append(n) or peak(n), most)
    assert found == 0 or peak(found) <= most
    assert peak(found + 1) is None or peak(found + 1) > most
    assert len(asked) < 40


class Chain(nn.Module):
    """Keeps as many values for the backward pass as it has layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.nn.functional.softplus(layer(x)) * torch.tanh(x)
        return x


def gradients_under(model: nn.Module, limit: int | str | None) -> tuple[Any, Any]:
    """The memory of a step of training, and the gradients that it gives."""
    x = torch.linspace(-1, 1, 512 * 16).reshape(512, 16)
    model.zero_grad()
    limited = sol.optimize(model, x, memory_limit=limit)
    limited(x).square().mean().backward()
    memory = sol.memory(limited, training=True)
    return memory, [one.grad.clone() for one in model.parameters()]


def test_a_limit_of_training() -> None:
    model = Chain()
    free, wanted = gradients_under(model, None)
    memory, found = gradients_under(model, free.peak * 19 // 20)
    assert memory.peak <= free.peak * 19 // 20 and memory.saved < free.saved
    torch.testing.assert_close(found, wanted)
    with pytest.raises(MemoryError, match="memory_limit: 64,000 bytes .* is the least") as raised:
        gradients_under(model, "64KB")
    least = int(str(raised.value).rpartition(": ")[2].partition(" ")[0].replace(",", ""))
    assert gradients_under(model, least)[0].peak == least
    again = copy.deepcopy(sol.optimize(model, torch.ones(512, 16), memory_limit="64KB"))
    with pytest.raises(MemoryError, match="least"):
        again(torch.ones(512, 16))


# How each optimizer is made, what it keeps beside settings, in bytes for one of a parameter, and
# whether its step is in the plan.
OPTIMIZERS = [
    (lambda given: torch.optim.SGD(given, lr=0.01), 0, True),
    (lambda given: torch.optim.SGD(given, lr=0.01, momentum=0.9, dampening=0.5), 1, True),
    (lambda given: torch.optim.Adam(given, lr=0.01, amsgrad=True), 3, True),
    (lambda given: torch.optim.ASGD(given, lr=0.01), 0, False),
]


@pytest.mark.parametrize(("make", "kept", "is_whole"), OPTIMIZERS)
def test_a_step_before_it_is_done(make, kept, is_whole) -> None:
    model = Net()
    x, y = torch.randn(2, 3, 16, 16), torch.randn(2, 5)
    optimizer = make(model.parameters())
    step = sol.training_step(model, nn.functional.mse_loss, optimizer)
    before = copy.deepcopy(model.state_dict())
    found = step.memory(x, y)
    assert not optimizer.state and step.fused == ()
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert found.is_training and found.inputs == x.nbytes + y.nbytes and found.outputs == 4
    assert WEIGHTS <= found.parameters <= 1.1 * WEIGHTS
    assert 0 <= found.optimizer - kept * WEIGHTS <= 64
    assert found.gradients == (0 if is_whole else WEIGHTS)
    hidden = 4 * 2 * 16 * 16 * 16
    saved = [one.saved for one in found.moments]
    assert max(saved) == found.saved >= 2 * hidden and saved[-1] < hidden
    assert max(sum(one.values()) for one in found.over_time()) <= found.peak
    parts = list(dict.fromkeys(one.step.partition(": ")[0] for one in found.moments))
    assert parts[:2] == ["forward", "backward"] and ("optimizer" in parts) == is_whole
    assert found.moments[0].step == "forward: model.first"
    assert len(str(found).splitlines()) == 2 and ("optimizer" in str(found)) == bool(
        found.optimizer
    )
    step(x, y)
    after = step.memory(x, y)
    assert after == found if is_whole else after.peak - after.optimizer == found.peak
    assert (after.optimizer >= WEIGHTS) == (kept > 0 or not is_whole)


class Tied(nn.Module):
    """Has one layer at several depths, and one that is random."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.drop = nn.Linear(16, 16), nn.Dropout(0.3)

    def forward(self, x):
        for _ in range(4):
            x = nn.functional.softplus(self.layer(x)) * self.drop(torch.tanh(x))
        return x


class Normed(nn.Module):
    """Writes buffers, of which the next layer reads one."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))
        self.norms = nn.ModuleList(nn.BatchNorm1d(16) for _ in range(3))

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = torch.sigmoid(norm(layer(x))) * torch.exp(-norm.running_var)
        return x


def after_steps(model: nn.Module, make: Any, limit: int | None) -> tuple[Any, list[Any]]:
    """The memory of a step, and the losses and the state after some."""
    x, y = (torch.linspace(-1, n, 512 * 16).reshape(512, 16) for n in (1, 2))
    optimizer = make(model.parameters())
    step = sol.training_step(model, nn.functional.mse_loss, optimizer, memory_limit=limit)
    memory = step.memory(x, y)
    torch.manual_seed(5)
    losses = [step(x, y) for _ in range(3)]
    return memory, [*losses, *model.state_dict().values()]


@pytest.mark.parametrize(("kind", "number"), [(Tied, 2), (Normed, 1)])
def test_a_limit_of_a_step(kind, number) -> None:
    make = OPTIMIZERS[number][0]
    torch.manual_seed(0)
    model = kind()
    free, wanted = after_steps(copy.deepcopy(model), make, None)
    before = copy.deepcopy(model.state_dict())
    text = f"sol.training_step: memory_limit: 1,000 bytes are too few .* {kind.__name__}: .* found"
    with pytest.raises(MemoryError, match=text) as raised:
        after_steps(model, make, 1000)
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    least = int(str(raised.value).rpartition(": ")[2].partition(" ")[0].replace(",", ""))
    assert least < free.peak
    memory, found = after_steps(copy.deepcopy(model), make, least)
    assert memory.peak == least and memory.saved < free.saved
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    # By default that of the model that was optimized.
    fast = sol.optimize(model, torch.ones(512, 16), memory_limit=free.peak - 1)
    assert after_steps(fast, make, None)[0].peak < free.peak
    assert after_steps(fast, make, free.peak)[0] == free


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        *(
            (lambda model, one=one: sol.optimize(Net(), X, memory_limit=one), ValueError, text)
            for one, text in {
                -1: "memory_limit: expected bytes, or as '2GB', got -1",
                True: "memory_limit: expected bytes",
                1.5: "memory_limit: expected bytes",
                "much": "sol.optimize: memory_limit: expected a size",
            }.items()
        ),
        (lambda model: sol.largest_batch(model, "much"), ValueError, "expected a size"),
        (lambda model: sol.largest_batch(model, -1), ValueError, "limit: expected bytes"),
        (lambda model: sol.largest_batch(model, True), ValueError, "limit: expected bytes"),
        (lambda model: sol.largest_batch(model, 9, "x"), TypeError, "training: expected True or"),
        (lambda model: sol.memory(FIXED, training="x"), TypeError, "training: expected True or"),
        *(
            (call, NotImplementedError, text)
            for call, text in {
                lambda model: sol.memory(FIXED, training=True): "sol.memory: training: g comes",
                lambda model: sol.largest_batch(RELU, 99, training=True): "largest_batch: training",
                lambda model: hooked(None).memory(X, X): "memory: torch does the step: modules or",
                lambda model: hooked("1GB")(X, X): "torch does the step, whose memory is not known",
            }.items()
        ),
        (
            lambda model: sol.training_step(Net(), nn.MSELoss(), SGD, memory_limit="much"),
            ValueError,
            "sol.training_step: memory_limit: expected a size",
        ),
        (lambda model: sol.largest_batch(FIXED, 9), ValueError, "axis 0 is fixed"),
        (lambda model: sol.largest_batch(nn.ReLU(), 9), TypeError, "what sol.optimize has"),
    ],
)
def test_what_is_rejected(fast, call, kind, text) -> None:
    with pytest.raises(kind, match=text):
        call(fast)


FIXED = sol.optimize(graph_of("g (float[2,4] x) => (float[2,4] y) { y = Abs(x) }"))
RELU = sol.optimize(graph_of("g (float[N,4] x) => (float[N,4] y) { y = Relu(x) }"), X[0, 0, :, :4])


def hooked(limit: str | None) -> Any:
    model = Net()
    model.head.register_forward_hook(lambda module, args, output: output)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return sol.training_step(model, nn.MSELoss(), optimizer, memory_limit=limit)


# What the process has more after the first runs than before the model was there. The model has a
# copy of the weights of its own, as a framework has.
MEASURE = """
import ctypes
import gc
import numpy
import onnx
from onnx import helper, numpy_helper
from mx import _onednn, sol
from mx.graph import Graph
import onnx_ir

try:
    _onednn.load()  # which small products do without
except ImportError:
    pass

def resident():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))

def model(rows, width):
    nodes, weights = [], []
    for n in range(6):
        elements = numpy.full((width, width), 0.01 * n, "float32")
        weights.append(onnx_ir.tensor(elements, name=f"w{n}"))
        nodes.append(helper.make_node("MatMul", [f"x{n}", f"w{n}"], [f"a{n}"]))
        nodes.append(helper.make_node("Softplus", [f"a{n}"], [f"b{n}"]))
        nodes.append(helper.make_node("Add", [f"a{n}", f"b{n}"], [f"x{n + 1}"]))
    ends = [helper.make_tensor_value_info(n, 1, (rows, width)) for n in ("x0", "x6")]
    whole = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    made = onnx_ir.from_proto(helper.make_model(whole, opset_imports=[helper.make_opsetid("", 23)]))
    for tensor in weights:
        value = onnx_ir.Value(name=tensor.name, shape=tensor.shape, const_value=tensor,
                              type=onnx_ir.TensorType(tensor.dtype))
        uses = [(node, k) for node in made.graph for k, one in enumerate(node.inputs)
                if one is not None and one.name == tensor.name]
        made.graph.initializers[tensor.name] = value
        for node, k in uses:
            node.replace_input_with(k, value)
    return Graph(made)

def run(rows, width):
    graph = model(rows, width)
    fast = sol.optimize(graph)
    fast(numpy.ones((rows, width), "float32"))
    return fast

small = run(8, 16)  # so that libraries are loaded and threads are there
before = resident()
fast = run(512, 2048)
told = sol.memory(fast)
print(2 * told.parameters + told.intermediates, resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory")
def test_memory_of_weights_that_is_told_is_what_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told, used = map(int, done.stdout.split())
    assert used == pytest.approx(told, rel=0.05)
