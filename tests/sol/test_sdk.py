"""The example of a plugin: installed beside the project, listed, and used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "sol_plugin"
USES = ["framework: ArrayModel True", "pass: ['snake']", "backend: ['snake']", "layer: True",
        "gradient: True", "jit: True {'cc'}", "device: True"]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs Python where the plugin is installed, and gives what it prints."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    copy = tmp_path_factory.mktemp("source") / "sol_plugin"
    copy.mkdir()
    for path in PLUGIN.rglob("*"):
        if path.is_file() and path.suffix in (".py", ".c", ".toml", ".md"):
            target = copy / path.relative_to(PLUGIN)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(path.read_bytes())
    subprocess.run([*pip, "--target", str(folder), str(copy)], check=True, timeout=300)
    others = [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *others]),
        "MXNET_ACC_TRUSTED": "1",
        "TMPDIR": str(tmp_path_factory.mktemp("temporary")),
    }

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.temporary = Path(environment["TMPDIR"])
    return run


@pytest.mark.parametrize("path", sorted((PLUGIN / "sol_plugin").glob("*.py")), ids=lambda p: p.name)
def test_it_imports_nothing_private(path) -> None:
    assert not re.findall(r"^\s*(?:from|import) mx[\w.]*\._.*", path.read_text(), re.M)


def test_what_it_adds_is_listed(run) -> None:
    text = run("-m", "mx.sol")
    for line in (
        "  sklearn\n",
        "  blas           3 operators",
        "  plainacc ",
        "  snake          1 operators",
        "  cc             ",
        "  snake          The layer Snake, x + sin(x)^2: what it means, and its gradient.",
        "  snake          makes one Snake of x + sin(x) * sin(x)",
    ):
        assert line in text, text


def test_what_it_adds_works(run) -> None:
    assert run(str(PLUGIN / "use.py")).splitlines() == USES
    assert not list(run.temporary.glob("sol_plugin_*"))
