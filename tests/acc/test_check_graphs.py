"""What mxacc-check finds in libraries that execute graphs with branches."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mxacc_check.chains import BINARY, UNARY
from mxacc_check.random_nets import random_net, random_parts

from .conftest import ROOT
from .test_check import broken, check, findings

SOURCE = Path(__file__).with_name("planted") / "branches.c"
GROUPS = ("--only=graphs", "--only=models", "--only=contract", "--only=leaks")


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("branches") / "libbranches.so"
    warnings = ["-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-unused-function"]
    command = ["cc", "-std=c99", "-O1", *warnings, "-Werror", "-shared", "-fPIC"]
    command += ["-fvisibility=hidden", f"-I{ROOT / 'include'}", SOURCE, "-o", path]
    subprocess.run(command, check=True)
    return path


def test_conforms_without_a_fault(library) -> None:
    report = check(library, "--quick", *GROUPS)
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])


@pytest.mark.parametrize(
    "fault", ["slots are free after the first use", "outputs in the reverse order"]
)
def test_only_random_graphs_find(library, monkeypatch, fault) -> None:
    """And one of them, by the seed that the finding has."""
    monkeypatch.setenv("MXACC_PLANTED", fault)
    found = findings(check(library, "--quick", *GROUPS))
    assert list(found) == ["graphs.random"]
    named = re.match(r"seed (\d+), part \d+: v0 = ", found["graphs.random"][0]["at"])
    assert named
    again = check(library, "--quick", "--only=graphs.random", f"--seed={named[1]}")
    assert findings(again)["graphs.random"][0] == found["graphs.random"][0]


# The fault, the check that finds it, and what that was expecting.
UPDATES = {
    "weights are never updated": ("graphs.updates", "[["),
    "weights by their order": ("graphs.updates", "[["),
    "only the first weight": ("graphs.updates", "[["),
    "weights of any name": ("graphs.wrong_updates", "an error"),
    "weights of any type": ("graphs.wrong_updates", "an error"),
}


@pytest.mark.parametrize("fault", UPDATES)
def test_finds_faults_of_updates(library, monkeypatch, fault) -> None:
    monkeypatch.setenv("MXACC_PLANTED", fault)
    name, expected = UPDATES[fault]
    found = findings(check(library, "--quick", f"--only={name}"))
    assert list(found) == [name] and found[name][0]["expected"].startswith(expected)


def test_a_library_that_takes_chains_alone(accelerators) -> None:
    """Parts that it does not take are no findings."""
    report = check(accelerators / "libmymodel.so", "--quick", "--only=graphs.random")
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])


@pytest.mark.parametrize("operators", [[*UNARY, *BINARY], ["MatMul"], ["Mul"], ["Relu"]])
@pytest.mark.parametrize("seed", range(25))
def test_parts_give_what_the_whole_does(operators, seed) -> None:
    net, inputs = random_net(seed, operators)
    again, _ = random_net(seed, operators)
    assert again.document == net.document
    expected = net.values(inputs)
    used = {value for _, taken in net.nodes for value in taken}
    # Nothing is for nothing.
    assert used.union(net.outputs) == set(range(len(expected)))
    done = 0
    for part in random_parts(seed, net):
        found = part.net.values([expected[value] for value in part.inputs])
        for value, output in zip(part.outputs, part.net.outputs, strict=True):
            np.testing.assert_array_equal(found[output], expected[value])
        done += len(part.net.nodes)
    assert done == len(net.nodes)
