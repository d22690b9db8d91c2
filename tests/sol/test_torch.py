"""Optimized modules of torch: the same answers, and one thing with the original."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import mx
from mx import sol
from mx.graph import GraphError


class Small(nn.Module):
    """A convolution with a batch norm that has seen something, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


@dataclass
class Pair:
    scores: torch.Tensor
    note: str | None = None


pytree.register_dataclass(Pair)


class Structures(nn.Module):
    """Takes and returns structures, with what is no tensor among it."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.ones(3))

    def forward(self, x, others, scale: float = 2.0, *, mask=None):
        total = x * scale + others["a"][0]
        if mask is not None:
            total = total * mask
        return {"pair": Pair(total, "text"), "rest": (self.bias, None, 3, x), "sum": total.sum()}


class Flow(nn.Module):
    """Asks in Python for elements."""

    def forward(self, x):
        if x.sum() > 0:
            return x
        return x * 2


class Mixed(nn.Module):
    """Two parts that can be optimized around one that cannot."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.flow = Flow()
        self.last = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())

    def forward(self, x):
        return self.last(self.flow(self.first(x)))


def image(*shape: int) -> torch.Tensor:
    return torch.randn(*(shape or (2, 1, 6, 5)))


def check(fast, model, *args, **kwargs) -> None:
    """The optimized model gives what torch gives."""
    with torch.no_grad():
        got, expected = fast(*args, **kwargs), model(*args, **kwargs)
    leaves, others = pytree.tree_flatten(got)[0], pytree.tree_flatten(expected)[0]
    assert pytree.tree_structure(got) == pytree.tree_structure(expected)
    for one, other in zip(leaves, others, strict=True):
        if isinstance(other, torch.Tensor):
            torch.testing.assert_close(one, other)
        else:
            assert one == other


def test_a_module_in_and_a_module_out(small, fast) -> None:
    assert isinstance(fast, Small) and isinstance(fast, nn.Module) and fast is not small
    assert list(fast.state_dict()) == list(small.state_dict())
    assert fast.head.weight is small.head.weight
    assert repr(fast) == repr(small)
    x = image()
    check(fast, small, x)
    check(fast, small, x)
    check(fast, small, x=x)
    with torch.inference_mode():
        assert not fast(x).requires_grad


def load_state(model) -> None:
    model.load_state_dict({k: v + 1 for k, v in model.state_dict().items()})


def step(optimizer, model) -> None:
    optimizer.zero_grad()
    model.head.weight.pow(2).sum().backward()
    optimizer.step()


def in_training_mode(model) -> None:
    """Has the batch norm see something."""
    model.train()
    model(image())
    model.eval()


CHANGES = {
    "in place": lambda m: m.head.weight.add_(1),
    "a buffer": lambda m: m.norm.running_mean.mul_(3),
    "an item": lambda m: m.conv.bias.__setitem__(0, 5),
    "other memory": lambda m: setattr(m.head.weight, "data", torch.randn(3, 4)),
    "another parameter": lambda m: setattr(m.head, "bias", nn.Parameter(torch.randn(3))),
    "a state_dict": load_state,
    "a step": lambda m: step(torch.optim.SGD(m.parameters(), 0.1), m),
    "a fused step": lambda m: step(torch.optim.Adam(m.parameters(), 0.1, fused=True), m),
    "a call in training mode": lambda m: in_training_mode(m),
    "one that nothing counts": lambda m: in_training_mode(m),
}


@pytest.mark.parametrize("change", CHANGES)
def test_weights_that_change_are_noticed(small, change) -> None:
    x = image()
    if change == "one that nothing counts":
        small.norm.num_batches_tracked = None
    fast = sol.optimize(small, x)
    check(fast, small, x)
    with torch.no_grad():
        before = fast(x)
        with torch.set_grad_enabled(change.endswith("step")):
            CHANGES[change](small)
        assert not torch.equal(fast(x), before)
    check(fast, small, x)


def test_what_is_written_past_torch_needs_a_refresh(small, fast) -> None:
    x = image()
    check(fast, small, x)
    small.head.weight.detach().numpy()[:] = 2
    sol.refresh(fast)
    check(fast, small, x)


class Named(nn.Module):
    """Has a weight of an input's name, and other weights for other lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.x, self.y = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))

    def forward(self, x, *, b, a):
        return x * self.x + b - (a * self.y if x.shape[0] == 1 else a)


def test_all_weights_are_watched() -> None:
    model = Named().eval()
    x = torch.randn(2, 3)
    fast = sol.optimize(model, x, kwargs={"a": x, "b": -x}, vdims=True)
    for length in (2, 1, 2, 1):
        x, b = torch.randn(2, length, 3)
        check(fast, model, x, b=b, a=x + 1)
        check(fast, model, a=x + 1, x=x, b=b)
        for weight in (model.x, model.y):
            with torch.no_grad():
                weight.add_(torch.randn(3))
            check(fast, model, x, a=x + 1, b=b)


@pytest.mark.parametrize("how", ["inner hook", "autocast"])
def test_what_torch_executes(small, fast, how) -> None:
    x = image()
    if how == "inner hook":
        small.head.register_forward_hook(lambda module, args, output: output + 7)
    torch.manual_seed(1)
    with pytest.warns(sol.SolWarning, match="Small is executed by torch") as caught:
        with torch.autocast("cpu", enabled=how == "autocast"):
            result = fast(x)
            again = fast(x)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    again.sum().backward()
    assert small.head.weight.grad is not None
    assert result.dtype == (torch.bfloat16 if how == "autocast" else torch.float32)
    fast.eval()
    check(fast, small, x)


def test_threads(small, fast) -> None:
    images = [image() for _ in range(8)]
    with torch.no_grad():
        expected = [small(x) for x in images]

    def run(x):
        with torch.inference_mode():
            return [fast(x) for _ in range(20)][-1]

    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(pool.map(run, images), expected, strict=True):
            torch.testing.assert_close(one, other)


def test_no_gradients_where_none_are_required(small, fast) -> None:
    small.requires_grad_(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not fast(image()).requires_grad
        assert fast(image().requires_grad_()).requires_grad


def test_hooks_of_the_module_itself(small, fast) -> None:
    seen = []
    fast.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    fast.register_forward_hook(lambda module, args, output: seen.append(args) or output + 1)
    x = image()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(fast, small, x)
    assert len(seen) == 2
    with torch.no_grad():
        small.head.bias.add_(1)
    check(fast, small, x)


def saved(model):
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=False)


@pytest.mark.parametrize(
    "made", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), saved], ids=str
)
def test_copies(small, fast, made) -> None:
    x = image()
    other = made(fast)
    assert type(other) is type(fast)
    check(other, small, x)
    with torch.no_grad():
        other.head.weight.zero_()
        assert torch.equal(other(x)[0], other.head.bias)
    check(fast, small, x)
    assert type(made(small)) is Small


def test_structures() -> None:
    model = Structures().eval()
    x, a = torch.randn(2, 3), torch.randn(2, 3)
    fast = sol.optimize(model, x, {"a": [a]})
    check(fast, model, x, {"a": [a * 2]})
    check(fast, model, others={"a": [a]}, x=x)
    masked = sol.optimize(model, x, {"a": [a]}, 3.0, kwargs={"mask": x > 0})
    check(masked, model, x, {"a": [a]}, 3.0, mask=x < 0)
    check(masked, model, x, {"a": [a]}, mask=x < 0, scale=3.0)
    with torch.no_grad():
        result = fast(x, {"a": [a]})
        result["rest"][0].zero_()
        result["rest"][3].zero_()
    assert model.bias.sum() == 3 and x.abs().sum() > 0
    check(fast, model, x, {"a": [a]})


STRANGE = [
    ((image(3, 1, 6, 5),), {}, ValueError, r"input 'x': axis 0: expected 2, got 3: #0 may vary"),
    ((image(2, 2, 6, 5),), {}, ValueError, r"axis 1: expected 1, got 2: .*channels.*module 'conv'"),
    ((image(2, 1, 6),), {}, ValueError, "input 'x': expected 4 axes"),
    ((image().double(),), {}, TypeError, "input 'x': expected torch.float32, got torch.float64"),
    ((image().numpy(),), {}, TypeError, "input 'x': expected a tensor, got ndarray"),
    ((image().to("meta"),), {}, ValueError, "input 'x': expected a tensor on the CPU"),
    ((image().to_sparse(),), {}, ValueError, "input 'x': expected a dense tensor"),
    ((3,), {}, TypeError, "input 'x': expected a tensor, got int"),
    ((), {}, TypeError, "missing a required argument: 'x'"),
    ((image(), 1), {}, TypeError, "too many positional arguments"),
    ((image(),), {"y": 1}, TypeError, "unexpected keyword argument 'y'"),
]


@pytest.fixture(scope="module")
def one_for_all():
    return sol.optimize(Small().eval(), image())


@pytest.mark.parametrize(("args", "kwargs", "kind", "text"), STRANGE)
def test_what_is_rejected(one_for_all, args, kwargs, kind, text) -> None:
    with torch.no_grad(), pytest.raises(kind, match=text):
        one_for_all(*args, **kwargs)


def test_other_layouts_of_memory(small, fast) -> None:
    wide = torch.randn(2, 1, 5, 12).transpose(2, 3)[:, :, ::2]
    assert not wide.is_contiguous()
    check(fast, small, wide)
    check(fast, small, image().to(memory_format=torch.channels_last))


def test_arguments_that_are_no_tensors() -> None:
    model = Structures().eval()
    x = torch.randn(2, 3)
    fast = sol.optimize(model, x, {"a": [x]}, 2.0)
    with torch.no_grad(), pytest.raises(ValueError, match=r"argument scale: expected 2.0.*got 3.0"):
        fast(x, {"a": [x]}, 3.0)
    with torch.no_grad(), pytest.raises(TypeError, match="argument mask is none of the example's"):
        fast(x, {"a": [x]}, 2.0, mask=x)
    with torch.no_grad(), pytest.raises(TypeError, match="structure"):
        fast(x, {"a": [x, x]}, 2.0)
    with torch.no_grad(), pytest.raises(ValueError, match="axis 0: expected 2, got 3: #0 may vary"):
        fast(torch.randn(3, 3), {"a": [torch.randn(3, 3)]}, 2.0)
    with torch.no_grad(), pytest.raises(ValueError, match="axis 1: expected 3, got 4"):
        fast(x, {"a": [torch.randn(2, 4)]}, 2.0)
    scale = float("nan")
    with torch.no_grad():
        assert sol.optimize(model, x, {"a": [x]}, scale)(x, {"a": [x]}, scale) is not None


class Optional(nn.Module):
    """Has a parameter between two others that may be left out."""

    def forward(self, x, y=None, z=None):
        return x - (0 if y is None else 2 * y) - (0 if z is None else 5 * z)


def test_names_are_kept_apart_from_positions() -> None:
    model, x = Optional().eval(), torch.randn(3)
    named, placed = sol.optimize(model, x, kwargs={"z": x}), sol.optimize(model, x, x)
    for _ in range(2):
        check(named, model, x, z=x + 1)
        check(placed, model, x, x + 1)
        check(placed, model, y=x + 1, x=x)
        for fast, args, kwargs in (
            (named, (x, x), {}),
            (placed, (x,), {"z": x}),
            (named, (x,), {}),
        ):
            with torch.no_grad(), pytest.raises(TypeError, match="Optional: argument"):
                fast(*args, **kwargs)


class Defaults(nn.Module):
    """Has parameters that callers leave out, or write though they are the default."""

    def forward(self, x, mask=None, scale=2.0, *, negative=False):
        x = x * scale if mask is None else x * scale * mask
        return -x if negative else x


def test_arguments_left_out_are_the_default() -> None:
    model, x = Defaults().eval(), torch.randn(3)
    calls = (
        ((x,), {}),
        ((x, None), {}),
        ((x, None, 2.0), {"negative": False}),
        ((x,), {"scale": 2.0}),
        ((), {"negative": False, "x": x}),
    )
    for example, named in calls:
        fast = sol.optimize(model, *example, kwargs=named)
        for args, kwargs in calls:
            check(fast, model, *args, **kwargs)
        for args, kwargs in (((x, x), {}), ((x,), {"scale": 3.0}), ((x,), {"negative": True})):
            with torch.no_grad(), pytest.raises((TypeError, ValueError), match="Defaults: "):
                fast(*args, **kwargs)


class Several(nn.Module):
    """Takes any number of arguments, by position and by name."""

    def forward(self, x, *more, **named):
        return x - sum(more) + sum(named.values())


def test_any_number_of_arguments() -> None:
    model, x = Several().eval(), torch.randn(2, 3)
    fast = sol.optimize(model, x, x, kwargs={"p": x, "q": x})
    check(fast, model, x, 2 * x, q=3 * x, p=4 * x)
    for args, kwargs, kind, text in (
        ((x, x), {"p": x}, TypeError, "Several: argument q is missing, which the example has"),
        ((x,), {"p": x, "q": x}, TypeError, r"argument more\[0\] is missing"),
        ((x, x), {"p": x, "q": x, "r": x}, TypeError, "argument r is none of the example's: x, "),
        ((x, x, x), {"p": x, "q": x}, TypeError, r"argument more\[1\] is none of the example's"),
        # torch.export itself cannot have lengths of these vary
        ((x, x[:1]), {"p": x, "q": x}, ValueError, "axis 0: expected 2, got 1: what may vary"),
        ((x, x), {"p": x, "q": x[0]}, ValueError, "expected 2 axes"),
    ):
        with torch.no_grad(), pytest.raises(kind, match=text):
            fast(*args, **kwargs)


class Branches(nn.Module):
    """Does other things for some lengths: what torch assumes of them has to be kept to."""

    def forward(self, x, y):
        if x.shape[0] == 5:
            x = x * 2
        return x.squeeze(), x[:, :4] + 1, y.reshape(-1)


def test_lengths_that_inputs_have_in_common() -> None:
    model = Several().eval()
    fast = sol.optimize(model, torch.randn(2, 3), torch.randn(2, 3), vdims=True)
    check(fast, model, torch.randn(5, 4), torch.randn(5, 4))
    text = "input 'more_0': axis 1: expected 4, got 3: #1 is 4 in an axis before"
    with torch.no_grad(), pytest.raises(ValueError, match=text):
        fast(torch.randn(5, 4), torch.randn(5, 3))


def test_dimensions_that_vary() -> None:
    model = Branches().eval()
    fast = sol.optimize(model, torch.randn(1, 6, 2), torch.randn(4, 3), vdims=True)
    for length in (1, 2, 3, 5, 6):
        check(fast, model, torch.randn(length, 3 + length, 2), torch.randn(length, 1 + length))
    check(fast, model, torch.randn(3, 6, 2), torch.randn(0, 3))


@pytest.mark.parametrize(
    ("vdims", "good", "bad", "text"),
    [
        ([True, False, False], (7, 6, 5), (7, 7, 5), r"axis 2: expected 6, got 7: #1 may vary"),
        ([False, True, True], (2, 9, 8), (3, 6, 5), r"axis 0: expected 2, got 3: #0 may vary"),
        ([True, 9, False], (1, 9, 5), (1, 6, 5), r"axis 2: expected 9, got 6: #1 may vary"),
        ([4, False, False], (4, 6, 5), (2, 6, 5), r"axis 0: expected 4, got 2"),
    ],
)
def test_vdims(small, vdims, good, bad, text) -> None:
    fast = sol.optimize(small, image(), vdims=vdims)
    check(fast, small, image(good[0], 1, *good[1:]))
    with torch.no_grad(), pytest.raises(ValueError, match=text):
        fast(image(bad[0], 1, *bad[1:]))


@pytest.mark.parametrize(
    ("vdims", "kind", "text"),
    [
        ([True], ValueError, r"expected 3 items, .* got 1\nInputs:  x \[#0, 1, #1, #2\]"),
        ([True, 0, False], ValueError, r"vdims\[1\]: expected 1 or more"),
        ([True, 1.5, False], TypeError, r"vdims\[1\]: expected True, False or a number"),
        ("batch", TypeError, "vdims: expected a list"),
    ],
)
def test_wrong_vdims(small, vdims, kind, text) -> None:
    with pytest.raises(kind, match=text):
        sol.optimize(small, image(), vdims=vdims)


def test_lengths_that_do_not_fit_together() -> None:
    """Each of them may vary, and the module takes some of all pairs."""
    model = nn.Sequential(nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 3)).eval()
    fast = sol.optimize(model, torch.randn(2, 1, 16, 16), vdims=True)
    check(fast, model, torch.randn(3, 1, 8, 33))
    text = r"for inputs 'input' of shape \(2, 1, 18, 16\): .*reduction dim.*\(module '2'\)"
    with torch.no_grad(), pytest.raises(ValueError, match=text):
        fast(torch.randn(2, 1, 18, 16))


class Counter(nn.Module):
    """Changes a buffer in a call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count += 1
        return x + self.count


class Scaling(nn.Module):
    """Changes its input."""

    def forward(self, x):
        return x.mul_(1) + 1


class Decomposition(nn.Module):
    """Has an operator that graphs lack."""

    def forward(self, x):
        return torch.linalg.svdvals(x)


def test_buffers_that_a_call_changes() -> None:
    model, x = Counter().eval(), torch.randn(3)
    fast, other = sol.optimize(model, x), copy.deepcopy(model)
    for _ in range(3):
        check(fast, other, x)
        assert torch.equal(model.count, other.count)
    with torch.no_grad():
        model.count.fill_(7)
        torch.testing.assert_close(fast(x), x + 8)
    with pytest.raises(NotImplementedError, match="framework='numpy': Counter changes count"):
        sol.optimize(model, x, framework="numpy")


@pytest.mark.parametrize(
    ("model", "kind", "text"),
    [
        (Mixed(), GraphError, r"Python code depends on .*\(module 'flow', .*test_torch.py:\d+\)"),
        (Decomposition(), GraphError, r"_linalg_svd.*test_torch.py:\d+"),
        (Scaling(), NotImplementedError, r"argument x in a call \(.*test_torch.py:\d+\)"),
        (
            nn.Sequential(nn.Identity(), Scaling()),
            NotImplementedError,
            r"argument input in a call \(module '1', .*test_torch.py:\d+\)",
        ),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, nn.Module) else None,
)
def test_what_cannot_be_optimized(model, kind, text) -> None:
    model.eval()
    x = torch.randn(3, 3)
    with pytest.raises(kind, match=text):
        sol.optimize(model, x)
    with pytest.warns(sol.SolWarning, match=f"{type(model).__name__}: torch executes"):
        fast = sol.optimize(model, x, fallback=True)
    with torch.no_grad():
        expected = model(x.clone())
        torch.testing.assert_close(fast(x), expected)


def test_the_parts_that_can_be_are_optimized() -> None:
    model = Mixed().eval()
    with pytest.warns(sol.SolWarning, match="all except the modules first, last: .*Python code"):
        fast = sol.optimize(model, torch.randn(3, 3), fallback=True)
    assert type(fast) is Mixed and fast.flow is model.flow
    assert type(fast.first) is not nn.Sequential and isinstance(fast.first, nn.Sequential)
    assert list(fast.state_dict()) == list(model.state_dict())
    with torch.no_grad():
        model.first[0].weight.add_(1)
    check(fast, model, torch.randn(3, 3))


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((nn.ReLU(),), "missing a required argument"),
        ((nn.ReLU(), None), "an example of the arguments with a tensor"),
        ((nn.ReLU(), torch.ones(2, device="meta")), "expected a tensor on the CPU"),
        ((nn.ReLU(), torch.ones(2), torch.ones(2)), "too many positional arguments"),
        (
            (3, torch.ones(2)),
            "model: expected a torch.nn.Module or .*ExportedProgram; .*got int",
        ),
    ],
)
def test_wrong_examples(args, text) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        sol.optimize(*args)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda model: sol.optimize(model, image(), kwargs=[1]), "kwargs: expected .*got list"),
        (lambda model: sol.tune(sol.optimize(model, image()), "x"), "seconds: .*number, got 'x'"),
    ],
)
def test_wrong_types(small, call, text) -> None:
    with pytest.raises(TypeError, match=text):
        call(small)


def test_frameworks(small) -> None:
    x = image()
    call = sol.optimize(small, x, framework="numpy")
    with torch.no_grad():
        expected = small(x)
        torch.testing.assert_close(torch.from_numpy(call(x.numpy())), expected)
        small.head.bias.add_(1)
        torch.testing.assert_close(torch.from_numpy(call(x.numpy())), small(x))
    with pytest.raises(ValueError, match="'pytorch' is none of the frameworks: there are torch,"):
        sol.optimize(small, x, framework="pytorch")
    with pytest.raises(TypeError, match="input 'x': expected float32, got float64"):
        call(x.double().numpy())
    assert mx.sol.optimize is sol.optimize
