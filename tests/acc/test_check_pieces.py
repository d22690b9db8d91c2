"""What mxacc-check finds in libraries that export and import their models."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .conftest import ROOT
from .test_check import broken, check, findings

SOURCE = Path(__file__).with_name("planted") / "pieces.c"

# The fault, the check that finds it, and what that was expecting.
FAULTS = {
    "any key": ("graphs.wrong_pieces", "an error"),
    "any number of pieces": ("graphs.wrong_pieces", "an error"),
    "no checksum": ("graphs.wrong_pieces", "an error"),
    "a name twice": ("graphs.export", "a name of its own each"),
    "an error of taking is dropped": ("graphs.export", "an error"),
    "other flags": ("graphs.import", "inputs, outputs and flags"),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("pieces") / "libpieces.so"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"]
    command = ["cc", *flags, "-shared", "-fPIC", "-fvisibility=hidden", f"-I{ROOT / 'include'}"]
    subprocess.run([*command, SOURCE, "-o", path], check=True)
    return path


def test_conforms_without_a_fault(library) -> None:
    report = check(library, "--quick", "--only=graphs", "--only=models", "--only=contract")
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])


@pytest.mark.parametrize("fault", FAULTS)
def test_finds_a_fault(library, monkeypatch, fault) -> None:
    monkeypatch.setenv("MXACC_PLANTED", fault)
    name, expected = FAULTS[fault]
    found = findings(check(library, "--quick", f"--only={name}"))
    assert list(found) == [name] and found[name][0]["expected"].startswith(expected)
