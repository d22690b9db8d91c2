"""`python -m mx`, its commands and what they say when something is wrong."""

import itertools
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy
import pytest
import torch

import mx
from benchmarks import models
from mx._cli import main


@pytest.fixture(scope="module")
def lenet(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("cli") / "lenet.onnx"
    models.lenet().save(path)
    return str(path)


def test_lists_commands() -> None:
    done = subprocess.run([sys.executable, "-m", "mx"], capture_output=True, text=True, check=True)
    assert "inspect" in done.stdout and "draws it" in done.stdout


def test_inspects(lenet, capsys, tmp_path) -> None:
    svg = tmp_path / "lenet.svg"
    assert main(["inspect", lenet, "--shape", "data=16,1,28,28", "--svg", str(svg)]) == 0
    said = capsys.readouterr().out
    assert "(16, 6, 28, 28)" in said and "Parameters: 61,706" in said
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")


def test_runs_passes(capsys, tmp_path) -> None:
    path = tmp_path / "unet.onnx"
    models.unet(0.1, 16).save(path)
    assert main(["inspect", str(path), "--passes"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("batch_norm: 14 nodes removed") and "(BatchNorm" not in said


def test_runs_a_model(lenet, capsys, tmp_path) -> None:
    x = numpy.random.default_rng(0).random((2, 1, 28, 28), "float32")
    numpy.save(tmp_path / "x.npy", x)
    out, trace = tmp_path / "out.npz", tmp_path / "trace.json"
    given = ["run", lenet, "--input", f"data={tmp_path / 'x.npy'}", "--output", str(out)]
    assert main(given) == 0
    said = capsys.readouterr().out
    assert "float32 (2, 10)" in said and "cpu: " in said
    with numpy.load(out) as arrays:
        (name,) = arrays
        (expected,) = mx.graph.Plan(mx.graph.load(lenet))(x)
        numpy.testing.assert_array_equal(arrays[name], expected)
    assert main([*given, "--profile", "--trace", str(trace)]) == 0
    said = capsys.readouterr().out
    assert "implementation" in said and "Conv_0" in said and " us in " in said
    events = json.loads(trace.read_text())["traceEvents"]
    assert {"Conv_0", "Conv_1"} <= {event["name"] for event in events}
    ends = [(event["ts"], event["ts"] + event["dur"]) for event in events]
    # In microseconds, rounded.
    assert all(begin > end - 0.01 for (_, end), (begin, _) in itertools.pairwise(ends))


class Square(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x


@pytest.fixture(scope="module")
def models_of_others(tmp_path_factory) -> Path:
    """A folder with the same small model as a checkpoint of MXNet and as a program of torch."""
    folder = tmp_path_factory.mktemp("others")
    x = mx.sym.var("x")
    net = mx.sym.FullyConnected(x * x, num_hidden=2, name="fc")
    arrays = {"fc_weight": numpy.ones((2, 3), "f"), "fc_bias": numpy.zeros(2, "f")}
    mx.model.save_checkpoint(folder / "net", 7, net, arrays, {})
    torch.export.save(torch.export.export(Square(), (torch.ones(4, 3),)), folder / "square.pt2")
    (folder / "damaged.pt2").write_bytes(b"PK no archive")
    return folder


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["inspect", "net-0007.params", "--shape", "x=N,3"], "Parameters: 8"),
        (["run", "net-0007.params", "--shape", "x=N,3", "--dim", "N=5"], "float32 (5, 2)"),
        (["bench", "net-0007.params", "--shape", "x=2,3", "--seconds", "0"], "of 1 runs"),
        (["inspect", "square.pt2"], "x (input)"),
        (["run", "square.pt2", "--profile"], "_npi.multiply"),
    ],
)
def test_models_of_others(models_of_others, capsys, arguments, text) -> None:
    command, name, *rest = arguments
    assert main([command, str(models_of_others / name), *rest]) == 0
    assert text in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["inspect", "net-0008.params"], "No such file or directory: "),
        (["inspect", "net-symbol.json"], "is named by its PREFIX-0001.params"),
        (["inspect", "net.params"], "is named by its PREFIX-0001.params"),
        (["run", "net-0007.params"], "'x' has no shape: give it one by --shape"),
        (["run", "net-0007.params", "--shape", "y=2,3"], "there is no input 'y': inputs are ['x']"),
        (["run", "net-0007.params", "--shape", "x=2,4"], "fc"),
        (["inspect", "square.pt2", "--shape", "x=5,3"], "of shape (4, 3), not (5, 3)"),
        (["inspect", "nothing.pt2"], "No such file or directory"),
        (["inspect", "damaged.pt2"], "damaged.pt2: torch.export.load cannot read it: "),
    ],
)
def test_says_what_is_wrong_with_models_of_others(
    models_of_others, capsys, arguments, text
) -> None:
    command, name, *rest = arguments
    with pytest.raises(SystemExit) as ended:
        main([command, str(models_of_others / name), *rest])
    said = capsys.readouterr().err
    assert ended.value.code == 1 and text in said and "Traceback" not in said


def test_measures_a_model(lenet, capsys) -> None:
    assert main(["bench", lenet, "--dim", "N=3", "--seconds", "0"]) == 0
    said = capsys.readouterr().out
    assert "of 1 runs" in said and "plan and first run" in said


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["run", "LENET", "--input", "x=/nowhere.npy"], 1, "No such file"),
        (["run", "LENET", "--input", "/nowhere.npz"], 1, "No such file"),
        (["run", "LENET", "--dim", "N"], 1, "--dim: expected NAME=N, got 'N'"),
        (["bench", "LENET", "--dim", "N=x"], 1, "--dim: expected NAME=N, got 'N=x'"),
        (["magic"], 2, "invalid choice: 'magic'"),
        (["inspect"], 2, "the following arguments are required: model"),
        (["inspect", "/nowhere.onnx"], 1, "No such file or directory: '/nowhere.onnx'"),
        (["inspect", __file__], 1, "test_cli.py: it is no ONNX model"),
        (["inspect", "LENET", "--shape", "data"], 1, "--shape: expected NAME=1,3,224,224"),
        (["inspect", "LENET", "--shape", "x=1"], 1, "there is no input 'x': inputs are data"),
        (["inspect", "LENET", "--shape", "data=1,2"], 1, r"not (1, 2)"),
        (["inspect", "LENET", "--shape", "data=-1,1,28,28"], 1, "an extent is below zero"),
    ],
)
def test_says_what_is_wrong(lenet, capsys, arguments, status, text) -> None:
    given = [lenet if word == "LENET" else word for word in arguments]
    with pytest.raises(SystemExit) as ended:
        main(given)
    said = capsys.readouterr().err
    assert ended.value.code == status and text in said and "Traceback" not in said
