"""Passes, settings and plugins."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys

import pytest

from mx import sol
from mx.graph.passes import CPU_PASSES, Pass
from mx.sol import _registry, jits
from tests.graph.build import graph_of

TEXT = """g (float[N,4] x) => (float[N,4] y) {
 [dead] d = Abs(x)
 [same] i = Identity(x)
 [twice] n = Neg(i)
 y = Neg(n)
}"""


def negations(model) -> list[str]:
    """Removes pairs of Neg."""
    for node in list(model.graph):
        before = node.inputs[0].producer() if node.op_type == "Neg" else None
        if before is not None and before.op_type == "Neg":
            node.outputs[0].name, before.name = "old", before.name
            return [before.name or ""]
    return []


NEGATIONS = Pass("negations", "finds pairs of Neg", negations)


@pytest.fixture
def passes():
    before, on = list(sol.passes), {one.name for one in sol.passes.enabled}
    sol.passes.disable("algebra")  # which removes what is there for the tests
    yield sol.passes
    for one in list(sol.passes):
        if one not in before:
            sol.passes.remove(one.name)
    sol.passes.enable(*on)
    sol.passes.disable(*(set(sol.passes.names) - on))


def removed(fast) -> dict:
    (version,) = fast.compiled._versions.values()
    return {one.name: one.removed for one in version.removed}


def optimized():
    import numpy

    fast = sol.optimize(graph_of(TEXT))
    fast(numpy.ones((2, 4), "float32"))
    return fast


def test_the_list(passes) -> None:
    found = [name for name in passes.names if name not in ("int8", "bf16")]
    assert found == [one.name for one in CPU_PASSES] and "off int8" in repr(passes)
    assert passes[0] is CPU_PASSES[0] and len(passes[:2]) == 2
    assert removed(optimized()) == {"identities": ("same",), "unused": ("dead",)}


def test_layouts(passes) -> None:
    import torch

    first, conv = torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.Conv2d(32, 32, 3, padding=1)
    module = torch.nn.Sequential(first, torch.nn.ReLU(), conv, torch.nn.MaxPool2d(2), conv).eval()
    x = torch.rand(4, 3, 32, 32)
    fast = sol.optimize(module, x)
    with passes.without("layout"):
        plain = sol.optimize(module, x)
    torch.testing.assert_close(plain(x), fast(x), rtol=1e-4, atol=1e-5)
    reports = [sol.report(one) for one in (fast, plain)]
    assert str({one.name: one for one in reports[0].removed}["layout"]) == "layout: 4 marked"
    assert "layout" not in [one.name for one in reports[1].removed]
    reorders = [str(one).count("onednn.reorder") for one in reports]
    assert reorders[0] < reorders[1]


def test_layouts_of_files(passes, tmp_path) -> None:
    """What is saved without the pass says so, which holds for that time alone."""
    import torch

    conv = torch.nn.Conv2d(32, 32, 3, padding=1)
    module = torch.nn.Sequential(conv, torch.nn.AvgPool2d(2), torch.nn.GELU(), conv, conv).eval()
    x = torch.rand(2, 32, 16, 16)
    reorders = []
    for off in ([], ["layout"]):
        with passes.without(*off):
            sol.optimize(module, x, framework="onnx").save(tmp_path / "model.onnx")
        fast = sol.optimize(tmp_path / "model.onnx", x.numpy())
        found, expected = torch.tensor(fast(x.numpy())), module(x)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
        reorders.append(str(sol.report(fast)).count("onednn.reorder"))
    assert reorders[0] == reorders[1]


def test_switching(passes) -> None:
    with passes.without("identities", "unused"):
        assert "off identities" in repr(passes)
        assert removed(optimized()) == {}
    passes.disable("unused")
    assert removed(optimized()) == {"identities": ("same",)}
    passes.enable("unused")
    assert len(passes.enabled) == len(passes) - 3


def test_extending(passes) -> None:
    passes.add(NEGATIONS, before="unused")
    assert passes.names.index("negations") == passes.names.index("unused") - 1
    assert "negations" in removed(optimized())
    assert passes.remove("negations") is NEGATIONS
    assert "negations" not in removed(optimized())


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: sol.passes.disable("nothing"), ValueError, "'nothing' is no pass: there are"),
        (lambda: sol.passes.add(CPU_PASSES[0]), ValueError, "there is a pass 'dropout' already"),
        (lambda: sol.passes.add(len), TypeError, "expected an mx.graph.passes.Pass"),
        (lambda: Pass(3, "a", len), TypeError, "Pass: name: expected a str, got int"),
        (lambda: Pass("a", len, len), TypeError, "Pass: description: expected a str, got builtin"),
        (lambda: Pass("a", "b", 5), TypeError, "Pass: run: expected a function of a model, got in"),
        (lambda: sol.training_step(None, 1, 2), TypeError, "sol.training_step: model: expected"),
        (lambda: sol.device.set(3), TypeError, "sol.device.set: device_type: expected .* got 3"),
        (lambda: sol.passes.add(NEGATIONS, "nothing"), ValueError, "'nothing' is no pass"),
        (lambda: with_pass(lambda model: None), TypeError, "Pass 'own': expected .*, got NoneType"),
        (lambda: with_pass(lambda model: "a"), TypeError, "Pass 'own': .* names .*, got str"),
        (lambda: sol.optimize(optimized()), TypeError, "expected one that is not optimized"),
        (lambda: sol.optimize(graph_of(TEXT), framework=[1]), ValueError, "is none of the frame"),
        (lambda: sol.optimize(graph_of(TEXT), dtype=[1]), ValueError, "dtype: expected one of"),
        (lambda: sol.deploy(optimized(), [1]), ValueError, "is none of the deployments"),
        (lambda: sol.config[[1]], KeyError, "is no setting"),
        (lambda: sol.config["nothing"], KeyError, "is no setting: there are fallback"),
        (lambda: sol.config.update(fallback=1), TypeError, "expected bool, got int"),
        (lambda: sol.config.update(profile_runs=0), ValueError, "expected 1 or more"),
        (lambda: sol.config.update(precision="int4"), ValueError, "expected one of float32, int8"),
        (lambda: sol.nothing, AttributeError, "nothing"),
    ],
)
def test_what_is_rejected(call, kind, text) -> None:
    with pytest.raises(kind, match=text):
        call()


def with_pass(run) -> None:
    sol.passes.add(Pass("own", "is not as passes are", run))
    try:
        optimized()
    finally:
        sol.passes.remove("own")


def test_settings() -> None:
    sol.config["fallback"] = True
    assert sol.config["fallback"] and "fallback = True" in repr(sol.config)
    del sol.config["fallback"]
    assert not sol.config["fallback"] and sol.config["profile_runs"] == 5


def test_entry_points(monkeypatch, passes) -> None:
    points = [
        importlib.metadata.EntryPoint("negations", f"{__name__}:NEGATIONS", "mx.sol.passes"),
        importlib.metadata.EntryPoint("absent", "no_such_package:FRAMEWORK", "mx.sol.frameworks"),
    ]
    monkeypatch.setattr(
        _registry, "points_of", lambda group: [one for one in points if one.group == group]
    )
    from mx.sol.passes import PassList

    assert PassList(CPU_PASSES).names[-1] == "negations"
    from mx.sol.frameworks import frameworks

    assert frameworks.names() == [*"torch tensorflow keras jax onnx mxnet numpy".split(), "absent"]
    with pytest.raises(ImportError, match="no_such_package"):
        frameworks.get("absent")


BROKEN = [
    ("frameworks", "absent", "no_such_package:FRAMEWORK", "ModuleNotFoundError: No module named"),
    ("backends", "raises", f"{__name__}:NOTHING", "AttributeError: module"),
    ("jits", "text", f"{__name__}:TEXT", "TypeError: .*: expected an instance of Jit, got str"),
    ("layers", "text", f"{__name__}:TEXT", "TypeError: .* expected an instance of module"),
    ("deployments", "text", f"{__name__}:TEXT", "TypeError: .* instance of Deployment, got str"),
    ("passes", "text", f"{__name__}:TEXT", "TypeError: .* expected an instance of Pass, got str"),
    (
        "passes",
        "dropout",
        f"{__name__}:DROPOUT",
        "ValueError: .* there is a pass 'dropout' already",
    ),
]
DROPOUT = Pass("dropout", "has a name that is taken", lambda model: [])
BROKEN_PLUGINS = """
import importlib.metadata, sys, warnings
from tests.sol import test_lists
from mx.sol import _registry, jits
points = [
    importlib.metadata.EntryPoint(name, value, f"mx.sol.{group}")
    for group, name, value, _ in test_lists.BROKEN
]
_registry.points_of = lambda group: [one for one in points if one.group == group]
warnings.simplefilter("always")
from mx.sol.__main__ import main
main()
import numpy
from mx import sol
with warnings.catch_warnings(record=True) as told:
    x = numpy.ones((2, 4), "float32")
    y = sol.optimize(test_lists.graph_of("g (float[2,4] x) => (float[2,4] y) { y = Neg(x) }"))(x)
assert (y == -1).all()
"""


def test_broken_plugins() -> None:
    """Each is listed with its reason, and models are optimized without them."""
    done = subprocess.run(
        [sys.executable, "-c", BROKEN_PLUGINS],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    for _, name, _, reason in BROKEN:
        assert re.search(rf"^  {name} +broken: {reason}", done.stdout, re.M), done.stdout
    assert re.search(r"^  cuda +(missing|\d)", done.stdout, re.M)


def test_a_broken_plugin_is_told_once(monkeypatch) -> None:
    registry = _registry.Registry("jits", {}, jits.Jit)
    point = importlib.metadata.EntryPoint("text", f"{__name__}:TEXT", "mx.sol.jits")
    monkeypatch.setattr(_registry, "points_of", lambda group: [point])
    with pytest.warns(sol.SolWarning, match="mx.sol.jits: 'text' is broken, and left out") as told:
        assert list(registry) == [] and list(registry) == []
    assert len(told) == 1
    with pytest.raises(TypeError, match="expected an instance of Jit"):
        registry.get("text")


def test_the_command(capsys) -> None:
    from mx.sol.__main__ import main

    main()
    text = capsys.readouterr().out
    for line in (
        "Frameworks:",
        "  onnx ",
        "Devices:\n  cpu ",
        "  onednn ",
        "  constants ",
        "wheel",
    ):
        assert line in text
