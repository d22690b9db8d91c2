"""`python -m mx convert`, and what `run` and `explain` say of backends and options."""

from pathlib import Path

import numpy
import pytest
import torch

import mx
from mx._cli import main
from mx.graph import Plan, load
from tests.graph.build import graph_of

X = numpy.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layer(x))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Small models in the formats that are read, and one that MXNet has no operators for."""
    made: Path = tmp_path_factory.mktemp("models")
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=4, name="fc")
    net = mx.sym.Activation(net, act_type="relu")
    random = numpy.random.default_rng(0)
    arrays = {"fc_weight": random.random((4, 3), "f"), "fc_bias": random.random(4, "f")}
    mx.model.save_checkpoint(made / "net", 7, net, arrays, {})
    net.to_graph({"x": ("N", 3)}, params=arrays).save(made / "net.onnx")
    torch.export.save(torch.export.export(Small(), (torch.ones(2, 3),)), made / "net.pt2")
    text = "g (float[2,3] x) => (float[2,3] y) { y = Hardmax(x) }"
    graph_of(text).save(made / "hardmax.onnx")
    (made / "net.txt").write_text("no model")
    return made


def output_of(path: Path) -> numpy.ndarray:
    """What a model gives for X."""
    if path.suffix == ".pt2":
        with torch.no_grad():
            found: numpy.ndarray = torch.export.load(path).module()(torch.from_numpy(X)).numpy()
        return found
    if path.suffix == ".onnx":
        return Plan(load(path))(X)[0].asnumpy()
    module = mx.mod.Module.load(str(path)[: -len("-0007.params")], 7, data_names=["x"])
    module.bind([("x", X.shape)])
    module.forward(mx.io.DataBatch([X]))
    return module.get_outputs()[0].asnumpy()


GIVEN = {
    "net.onnx": [],
    "net-0007.params": ["--shape", "x=N,3"],
    "net.pt2": [],
}


@pytest.mark.parametrize("out", ["out.onnx", "out-symbol.json"])
@pytest.mark.parametrize(("name", "more"), GIVEN.items())
def test_converts(folder, tmp_path, capsys, name, more, out) -> None:
    arguments = [str(folder / name), str(tmp_path / out), *more]
    arguments += ["--epoch", "7"] if out.endswith("json") else []
    assert main(["convert", *arguments]) == 0
    said = capsys.readouterr().out
    assert out in said
    result = tmp_path / ("out-0007.params" if out.endswith("json") else out)
    assert said.count("\n") == 1 and (result.name in said)
    # Sums of opposite signs that nearly cancel differ by the rounding of their terms, of about 1.
    numpy.testing.assert_allclose(output_of(result), output_of(folder / name), rtol=1e-5, atol=1e-6)


def test_weights_apart(folder, tmp_path) -> None:
    out = tmp_path / "out.onnx"
    assert main(["convert", str(folder / "net.onnx"), str(out), "--external-data"]) == 0
    assert (tmp_path / "out.onnx.data").exists()
    numpy.testing.assert_allclose(output_of(out), output_of(folder / "net.onnx"))


def test_a_checkpoint_needs_no_shapes(folder, tmp_path) -> None:
    """It has names for extents then, or none."""
    out = tmp_path / "out.onnx"
    assert main(["convert", str(folder / "net-0007.params"), str(out)]) == 0
    numpy.testing.assert_allclose(output_of(out), output_of(folder / "net-0007.params"), rtol=1e-6)


WRONG = {
    "no output": (["convert", "net.onnx"], 2, "the following arguments are required: OUT"),
    "nothing": (["convert"], 2, "the following arguments are required: model, OUT"),
    "another format": (["convert", "net.onnx", "OUT.txt"], 1, "expected FILE.onnx or PREFIX-symb"),
    "no format": (["convert", "net.onnx", "OUT"], 1, "expected FILE.onnx or PREFIX-symbol.json"),
    "parameters": (["convert", "net.onnx", "OUT-0000.params"], 1, "expected FILE.onnx or PREFIX"),
    "no input": (["convert", "nothing.onnx", "OUT.onnx"], 1, "No such file or directory"),
    "no model": (["convert", "net.txt", "OUT.onnx"], 1, "it is no ONNX model"),
    "a symbol": (["convert", "net-symbol.json", "OUT.onnx"], 1, "is named by its PREFIX-0001"),
    "another epoch": (["convert", "net-0008.params", "OUT.onnx"], 1, "No such file or directory"),
    "a shape": (["convert", "net.onnx", "OUT.onnx", "--shape", "x"], 1, "--shape: expected NAME"),
    "another input": (["convert", "net.onnx", "OUT.onnx", "--shape", "z=1"], 1, "no input 'z'"),
    "a folder": (["convert", "net.onnx", "nowhere/OUT.onnx"], 1, "No such file or directory"),
    "itself": (["convert", "net.onnx", "net.onnx"], 1, "net.onnx: is what is read"),
    "its symbol": (["convert", "net-0007.params", "net-symbol.json"], 1, "json: is what is read"),
    "an operator": (["convert", "hardmax.onnx", "OUT-symbol.json"], 1, "Hardmax"),
    "the epoch of a file": (
        ["convert", "net.onnx", "OUT.onnx", "--epoch", "1"],
        1,
        "--epoch: only",
    ),
    "an epoch": (
        ["convert", "net.onnx", "OUT-symbol.json", "--epoch", "x"],
        2,
        "invalid int value",
    ),
    "an epoch below": (["convert", "net.onnx", "OUT-symbol.json", "--epoch", "-1"], 1, "epoch"),
    "weights of MXNet": (
        ["convert", "net.onnx", "OUT-symbol.json", "--external-data"],
        *(1, "--external-data: what is written for MXNet has its parameters apart"),
    ),
    "verify": (["run", "net.onnx", "--verify"], 1, "--verify: needs an accelerator: give --ctx"),
    "verify cpu": (["run", "net.onnx", "--verify", "--ctx", "cpu(0)"], 1, "needs an accelerator"),
    "fallback": (["run", "net.onnx", "--fallback", "error"], 1, "--fallback: needs an accelerator"),
    "a mode": (["run", "net.onnx", "--fallback", "never"], 2, "invalid choice: 'never'"),
    "fallback of bench": (["bench", "net.onnx", "--fallback", "whole"], 1, "--fallback: needs"),
    "fallback of explain": (["explain", "net.onnx", "--fallback", "auto"], 1, "--fallback: needs"),
    "no threads": (["run", "net.onnx", "--threads", "0"], 1, "count has to be 1 to 1024"),
    "threads below": (["run", "net.onnx", "--threads", "-1"], 1, "count has to be 1 to 1024"),
    "many threads": (["bench", "net.onnx", "--threads", "5000"], 1, "count has to be 1 to 1024"),
    "threads": (["run", "net.onnx", "--threads", "two"], 2, "invalid int value: 'two'"),
    "verify of bench": (["bench", "net.onnx", "--verify"], 2, "unrecognized arguments: --verify"),
    "a context": (["run", "net.onnx", "--ctx", "nothing(0)"], 1, "nothing"),
    "a library": (["run", "net.onnx", "--ctx", "./libnothing.so"], 1, "libnothing.so"),
}


@pytest.mark.parametrize(("arguments", "status", "text"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(folder, tmp_path, monkeypatch, capsys, arguments, status, text) -> None:
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    given = [word.replace("OUT", str(tmp_path / "out"), 1) for word in arguments]
    given = [word.replace(f"nowhere/{tmp_path}", f"{tmp_path}/nowhere") for word in given]
    with pytest.raises(SystemExit) as ended:
        main(given)
    said = capsys.readouterr().err
    assert (ended.value.code, text in said, "Traceback" in said) == (status, True, False), said
    # Nothing is half there.
    assert before == sorted(path.name for path in folder.iterdir())
    assert not list(tmp_path.iterdir())


def test_threads(folder, capsys) -> None:
    before = mx.get_num_threads()
    try:
        assert main(["bench", str(folder / "net.onnx"), "--seconds", "0", "--threads", "3"]) == 0
        assert mx.get_num_threads() == 3
        assert "with 3 threads" in capsys.readouterr().out
    finally:
        mx.set_num_threads(before)


@pytest.mark.parametrize("ctx", [[], ["--ctx", "cpu(0)"]])
def test_explains_the_plan_of_the_cpu(folder, capsys, tmp_path, ctx) -> None:
    svg = tmp_path / "net.svg"
    given = ["explain", str(folder / "hardmax.onnx"), *ctx, "--svg", str(svg)]
    assert main(given) == 0
    summary, head, row = capsys.readouterr().out.splitlines()
    assert summary.startswith("cpu: ") and "why none before it" in head
    assert "Hardmax" in row and "onednn: no rule for this operator" in row
    assert "Hardmax" in svg.read_text()


def test_keeps_nan(tmp_path, capsys) -> None:
    w = "{" + ", ".join(["1"] * 256) + "}"
    graph = graph_of(
        f"g (float[1,16,6,6] x) => (float[1,16,6,6] y) <float[16,16,1,1] w = {w}>"
        " { c = Conv(x, w) y = Relu(c) }"
    )
    graph.save(tmp_path / "conv.onnx")
    numpy.save(tmp_path / "x.npy", numpy.full((1, 16, 6, 6), numpy.nan, "float32"))
    for more, expected in ([], "0 to 0"), (["--keep-nan"], "nan to nan"):
        given = ["run", str(tmp_path / "conv.onnx"), "--input", f"x={tmp_path / 'x.npy'}", *more]
        assert main(given) == 0
        assert expected in capsys.readouterr().out
