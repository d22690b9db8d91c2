"""The example of inference with Ray Data."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import pytest

PATH = Path(__file__).resolve().parents[2] / "examples" / "ray_inference.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("ray_inference", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["ray_inference"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["ray_inference"]


@pytest.fixture
def model(tmp_path, example) -> str:
    example.write_model(tmp_path / "classifier.onnx")
    return str(tmp_path / "classifier.onnx")


def test_an_actor(example, model) -> None:
    import mx

    threads = mx.get_num_threads()
    images = numpy.random.default_rng(1).random((9, 784), "float32")
    try:
        actor = example.Classifier(model, 1)
        parts = [actor({"data": part})["label"] for part in numpy.array_split(images, 3)]
        numpy.testing.assert_array_equal(numpy.concatenate(parts), actor({"data": images})["label"])
    finally:
        mx.set_num_threads(threads)


@pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="missing: pip install ray[data]")
def test_ray() -> None:
    # Not in the folder of the test, as names of sockets may not be long. Ray would write a token to
    # the home folder, and tell its makers that it runs.
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        own = {"RAY_TMPDIR": folder, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
        command = [sys.executable, str(PATH), "200"]
        done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "200 rows by 2 actors, 100% as here"
