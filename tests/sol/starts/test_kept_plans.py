"""Plans kept whole for the next start: the same answers, of the same weights, or a plan anew."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import mx
from mx import sol
from mx.cache import CacheWarning
from mx.graph.passes import Pass
from mx.sol._version import KeptPlan
from mx.sol.passes import PASSES

from ..conftest import threads

pytestmark = pytest.mark.usefixtures("one_thread")


def images(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2), nn.SiLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(64 * 7 * 7, 10),
    )  # fmt: skip


def dense() -> nn.Module:
    return nn.Sequential(nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 16), nn.Softmax(1))


def attention() -> nn.Module:
    return nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(16, 32, batch_first=True)

    def forward(self, x: torch.Tensor) -> Any:
        return self.lstm(x)


Case = tuple[Callable[[], nn.Module], torch.Tensor]
MODELS: dict[str, Case] = {
    "convolutions": (convolutions, images(2, 3, 30, 30)),
    "a batch in slices": (convolutions, images(64, 3, 30, 30)),
    "products": (dense, images(4, 2048)),
    "attention": (attention, images(2, 9, 64)),
    "recurrent layers": (Recurrent, images(2, 7, 16)),
}


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    yield tmp_path / "cache"


def made(make: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(5)
    return make().eval()


def plan_of(fast: Any, x: torch.Tensor) -> Any:
    return fast._sol.compiled.version((tuple(x.shape),)).plan


def outputs(model: Any, x: Any) -> list[np.ndarray[Any, Any]]:
    with torch.inference_mode():
        result = model(x)
    flat = torch.utils._pytree.tree_leaves(result)
    return [np.asarray(one) for one in flat]


def assert_same(some: Any, others: Any) -> None:
    for one, other in zip(some, others, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("make", "x"), MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("tuned", [False, True], ids=["untuned", "tuned"])
def test_a_second_start(
    make: Callable[[], nn.Module], x: torch.Tensor, tuned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sol.config, "autotune", tuned)
    monkeypatch.setitem(sol.config, "tuning_seconds", 1)
    # However slow the machine is.
    monkeypatch.setattr("mx.sol.tuning.Tuning.is_enough", lambda self, seconds: True)
    first = sol.optimize(made(make), x)
    expected = outputs(first, x)
    assert not isinstance(plan_of(first, x), KeptPlan)
    second = sol.optimize(made(make), x)
    found = outputs(second, x)
    assert isinstance(plan_of(second, x), KeptPlan)
    assert_same(found, expected)
    # What needs the graph has it.
    told, before = (str(sol.report(one)) for one in (second, first))
    assert ("Tuning" in told) == ("Tuning" in before) == tuned
    assert str(sol.summary(second)) == str(sol.summary(first))
    kept, anew = sol.memory(second), sol.memory(first)
    # Without what is left of weights beside those that are packed.
    assert kept.peak == pytest.approx(anew.peak, rel=2e-2)
    assert kept.parameters == pytest.approx(anew.parameters, rel=2e-2)
    assert_same(outputs(second, x), expected)


def test_a_plan_that_was_tuned_for_less_time(monkeypatch: pytest.MonkeyPatch) -> None:
    make, x = MODELS["convolutions"]
    monkeypatch.setitem(sol.config, "autotune", True)
    monkeypatch.setitem(sol.config, "tuning_seconds", 1)
    outputs(sol.optimize(made(make), x), x)
    monkeypatch.setattr("mx.sol.tuning.Tuning.is_enough", lambda self, seconds: seconds <= 1)
    for seconds, kept in ((1, True), (2, False)):
        monkeypatch.setitem(sol.config, "tuning_seconds", seconds)
        fast = sol.optimize(made(make), x)
        outputs(fast, x)
        assert isinstance(plan_of(fast, x), KeptPlan) is kept


def test_a_plan_that_is_tuned_by_hand() -> None:
    make, x = MODELS["convolutions"]
    # The first start, the next one, which runs before it tunes, and one that measures once more.
    for again, runs, is_kept in ((False, False, False), (False, True, True), (True, False, False)):
        fast = sol.optimize(made(make), x)
        if runs:
            outputs(fast, x)
        tuning = sol.tune(fast, 1, again=again)
        found = outputs(fast, x)
        assert tuning.from_cache == isinstance(plan_of(fast, x), KeptPlan) == is_kept
        np.testing.assert_allclose(found[0], outputs(made(make), x)[0], rtol=1e-3, atol=1e-4)
    fast = sol.optimize(made(make), x)
    kept = sol.tune(fast, 1)
    assert kept.from_cache and kept.layers == tuning.layers
    assert isinstance(plan_of(fast, x), KeptPlan)
    assert_same(outputs(fast, x), found)
    # Other weights have a plan of their own, of the same backends.
    with torch.no_grad():
        fast[0].weight.mul_(2)
    assert sol.tune(fast, 1).layers == tuning.layers
    assert not isinstance(plan_of(fast, x), KeptPlan)


def test_without_the_compiler_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    make, x = MODELS["convolutions"]
    expected = outputs(sol.optimize(made(make), x), x)
    monkeypatch.setenv("MXNET_SOL_JIT", "none")
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sol.SolWarning)  # the first time it says so
            found = outputs(sol.optimize(made(make), x), x)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-5)


def test_threads_that_are_set_before_the_first_call() -> None:
    make, x = MODELS["convolutions"]
    for count, kept in ((1, False), (2, False), (1, True), (2, True)):
        fast = sol.optimize(made(make), x)
        with threads(count):
            outputs(fast, x)
            assert isinstance(plan_of(fast, x), KeptPlan) is kept


def test_weights_that_change() -> None:
    make, x = MODELS["convolutions"]
    outputs(sol.optimize(made(make), x), x)
    module = made(make)
    fast = sol.optimize(module, x)
    outputs(fast, x)
    assert isinstance(plan_of(fast, x), KeptPlan)
    with torch.no_grad():
        module[0].weight.mul_(2)
    np.testing.assert_allclose(outputs(fast, x)[0], outputs(module, x)[0], rtol=1e-4, atol=1e-5)
    assert not isinstance(plan_of(fast, x), KeptPlan)
    # Those weights have a plan of their own, and so has a module that begins with them.
    again = sol.optimize(module, x)
    np.testing.assert_array_equal(outputs(again, x)[0], outputs(fast, x)[0])
    # Changed between `optimize` and the first call.
    late = sol.optimize(made(make), x)
    with torch.no_grad():
        late._sol.source.module[0].weight.mul_(2)
    np.testing.assert_array_equal(outputs(late, x)[0], outputs(fast, x)[0])


# What no version of a tensor counts.
UNCOUNTED: dict[str, Callable[[torch.Tensor], Any]] = {
    "by .data": lambda weight: weight.data.mul_(3),
    "by NumPy": lambda weight: np.multiply(weight.detach().numpy(), 3, weight.detach().numpy()),
}


@pytest.mark.parametrize("write", UNCOUNTED.values(), ids=UNCOUNTED)
def test_weights_that_are_written_before_the_first_call(
    write: Callable[[torch.Tensor], Any],
) -> None:
    make, x = MODELS["convolutions"]
    # Without a plan of the weights before, of which none comes about, and with one.
    for is_there in (False, False, True):
        if is_there:
            outputs(sol.optimize(made(make), x), x)
        module = made(make)
        fast = sol.optimize(module, x)
        write(module[0].weight)
        np.testing.assert_allclose(outputs(fast, x)[0], outputs(module, x)[0], rtol=1e-4, atol=1e-5)
        assert not isinstance(plan_of(fast, x), KeptPlan)
    module = made(make)
    fast = sol.optimize(module, x)
    np.testing.assert_allclose(outputs(fast, x)[0], outputs(module, x)[0], rtol=1e-4, atol=1e-5)
    assert isinstance(plan_of(fast, x), KeptPlan)


def test_weights_that_are_written_between_the_plan_and_its_first_run() -> None:
    make, x = MODELS["convolutions"]
    module = made(make)
    fast = sol.optimize(module, x)
    plan_of(fast, x)
    module[0].weight.data.mul_(3)
    outputs(fast, x)
    assert not isinstance(plan_of(sol.optimize(made(make), x), x), KeptPlan)


def test_another_level_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    make, x = MODELS["convolutions"]
    outputs(sol.optimize(made(make), x), x)
    monkeypatch.setattr("mx.sol.tuning._kept._cpu_level", lambda: "another")
    fast = sol.optimize(made(make), x)
    outputs(fast, x)
    assert not isinstance(plan_of(fast, x), KeptPlan)


def test_a_kept_plan_ends_with_its_model() -> None:
    make, x = MODELS["convolutions"]
    for _ in range(2):
        fast = sol.optimize(made(make), x)
        outputs(fast, x)
    assert isinstance(plan_of(fast, x), KeptPlan)
    seen = weakref.ref(plan_of(fast, x))
    gc.disable()  # which finds circles
    try:
        del fast
        assert seen() is None
    finally:
        gc.enable()


def test_other_calls_of_a_kept_plan() -> None:
    make, x = MODELS["convolutions"]
    first = sol.optimize(made(make), x, framework="numpy")
    expected = first(x.numpy())
    second = sol.optimize(made(make), x, framework="numpy")
    assert_same([second(x.numpy())], [expected])
    with pytest.raises(TypeError, match="float64"):
        second(x.double().numpy())
    with pytest.raises(ValueError, match="axis 0"):
        second(x.numpy()[:1])
    assert_same([second(x.numpy())], [expected])


UNUSED = Pass("unused", "removes nothing", lambda model: [])


# What is given to `optimize`, and why nothing is kept for the next start then.
NOT_KEPT: dict[str, Callable[[torch.Tensor, pytest.MonkeyPatch], dict[str, Any]]] = {
    "a batch that varies": lambda x, patch: {"vdims": [True, False, False]},
    "a pass that has seen data": lambda x, patch: {"precision": "int8"},
    "a pass of others": lambda x, patch: patch.setattr(PASSES, "_passes", [*PASSES, UNUSED]) or {},
    "no room for it": lambda x, patch: patch.setenv("MXNET_CACHE_LIMIT", "400 kB") or {},
    "no cache": lambda x, patch: patch.setenv("MXNET_CACHE", "0") or {},
}


@pytest.mark.parametrize("prepare", NOT_KEPT.values(), ids=NOT_KEPT)
def test_what_is_not_kept(
    prepare: Callable[[torch.Tensor, pytest.MonkeyPatch], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make, x = MODELS["convolutions"]
    options = prepare(x, monkeypatch)
    for _ in range(2):
        fast = sol.optimize(made(make), x, **options)
        outputs(fast, x)
        assert not isinstance(plan_of(fast, x), KeptPlan)


def test_a_limit_that_is_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    make, x = MODELS["convolutions"]
    monkeypatch.setenv("MXNET_CACHE_LIMIT", "much")
    monkeypatch.setattr("mx.cache._use._told", set())
    with pytest.warns(CacheWarning, match="MXNET_CACHE_LIMIT"):
        fast = sol.optimize(made(make), x)
        found = outputs(fast, x)
    np.testing.assert_allclose(found[0], outputs(made(make), x)[0], rtol=1e-4, atol=1e-5)


def test_a_damaged_file(cache_folder: Path) -> None:
    make, x = MODELS["products"]
    expected = outputs(sol.optimize(made(make), x), x)
    largest = max(cache_folder.rglob("*"), key=lambda one: one.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    with pytest.warns(CacheWarning, match="damaged"):
        fast = sol.optimize(made(make), x)
        assert_same(outputs(fast, x), expected)
    assert not isinstance(plan_of(fast, x), KeptPlan)
    assert isinstance(plan_of(sol.optimize(made(make), x), x), KeptPlan)


def test_an_onnx_file(tmp_path: Path) -> None:
    make, x = MODELS["convolutions"]
    path = tmp_path / "model.onnx"
    mx.importers.torch.load(made(make), [x]).save(path)
    expected = sol.optimize(path, x.numpy())(x.numpy())
    second = sol.optimize(path, x.numpy())
    assert_same([second(x.numpy())], [expected])
    assert isinstance(second.compiled.version((tuple(x.shape),)).plan, KeptPlan)


PROCESS = """
import sys
import numpy as np
from tests.sol.starts.test_kept_plans import MODELS, made, outputs, plan_of
from mx import sol
make, x = MODELS["convolutions"]
fast = sol.optimize(made(make), x)
np.save(sys.argv[1], outputs(fast, x)[0])
print(type(plan_of(fast, x)).__name__)
"""


def test_two_processes_at_once(tmp_path: Path) -> None:
    def begin(number: int) -> Any:
        path = tmp_path / f"{number}.npy"
        return path, subprocess.Popen([sys.executable, "-c", PROCESS, path], stdout=-1, text=True)

    found = []
    for _ in range(2):
        for path, process in [begin(number) for number in range(2)]:
            told, _ = process.communicate(timeout=300)
            assert process.returncode == 0
            found.append((told.strip(), np.load(path)))
    assert [told for told, _ in found[2:]] == ["KeptPlan", "KeptPlan"]
    assert_same([one for _, one in found[1:]], [found[0][1]] * 3)
