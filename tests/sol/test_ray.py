"""The example of inference with Ray Data; without Ray what an actor does is tested alone."""

from __future__ import annotations

import importlib.util
import sys
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
def test_ray(example, model) -> None:
    images = numpy.random.default_rng(1).random((200, 784), "float32")
    found = example.labels(model, images)
    wanted = example.Classifier(model, 2)({"data": images})["label"]
    numpy.testing.assert_array_equal(numpy.sort(found), numpy.sort(wanted))
