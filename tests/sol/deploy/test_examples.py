"""The programs of examples/deployed, in C, C++ and Python."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from .programs import run

torch = pytest.importorskip("torch")

Deploy = Callable[[str], Path]
FOLDER = Path(__file__).parents[3] / "examples/deployed"


@pytest.fixture(scope="module")
def image() -> str:
    """784 numbers."""
    return " ".join(map(str, numpy.random.default_rng(0).random(784).round(3)))


@pytest.fixture(scope="module")
def module() -> Any:
    """The example that deploys, as a module."""
    spec = importlib.util.spec_from_file_location("deploy_example", FOLDER / "deploy.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def scores(module: Any, image: str) -> numpy.ndarray:
    """What torch gives for the image."""
    pixels = torch.tensor([float(word) for word in image.split()]).reshape(1, 1, 28, 28)
    with torch.no_grad():
        found: numpy.ndarray = module.classifier()(pixels)[0].numpy()
    return found


@pytest.fixture(scope="module")
def deploy(module: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A function that has the example write a kind of library, and tells the folder."""

    @functools.cache
    def make(kind: str) -> Path:
        folder = tmp_path_factory.mktemp(kind)
        module.main(kind, str(folder))
        return folder

    return make


def check(text: str, scores: numpy.ndarray) -> None:
    rows = [line.split() for line in text.splitlines()]
    assert [int(digit) for digit, _ in rows] == list(range(10))
    numpy.testing.assert_allclose([float(score) for _, score in rows], scores, atol=2e-5)


@pytest.mark.parametrize("kind", ["source", "static", "shared"])
def test_cmake(
    deploy: Deploy, tmp_path: Path, image: str, scores: numpy.ndarray, kind: str
) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    written = deploy(kind)
    option = f"-DDIGITS_SOURCE={written}" if kind == "source" else f"-Ddigits_DIR={written}"
    run(["cmake", "-S", FOLDER, "-B", tmp_path / "build", option], tmp_path)
    run(["cmake", "--build", tmp_path / "build"], tmp_path)
    for program in ("classify_c", "classify_cc"):
        check(run([tmp_path / "build" / program], tmp_path, image), scores)


def test_too_few_numbers(deploy: Deploy, tmp_path: Path) -> None:
    library = deploy("static")
    flags = [f"-I{library}", library / "libdigits.a", "-lm", "-o", tmp_path / "classify"]
    run(["gcc", FOLDER / "classify.c", *flags], tmp_path)
    done = subprocess.run([tmp_path / "classify"], input="1 2", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "expected 784 numbers, got 2\n")


def test_wheel(deploy: Deploy, tmp_path: Path, image: str, scores: numpy.ndarray) -> None:
    (wheel,) = deploy("wheel").iterdir()
    installed = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    run([*pip, "--target", installed, wheel], tmp_path)
    folders = [str(installed), str(Path(numpy.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-I", "-c", _IMPORT, *folders, str(FOLDER / "classify.py")],
        input=image,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stderr
    check(done.stdout, scores)


# Executes a program with these folders alone to import from; then shows what rejects arguments.
_IMPORT = """
import runpy, sys
sys.path = [one for one in sys.path if "site-packages" not in one and "mxffi" not in one]
sys.path += sys.argv[1:3]
runpy.run_path(sys.argv[3])
assert "mx" not in sys.modules and "ffi" not in sys.modules
import digits, numpy
for array, kind in ((numpy.zeros((1, 1, 28, 27), "f"), ValueError), (numpy.zeros(3), TypeError)):
    try:
        digits.digits(array)
    except kind as error:
        assert "digits: " in str(error)
    else:
        raise AssertionError(kind)
"""


def test_is_small(deploy: Deploy) -> None:
    """All of a classifier, weights included, in 64 KB."""
    library = deploy("shared") / "libdigits.so"
    assert library.stat().st_size <= 64 * 1024
