"""`python -m mx`, its commands and what they say when something is wrong."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest

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


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
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
