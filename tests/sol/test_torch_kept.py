"""Captured graphs of modules in the cache: used for the same module only, and as good as new."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import mx
from mx import sol
from mx.cache import CacheWarning
from mx.cache._file import write_whole
from mx.sol.frameworks.torch import _captured
from mx.sol.frameworks.torch.kept import _captures
from mx.sol.frameworks.torch.kept._captures import Key
from mx.sol.frameworks.torch.kept._code import NotDescribedError

pytestmark = pytest.mark.usefixtures("one_thread")

X = torch.arange(8.0).reshape(2, 4) / 8

HELPER = """
RATE = 5

def moved(x, by=1.5):
    return x + by * RATE
"""
NETWORK = """
import functools
import math
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum

import torch
from torch import nn
from torch.nn import functional as F

import kept_helper
from kept_helper import moved as also_moved

SCALE = 2.0
TABLE = OrderedDict(a=[1, 2])
USED = "ones"

class Kind(Enum):
    FEW = 1
    MANY = 2

@dataclass
class Config:
    depth: int = 2
    names: list = field(default_factory=lambda: ["a"])

class Settings:
    least = 0.25

    def __init__(self):
        self.width = 3
        self.config = Config()

    @property
    def double(self):
        return self.width * 2 + self.config.depth

def shifted(x, how=lambda x: x * 4):
    return how(x) + SCALE

def made(factor):
    def times(x):
        return x * factor
    return times

tripled = made(3)
raised = functools.partial(torch.pow, exponent=2)

class Inner(nn.Module):
    factor = 3

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.softmax = nn.Softmax(dim=1)
        self.eps = 0.5
        self.kind = Kind.FEW
        self.settings = Settings()
        self.act = F.relu
        self.lock = __import__("threading").Lock()

    def scaled(self, x):
        return x * self.factor

    def unused(self):
        return open("/dev/null")

    def forward(self, x):
        x = self.softmax(self.act(self.scaled(self.linear(x)))) * self.eps
        if self.kind is Kind.FEW:
            x = x + TABLE["a"][0] * math.pi
        for kind in Kind:
            x = x + kind.value
        return kept_helper.moved(x) + self.settings.double + also_moved(x) + self.settings.least

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.register_buffer("offset", torch.arange(4.0))
        self.constant = torch.tensor([1.0, 2.0, 3.0, 4.0])
        self.last = nn.Linear(4, 4)
        self.last.weight = self.inner.linear.weight

    def forward(self, x, flag=True, more=None):
        x = tripled(raised(shifted(self.inner(x)))) + self.offset + self.constant
        x = x * torch.tensor([1.0, 0.5, 0.25, 2.0])
        return {"out": self.last(x), "rest": (x, 3, None)}
"""


def _run(name: str, text: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"/{name}.py", "exec"), module.__dict__)
    return module


@pytest.fixture
def make() -> Callable[..., Any]:
    """Makes the network of changed texts."""

    def network(old: str = "", new: str = "", where: str = NETWORK) -> Any:
        assert old in where
        texts = [text.replace(old, new, 1) if text is where else text for text in (HELPER, NETWORK)]
        _run("kept_helper", texts[0])
        module = _run("kept_network", texts[1])
        torch.manual_seed(0)
        return module.Network().eval()

    return network


@pytest.fixture(autouse=True)
def _no_modules() -> Iterator[None]:
    yield
    for name in ("kept_helper", "kept_network"):
        sys.modules.pop(name, None)


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def captures(cache, monkeypatch) -> list[str]:
    """The names of modules that torch.export has captured."""
    found: list[str] = []
    capture = _captured.capture

    def counted(module: Any, args: Any, kwargs: Any, name: str) -> Any:
        found.append(name)
        return capture(module, args, kwargs, name)

    monkeypatch.setattr(_captured, "capture", counted)
    return found


TEXTS = [
    ("a method", "return x * self.factor", "return x + self.factor", NETWORK),
    ("forward", "+ self.offset", "- self.offset", NETWORK),
    ("an attribute of the class", "factor = 3", "factor = 4", NETWORK),
    ("a dataclass", "depth: int = 2", "depth: int = 3", NETWORK),
    ("a property", "self.width * 2 +", "self.width * 3 +", NETWORK),
    ("an attribute of an object", "self.width = 3", "self.width = 4", NETWORK),
    ("an attribute of its class", "least = 0.25", "least = 0.5", NETWORK),
    ("a global number", "SCALE = 2.0", "SCALE = 3.0", NETWORK),
    ("a type", "SCALE = 2.0", "SCALE = 2", NETWORK),
    ("a global list", "[1, 2]", "[2, 2]", NETWORK),
    ("a default", "x * 4", "x * 5", NETWORK),
    ("a closure", "made(3)", "made(4)", NETWORK),
    ("a partial function", "exponent=2", "exponent=3", NETWORK),
    ("the other function", "torch.pow, exponent", "torch.mul, other", NETWORK),
    ("an enumeration", "MANY = 2", "MANY = 3", NETWORK),
    ("a member", "Kind.FEW\n        self", "Kind.MANY\n        self", NETWORK),
    ("a function of torch", "self.act = F.relu", "self.act = F.gelu", NETWORK),
    ("a function elsewhere", "x + by", "x - by", HELPER),
    ("its default", "by=1.5", "by=2.5", HELPER),
    ("its global", "RATE = 5", "RATE = 6", HELPER),
    ("a module of torch", "nn.Softmax(dim=1)", "nn.Softmax(dim=0)", NETWORK),
    ("a constant", "2.0, 3.0, 4.0", "2.0, 3.0, 5.0", NETWORK),
    ("a tensor made in forward", "0.5, 0.25", "0.5, 0.5", NETWORK),
    ("a tied weight", "self.last.weight =", "self.other =", NETWORK),
]
"""What is changed, how, and in which text."""


def test_the_same_module_has_the_same_key(make, cache) -> None:
    model = make()
    first = Key(model, (X,), {}).text
    assert Key(model, (X,), {}).text == first == Key(make(), (X + 1,), {}).text
    # What no code looks at does not count.
    model.inner.lock = threading.Lock()
    model.inner.other = object()
    assert Key(model, (X,), {}).text == first
    # Nor do rules for transforms that torch.func registers.
    torch.func.jacrev(torch.sin)(torch.ones(2))
    assert any(name.endswith("/FuncTorchBatched") for name in torch.library._impls)
    assert Key(model, (X,), {}).text == first
    assert Key(make('open("/dev/null")', "None", NETWORK), (X,), {}).text == first


@pytest.mark.parametrize("case", TEXTS, ids=[one[0] for one in TEXTS])
def test_changed_code_has_another_key(make, cache, case) -> None:
    assert Key(make(), (X,), {}).text != Key(make(*case[1:]), (X,), {}).text


def _global(model: Any, name: str, value: Any) -> None:
    sys.modules[type(model).__module__].__dict__[name] = value


def _forward(model: Any) -> None:
    model.forward = types.MethodType(lambda self, x: self.last(x), model)


OBJECTS: dict[str, Callable[[Any], Any]] = {
    "a weight": lambda model: model.inner.linear.weight.data.add_(1),
    "a bias, by little": lambda model: model.last.bias.data[0].mul_(1.0001),
    "a buffer": lambda model: model.offset.add_(1),
    "a constant in place": lambda model: model.constant.add_(1),
    "a number": lambda model: setattr(model.inner, "eps", 0.25),
    "minus zero": lambda model: setattr(model.inner, "eps", -0.0),
    "an attribute of a module of torch": lambda model: setattr(model.inner.softmax, "dim", 0),
    "another function": lambda model: setattr(model.inner, "act", torch.tanh),
    "an own function": lambda model: setattr(model.inner, "act", lambda x: x),
    "a method": lambda model: setattr(type(model.inner), "scaled", lambda self, x: x),
    "a forward of its own": _forward,
    "a global": lambda model: _global(model, "SCALE", 7),
    "a global function": lambda model: _global(model, "tripled", torch.neg),
    "a builtin of another meaning": lambda model: _global(model, "also_moved", abs),
    "another module": lambda model: setattr(model.inner, "softmax", nn.Identity()),
    "one module more": lambda model: model.add_module("more", nn.ReLU()),
    "a frozen weight": lambda model: model.inner.linear.weight.requires_grad_(False),
    "the order in memory": lambda model: setattr(
        model.last, "bias", nn.Parameter(torch.zeros(8)[::2])
    ),
    "the mode": lambda model: model.train(),
    "float64": lambda model: model.double(),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_changed_module_has_another_key(make, cache, name) -> None:
    model = make()
    before = Key(model, (X,), {}).text
    OBJECTS[name](model)
    assert Key(model, (X,), {}).text != before


EXAMPLES: dict[str, tuple[Any, dict[str, Any]]] = {
    "a shape": ((X[:1],), {}),
    "a type": ((X.double(),), {}),
    "the order in memory": ((X.T.contiguous().T,), {}),
    "a flag": ((X, False), {}),
    "by name": ((X,), {"flag": True}),
    "a structure": ((X,), {"more": [1, (2, {"a": 3})]}),
    "a number in it": ((X,), {"more": [1, (2, {"a": 4})]}),
    "another tensor": ((X, True, X), {}),
}


def test_other_examples_have_other_keys(make, cache) -> None:
    model = make()
    keys = [Key(model, (X,), {}).text, *(Key(model, *one).text for one in EXAMPLES.values())]
    assert len(set(keys)) == len(keys)


def _other_version(monkeypatch) -> None:
    monkeypatch.setattr(_captures, "versions", lambda: ("another",))


def _default_dtype(monkeypatch) -> None:
    monkeypatch.setattr(torch, "get_default_dtype", lambda: torch.float64)


def _patched(monkeypatch) -> None:
    monkeypatch.setattr(F, "softmax", torch.relu)  # what nn.Softmax calls


def _patched_method(monkeypatch) -> None:
    monkeypatch.setattr(nn.Softmax, "forward", lambda self, x: x)


@pytest.mark.parametrize("change", [_other_version, _default_dtype, _patched, _patched_method])
def test_another_environment_has_another_key(make, cache, monkeypatch, change) -> None:
    model = make()
    before = Key(model, (X,), {}).text
    change(monkeypatch)
    assert Key(model, (X,), {}).text != before


class Applies(nn.Module):
    """A function, or anything else that is called."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


OUTSIDE = torch.ones(4)
COUNT = 0


def _counts(x: Any) -> Any:
    global COUNT
    COUNT += 1
    return x * COUNT


def _imports(x: Any) -> Any:
    import math

    return x * math.pi


class Slots:
    __slots__ = ("factor",)

    def __init__(self) -> None:
        self.factor = 2

    def __call__(self, x: Any) -> Any:
        return x * self.factor


class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2


UNKNOWN: dict[str, tuple[Any, str]] = {
    "a tensor of nobody": (lambda x: x + OUTSIDE, "OUTSIDE is a tensor that no module has"),
    "the time": (lambda x: x + time.time(), "time"),
    "threads": (lambda x: x * torch.get_num_threads(), "get_num_threads"),
    "a file": (lambda x: x + len(open("/dev/null").read()), "open"),
    "a global that is set": (_counts, "sets a global variable"),
    "an import": (_imports, "imports a module"),
    "a module as a value": (lambda x: vars(torch)["relu"](x), "takes the module torch for a value"),
    "memory of a class": (Slots(), "Slots"),
    "a function of autograd": (lambda x: Times.apply(x), "Times"),
    "operators of libraries": (lambda x: torch.ops.aten.relu(x), "torch.ops.aten"),
    "a module outside": (Applies(nn.ReLU()).forward, "not in the model"),
    "a method of C": ([1, 2].count, "count"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_described(cache, name) -> None:
    function, told = UNKNOWN[name]
    with pytest.raises(NotDescribedError, match=told):
        Key(Applies(function), (X,), {})


def _hooked(model: Any) -> Any:
    model.inner.register_forward_hook(lambda *args: None)
    return model


def _parametrized(model: Any) -> Any:
    nn.utils.parametrizations.weight_norm(model.last)
    return model


class Tagged(torch.Tensor):
    pass


def _subclass(model: Any) -> Any:
    model.last.bias = nn.Parameter(model.last.bias.detach().as_subclass(Tagged))
    return model


@pytest.mark.parametrize("change", [_hooked, _parametrized, _subclass])
def test_modules_that_cannot_be_described(make, cache, change) -> None:
    with pytest.raises(NotDescribedError, match="hooks|parametrizations|Tagged"):
        Key(change(make()), (X,), {})


def _same(model: Any, x: Any, fast: Any) -> None:
    with torch.no_grad():
        torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-4)


MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "lstm": (lambda: nn.LSTM(4, 3, batch_first=True), X[None]),
    "attention": (lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), X[None]),
    "norms": (lambda: nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2), nn.Flatten()), X),
    "bfloat16": (lambda: nn.Linear(4, 2, dtype=torch.bfloat16), X.bfloat16()),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_from_the_cache(captures, name) -> None:
    make_one, x = MODELS[name]
    for _ in range(2):
        torch.manual_seed(1)
        model = make_one().eval()
        fast = sol.optimize(model, x)
        with torch.no_grad():
            torch.testing.assert_close(fast(x), model(x), rtol=2e-2, atol=2e-2)
    assert len(captures) == 1 and fast._sol.source.origin == "from the cache"


def test_a_module_from_the_cache(make, captures) -> None:
    fast = sol.optimize(make(), X)
    assert "captured in" in fast._sol.source.origin
    model = make()
    fast = sol.optimize(model, X, precision="float32")
    assert captures == ["Network"]
    _same(model, X, fast)
    # It knows the same tensors, and where nodes are from.
    for tensor in (model.last.bias, model.offset):
        with torch.no_grad():
            tensor.add_(1)
        _same(model, X, fast)
    model.constant.add_(1)
    sol.refresh(fast)
    _same(model, X, fast)
    notes = [node.metadata_props for node in fast._sol.compiled._parsed.graph.nodes]
    assert any(one.get("mx.module") == "inner.linear" for one in notes)
    assert any(one.get("mx.source", "").startswith("/kept_network.py:") for one in notes)
    (kept,) = [one for one in mx.cache.entries() if one.about.get("accelerator") == "torch"]
    assert kept.about["graph"] == "Network" and kept.size < 50_000


def test_a_changed_module_is_captured_anew(make, captures) -> None:
    sol.optimize(make(), X)
    model = make()
    for number, change in enumerate(("a weight", "a global function")):
        OBJECTS[change](model)
        fast = sol.optimize(model, X)
        assert len(captures) == 2 + number
        _same(model, X, fast)


def test_what_cannot_be_described_is_captured_each_time(captures) -> None:
    for factor in (1.0, 2.0):
        OUTSIDE.fill_(factor)
        model = Applies(lambda x: x * OUTSIDE).eval()
        fast = sol.optimize(model, X)
        _same(model, X, fast)
    assert len(captures) == 2 and not mx.cache.entries()
    assert "not kept: " in fast._sol.source.origin and "OUTSIDE" in fast._sol.source.origin
    assert f"Graph: {fast._sol.source.origin}" in str(sol.report(fast))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _nonsense(path: Path) -> None:
    def write(writer: Any) -> dict[str, Any]:
        writer.add("graph", b"\x08\x01nonsense")
        writer.add("rest", b"[1]")
        return {}

    write_whole(str(path), f"{path}.new", write)


def test_broken_entries(captures, cache) -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh()).eval()
    sol.optimize(model, X)
    for number, damage in enumerate((_cut, _nonsense)):
        # Besides, the cache has the plan of the first call.
        every = list(cache.glob("*.compiled"))
        (path,) = (one for one in every if b'"start"' not in one.read_bytes())
        damage(path)
        with pytest.warns(CacheWarning, match="anew"):
            fast = sol.optimize(model, X)
        assert len(captures) == 2 + number
        _same(model, X, fast)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast = sol.optimize(model, X)
    assert len(captures) == 3 and fast._sol.source.origin == "from the cache"


def test_without_a_cache(captures, monkeypatch) -> None:
    monkeypatch.setenv("MXNET_CACHE", "0")
    for _ in range(2):
        fast = sol.optimize(nn.Linear(4, 3), X)
    assert len(captures) == 2 and "there is no cache" in fast._sol.source.origin


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
from kept_network import Network
from mx import sol
torch.manual_seed(0)
model = Network().eval()
print("ready", flush=True)
sys.stdin.readline()
print(sol.optimize(model, torch.ones(2, 4))._sol.source.origin)
"""


def test_two_processes_at_once(cache, tmp_path) -> None:
    """One captures; the other one has what it kept."""
    (tmp_path / "kept_helper.py").write_text(HELPER)
    (tmp_path / "kept_network.py").write_text(NETWORK)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path)],
            env=os.environ
            | {"PYTHONHASHSEED": str(seed), "MXNET_CACHE_DIR": str(tmp_path / "kept")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in (1, 2)
    ]
    assert [next(iter(one.stdout or ())) for one in both] == ["ready\n"] * 2
    told = []
    for one in both:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in both:
        told.append(one.communicate()[0])
        assert one.returncode == 0
    assert sorted(text.split()[0] for text in told) == ["captured", "from"], told
