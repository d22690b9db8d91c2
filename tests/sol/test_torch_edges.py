"""Gradients of operators of torch where ONNX has others, and arguments of unusual kinds."""

from __future__ import annotations

import copy
import dataclasses
import logging
import threading
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from mx import sol
from mx.graph import GraphError
from mx.sol.frameworks.torch._exporting import quiet

pytestmark = pytest.mark.usefixtures("one_thread")


class Applies(nn.Module):
    """A function, in training."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


BOUNDED = {
    "clamp": lambda x: x.clamp(-1, 1),
    "clamp with one bound": lambda x: x.clamp(max=1) * x.clamp(min=-1),
    "crossed bounds": lambda x: x.clamp(1, 0),
    "clamp_min, clamp_max": lambda x: x.clamp_min(-1) + 2 * x.clamp_max(1),
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
}


@pytest.mark.parametrize("name", BOUNDED)
def test_gradients_at_bounds(name: str) -> None:
    x = torch.tensor([-2, -1, -0.5, 0, 0.5, 1, 3, 6, 7, torch.nan], requires_grad=True)
    other = x.detach().clone().requires_grad_()
    fast = sol.optimize(Applies(BOUNDED[name]), x.detach())
    results = fast(x), BOUNDED[name](other)
    torch.testing.assert_close(*results, equal_nan=True)
    for one in results:
        one.backward(torch.arange(1.0, 11))
    torch.testing.assert_close(x.grad[:-1], other.grad[:-1])


PROBABILITIES, LABELS = [0.0, 1.0, 0.0, 1.0, 0.25, 1e-7], [0.0, 1.0, 1.0, 0.0, 1.0, 0.0]
DISTANT = [0.0, 1.0, 2.0, 0.0, 1.0, 5.0]
# Functions whose formulas have infinite gradients, and elements where they have.
INFINITE = {
    "std": (lambda x: x.reshape(2, 3).std(1), [2.0, 2.0, 2.0, 1.0, 2.0, 4.0]),
    "log1p": (torch.log1p, [1e9, 1e30, 0.0, 0.4, 0.6, -0.9]),
    "expm1": (torch.expm1, [20.0, 50.0, 0.0, 0.4, 0.6, -90.0]),
    "losses of probabilities": (
        lambda x: F.binary_cross_entropy(x, torch.tensor(LABELS), reduction="none"),
        PROBABILITIES,
    ),
    "losses of labels": (
        lambda x: F.binary_cross_entropy(torch.tensor([0.1, 0.5, 1e-7] * 2), x, reduction="sum"),
        LABELS,
    ),
    "losses of sigmoids": (
        lambda x: F.binary_cross_entropy(x.sigmoid(), torch.tensor(LABELS), torch.ones(6) / 3),
        [200.0, -200.0, 0.5, 30.0, -30.0, -3.0],
    ),
    "sinc": (torch.sinc, [0.0, 1e-40, -1e-10, 1.0, 0.3, -2.5]),
    "logit": (torch.logit, [0.0, 1.0, 0.5, 1e-7, 0.25, 0.999]),
    "logit of a bound": (lambda x: torch.logit(x, 0.1), [0.0, 1.0, 0.1, -2.0, 0.25, 0.999]),
    "entr": (torch.special.entr, [0.0, 1.0, 0.5, 0.1, 1e-30, 20.0]),
    "atan2": (lambda x: torch.atan2(x[:3], x[3:]), [2.0, -2.0, 0.0, 0.0, 0.0, -3.0]),
    "atan2 of zeros": (lambda x: torch.atan2(x, x * 1), [0.0, 0.0, 1.0, -1.0, 3.0, 0.0]),
    "std_mean": (lambda x: sum(torch.std_mean(x.reshape(2, 3), 1)), [2.0, 2.0, 2.0, 1.0, 2.0, 4.0]),
    **{
        f"norm {p}": (
            lambda x, p=p: torch.linalg.vector_norm(x.reshape(3, 2), p, dim=1),
            [0.0, 0.0, 0.0, -2.0, 1.0, 3.0],
        )
        for p in (-1, 0.5, 1.5, 3)
    },
    **{
        f"distances {p}": (lambda x, p=p: torch.cdist(x[:3, None], x[3:, None], p), DISTANT)
        for p in (0.5, 1.5, 3)
    },
    "distances of pairs": (lambda x: torch.pdist(x[:, None], 3), DISTANT),
    "xlogy": (
        lambda x: torch.xlogy(x, torch.tensor([0.0, 0.0, -1.0, 2.0, 0.5, 0.0]) + x.detach()),
        [0.0, 1.0, 0.0, 0.0, 0.5, 3.0],
    ),
    "xlog1py": (
        lambda x: torch.special.xlog1py(x, torch.tensor([-1.0, 0.0, -2.0, 2.0, 0.5, 0.0])),
        [0.0, 1.0, 0.0, 0.0, 0.5, 3.0],
    ),
    "powers of 0": (
        lambda x: torch.pow(x[:3].detach(), x[3:]) + torch.pow(0.0, x[3:]),
        [0.0, -0.0, 0.0, -1.0, -2.5, 0.5],
    ),
    "powers of 0 themselves": (lambda x: torch.pow(x[:3], x[3:]), [0.0, 0.0, 0.0, -1.0, 0.0, 2.0]),
    "fmod by 0": (lambda x: torch.fmod(x[:3], x[3:]), [1.0, -2.0, 0.0, 0.0, 0.0, 0.0]),
    "remainder by 0": (lambda x: x[:3] % x[3:], [1.0, -2.0, 5.0, 0.0, 0.0, -3.0]),
    **{
        f"{loss.__name__} at infinity": (
            lambda x, loss=loss, key=key: (
                loss(x[:3], x[3:], reduction="none", **{key: 2.0}) + loss(x[:3], x[3:]) * 3
            ),
            [torch.inf, 1.0, 2.0, 1.0, -torch.inf, 2.5],
        )
        for loss, key in ((F.smooth_l1_loss, "beta"), (F.huber_loss, "delta"))
    },
    "smooth_l1_loss with no bound": (
        lambda x: F.smooth_l1_loss(x[:3], x[3:], reduction="sum", beta=0.0),
        [torch.inf, 1.0, 2.0, 1.0, -torch.inf, 2.5],
    ),
    "dist": (lambda x: torch.dist(x[:3, None], x[3:]) * 2, [1.0, 2.0, 3.0, 1.0, 2.0, 4.0]),
    **{
        f"dist {p}": (lambda x, p=p: torch.dist(x[:3], x[3:], p), [1.0, 2.0, 3.0, 1.0, 2.0, 5.0])
        for p in (0.5, 1, 2, 3, torch.inf)
    },
    "normalized": (lambda x: F.normalize(x.reshape(3, 2), 3, 1), [0.0, 0.0, 0.0, -2.0, 1.0, 3.0]),
}


@pytest.mark.parametrize("name", INFINITE)
def test_gradients_where_formulas_have_infinite_ones(name: str) -> None:
    function, elements = INFINITE[name]
    x = torch.tensor(elements, requires_grad=True)
    other = x.detach().clone().requires_grad_()
    results = sol.optimize(Applies(function), x.detach())(x), function(other)
    torch.testing.assert_close(*results, equal_nan=True)
    for one in results:
        one.sum().backward()
    torch.testing.assert_close(x.grad, other.grad, equal_nan=True)


EQUAL = {
    "max of an axis": lambda x: x.reshape(2, 3).max(1)[0],
    "min of an axis": lambda x: x.reshape(2, 3).min(0, keepdim=True).values,
    "with its index": lambda x: x.reshape(2, 3).max(1).values * x.reshape(2, 3).max(1).indices,
    "amax": lambda x: x.reshape(2, 3).amax(1),
    "aminmax": lambda x: sum(torch.aminmax(x.reshape(2, 3), dim=1)),
    "max": lambda x: x.max() + 2 * x.min(),
    "maximum": lambda x: torch.maximum(x[:3], x[3:]),
    "fmax": lambda x: torch.fmax(x[:3], x[3:]) + torch.fmin(x[:3], x[3:]) * 3,
}


@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.parametrize("elements", [[0.0] * 6, [2.0, 1, 2, 2, 3, 3]])
def test_gradients_of_equal_elements(name: str, elements: list[float]) -> None:
    x = torch.tensor(elements, requires_grad=True)
    other = x.detach().clone().requires_grad_()
    results = sol.optimize(Applies(EQUAL[name]), x.detach())(x), EQUAL[name](other)
    torch.testing.assert_close(*results)
    for one in results:
        one.sum().backward()
    torch.testing.assert_close(x.grad, other.grad)


NONE = {
    "max of an axis": (lambda x: x.max(1)[0], (3, 4), (3, 0), "aten.max.dim .* axis 1 has no"),
    "min of an axis": (lambda x: x.min(0)[0], (3, 4), (0, 4), "aten.min.dim .* axis 0 has no"),
    "max": (lambda x: x.max(), (3, 4), (3, 0), "aten.max.default .* there are no elements"),
    "min": (lambda x: x.min(), (3, 4), (0, 4), "aten.min.default .* there are no elements"),
    "half of an image": (
        lambda x: F.interpolate(x, scale_factor=0.5),
        (1, 2, 8, 8),
        (1, 2, 1, 8),
        "aten.upsample_nearest2d.vec .* images of no rows or columns",
    ),
    "LSTM": (nn.LSTM(4, 3), (5, 2, 4), (0, 2, 4), "lstm.default .* sequences of no steps"),
    "GRU": (nn.GRU(4, 3, batch_first=True), (2, 5, 4), (2, 0, 4), "gru.default .* no steps"),
}


@pytest.mark.parametrize("is_trained", [False, True])
@pytest.mark.parametrize("name", NONE)
def test_lengths_that_leave_nothing(name: str, is_trained: bool) -> None:
    function, shape, other, text = NONE[name]
    model = function if isinstance(function, nn.Module) else Applies(function)
    fast = sol.optimize(model.train(is_trained), torch.randn(shape), vdims=True)
    fast(torch.randn(shape))
    with pytest.raises((RuntimeError, IndexError)):
        model(torch.randn(other))
    with pytest.raises(GraphError, match=text):
        fast(torch.randn(other))


BEYOND = {
    "select_scatter": lambda x: torch.select_scatter(x, torch.ones(2), 0, 4),
    "select_scatter from the end": lambda x: torch.select_scatter(x, torch.ones(2), 0, -5),
    "slice_scatter": lambda x: torch.slice_scatter(x, torch.ones(3, 2), 0, 1, 4),
}


@pytest.mark.parametrize(
    ("is_trained", "text"),
    [(False, "expected a shape of 8 elements"), (True, "beyond an axis of 3 elements")],
)
@pytest.mark.parametrize("name", BEYOND)
def test_writes_beyond_an_axis_that_varies(name: str, is_trained: bool, text: str) -> None:
    model = Applies(BEYOND[name]).train(is_trained)
    fast = sol.optimize(model, torch.randn(6, 2), vdims=True)
    for length in (6, 5, 7):
        x = torch.randn(length, 2, requires_grad=is_trained)
        with torch.set_grad_enabled(is_trained):
            torch.testing.assert_close(fast(x), BEYOND[name](x))
    with pytest.raises(GraphError, match=f"{name.split()[0]}.* {text}"):
        fast(torch.randn(3, 2, requires_grad=is_trained))


@pytest.mark.parametrize("padding", [1, -1])
def test_the_padding_of_embeddings_is_not_trained(padding: int) -> None:
    indices = torch.tensor([[0, 1, 3], [1, 1, 3]])
    model = nn.Embedding(4, 3, padding_idx=padding)
    other = copy.deepcopy(model)
    for one in (sol.optimize(model, indices).train(), other):
        (one(indices) * torch.arange(18.0).reshape(2, 3, 3)).sum().backward()
    torch.testing.assert_close(model.weight.grad, other.weight.grad)


@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
def test_gradients_scaled_by_frequency_are_rejected(kind: type[nn.Module]) -> None:
    indices = torch.tensor([[0, 0, 1]])
    fast = sol.optimize(kind(2, 3, scale_grad_by_freq=True), indices)
    with pytest.raises(GraphError, match="scale_grad_by_freq"):
        fast.train()(indices)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
        self.b.weight = self.a.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.b(self.a(x))


@pytest.mark.parametrize("is_trained", [False, True])
def test_weights_that_are_tied_no_longer(is_trained: bool) -> None:
    model, x = Tied().train(is_trained), torch.randn(2, 3)
    with torch.set_grad_enabled(is_trained):
        fast = sol.optimize(model, x)
        torch.testing.assert_close(fast(x), model(x))
        model.b.weight = nn.Parameter(torch.randn(3, 3))
        with pytest.raises(TypeError, match=r"'a.weight' and 'b.weight' were one weight .* two"):
            fast(x)
        model.a.weight = model.b.weight
        torch.testing.assert_close(fast(x), model(x))


def test_a_step_of_weights_that_are_tied_no_longer() -> None:
    model, x = Tied(), torch.randn(2, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    step = sol.training_step(model, F.mse_loss, optimizer)
    step(x, x)
    model.b.weight = nn.Parameter(torch.ones(3, 3))
    optimizer.add_param_group({"params": [model.b.weight]})
    with torch.no_grad():
        expected = F.mse_loss(model(x), x)
    torch.testing.assert_close(step(x, x), expected)


class Counts(nn.Module):
    """Changes a buffer in each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sum", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.sum.add_(x)
        return self.sum * 2


@torch.no_grad()
def test_negative_views_for_models_that_change_buffers() -> None:
    x = torch.tensor([1 + 2j, 3 - 1j, -2 + 0j])
    model = Counts().eval()
    fast = sol.optimize(model, x.imag.clone())
    assert x.conj().imag.is_neg()
    torch.testing.assert_close(fast(x.conj().imag), -2 * x.imag)


def test_tensors_with_gradients_that_are_no_parameters() -> None:
    scale = torch.ones(3, requires_grad=True)
    x = torch.ones(3, requires_grad=True)
    fast = sol.optimize(Applies(lambda x: x * scale), torch.ones(3))
    with pytest.raises(GraphError, match="a tensor that is no parameter needs a gradient"):
        fast(x)


X = torch.randn(2, 4)


@dataclasses.dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor


def pair(x: torch.Tensor) -> Pair:
    return Pair(x, x + 1)


# A model and an example, and what is said of them.
UNSUPPORTED = {
    "script": (lambda: (torch.jit.script(nn.Linear(4, 3)), X), "it is a torch.jit.ScriptModule"),
    "trace inside": (
        lambda: (nn.Sequential(torch.jit.trace(nn.Linear(4, 3), X)), X),
        "the module '0' is a torch.jit.ScriptModule",
    ),
    "quantized": (
        lambda: (torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 3))), X),
        "the module '0' is a Linear with weights that torch.ao has quantized",
    ),
    "meta": (lambda: (nn.Linear(4, 3, device="meta"), X), "the parameter 'weight' is on meta"),
    "lazy": (lambda: (nn.LazyLinear(3), X), "the parameter 'weight' has no shape yet"),
    "nested": (
        lambda: (nn.Linear(4, 3), torch.nested.nested_tensor([X, X])),
        "'input': expected a dense tensor, got a nested",
    ),
    "dataclass": (lambda: (Applies(pair), X), r"it returns a Pair.*register_dataclass\(Pair\)"),
    "complex": (
        lambda: (nn.Linear(4, 3).to(torch.complex64), X.to(torch.complex64)),
        "complex numbers, which graphs have not.*\n *the input p_weight(.*\n)*.*aten.linear",
    ),
    "complex inside": (
        lambda: (Applies(lambda x: (x * 1j).sum()), X),
        r"complex numbers.*\n *aten.mul.Tensor \(node 'mul', .*test_torch_edges.py:\d+\)",
    ),
    "library's line": (
        lambda: (nn.Linear(5, 3), X),
        r"Linear cannot be exported by torch: [^(]*\[2, 4\] X \[5, 3\]\.$",
    ),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_torch_has_no_words_for(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    make, said = UNSUPPORTED[name]
    with warnings.catch_warnings():  # of torch, that some are deprecated
        warnings.simplefilter("ignore")
        model, example = make()
    kinds = TypeError, ValueError, GraphError, NotImplementedError
    with pytest.raises(kinds, match=said):
        sol.optimize(model, example)
    assert capfd.readouterr().err == ""


def test_weights_that_become_complex() -> None:
    fast = sol.optimize(nn.Sequential(nn.Linear(4, 3)).eval(), X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fast.to(torch.complex64)
    with torch.no_grad(), pytest.raises(GraphError, match="complex numbers, which graphs have not"):
        fast(X.to(torch.complex64))


@pytest.mark.parametrize("is_trained", [False, True])
def test_weights_that_leave_the_cpu(is_trained: bool) -> None:
    fast = sol.optimize(nn.Sequential(nn.Linear(4, 3)).eval(), X)
    with torch.set_grad_enabled(is_trained):
        fast(X)
        fast.to("meta")
        with pytest.raises(TypeError, match="weight '0.weight' is .* on meta now, .* on cpu when"):
            fast(X)


def test_exported_programs() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    program = torch.export.export(model, (X,))
    for fast in (sol.optimize(program), sol.optimize(program.module(), X)):
        torch.testing.assert_close(fast(X), model(X))
        fast(X).sum().backward()
        assert all(one.grad is not None for one in fast.parameters())


def test_a_shape_that_does_not_fit_is_told_once(caplog) -> None:
    """By the error, and not by torch's log as well."""
    fast = sol.optimize(nn.Linear(8, 4), torch.rand(2, 8))
    with pytest.raises(ValueError, match="axis 1: expected 8, got 9"):
        fast(torch.rand(2, 9))
    assert [one.message for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_levels_of_loggers_are_restored_by_several_threads() -> None:
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before, is_inside, may_leave = logger.level, threading.Event(), threading.Event()

    def other() -> None:
        with quiet():
            is_inside.set()
            may_leave.wait(10)

    thread = threading.Thread(target=other)
    with quiet():
        assert logger.level == logging.CRITICAL
        thread.start()
        is_inside.wait(0.5)  # which it is not before this one has left
    may_leave.set()
    thread.join()
    assert logger.level == before


EMPTY = {
    "group norm": (nn.GroupNorm(2, 4), (0, 4, 2, 3)),
    "repeat": (Applies(lambda x: x.repeat(2, 3)), (0, 3)),
    "no repetition": (Applies(lambda x: x.repeat(2, 0)), (2, 3)),
    "layer norm": (nn.LayerNorm(3), (0, 3)),
    "concatenation": (Applies(lambda x: torch.cat([x, torch.ones(2, 3)]) + x.sum(0)), (0, 3)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_gradients_of_empty_arrays(name: str) -> None:
    layer, shape = EMPTY[name]
    model = nn.Sequential(nn.Sigmoid(), layer)
    found = []
    for one in (sol.optimize(model, torch.ones(shape)), copy.deepcopy(model)):
        x = torch.ones(shape, requires_grad=True)
        result = one(x)
        result.square().sum().backward()
        found.append([result.detach(), x.grad, *(given.grad for given in one.parameters())])
    torch.testing.assert_close(*found)


def test_the_first_call_may_be_in_a_checkpoint() -> None:
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.LayerNorm(3)), torch.randn(2, 3)
    other, fast = copy.deepcopy(model), sol.optimize(model, x)
    for one in (fast, other):
        checkpoint(one, x, use_reentrant=False).square().sum().backward()
    for one, wanted in zip(fast.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(one.grad, wanted.grad)


class ByEinsum(nn.Module):
    def forward(self, q, k, v):
        weights = torch.softmax(torch.einsum("bqhd,bkhd->bhqk", q, k) * 0.5, -1)
        return torch.einsum("bhqk,bkhd->bqhd", weights, v)


def test_attention_by_einsum_is_recognized() -> None:
    model, given = ByEinsum().eval(), [torch.randn(2, 5, 3, 4) for _ in range(3)]
    graph = sol.optimize(model, *given, framework="onnx")
    assert "Attention" in [node.op_type for node in graph.nodes]
    fast = sol.optimize(model, *given, vdims=True)
    for count in (2, 3):
        given = [torch.randn(count, 5, 3, 4, requires_grad=True) for _ in range(3)]
        found, expected = fast(*given), model(*given)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
        for one, other in zip(
            torch.autograd.grad(found.sum(), given),
            torch.autograd.grad(expected.sum(), given),
            strict=True,
        ):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
