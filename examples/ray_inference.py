"""Inference of a data set by actors of Ray Data, each with an optimized model of its own.

`pip install mxffi[graph] ray[data]`, then `python examples/ray_inference.py [ROWS]`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy

# Rows of a batch, and how many processes there are.
BATCH, ACTORS = 64, 2


def write_model(path: Path) -> None:
    """A classifier of 28 by 28 images as an ONNX file."""
    import onnx
    import onnx.parser
    from onnx import numpy_helper

    random = numpy.random.default_rng(0)
    text = """<ir_version: 10, opset_import: ["" : 20]>
    classifier (float[N,784] image) => (float[N,10] scores)
    <float[784,64] first, float[64,10] second> {
        hidden = MatMul (image, first)
        active = Relu (hidden)
        scores = MatMul (active, second)
    }"""
    model = onnx.parser.parse_model(text)
    del model.graph.initializer[:]
    kept = [one for one in model.graph.input if one.name == "image"]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    for name, shape in (("first", (784, 64)), ("second", (64, 10))):
        array = random.standard_normal(shape).astype("float32") / 28
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    onnx.save(model, path)


class Classifier:
    """What an actor is: made once in its process, then called with batches."""

    def __init__(self, path: str, threads: int) -> None:
        import mx
        from mx import sol

        mx.set_num_threads(threads)
        self.model = sol.optimize(path)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """The batch with the class of each row."""
        scores = self.model(numpy.ascontiguousarray(batch["data"]))
        return {"label": scores.argmax(1)}


def labels(path: str, images: numpy.ndarray, actors: int = ACTORS) -> numpy.ndarray:
    """The classes of all rows, in their order, computed by actors."""
    import ray

    # One more than actors take: what reads the rows needs one, too.
    ray.init(num_cpus=actors + 1, include_dashboard=False, log_to_driver=False)
    try:
        # Else rows come in the order in which actors are done with them.
        ray.data.DataContext.get_current().execution_options.preserve_order = True
        rows = ray.data.from_numpy(images)
        found = rows.map_batches(
            Classifier,
            fn_constructor_args=(path, 1),
            batch_size=BATCH,
            compute=ray.data.ActorPoolStrategy(size=actors),
            num_cpus=1,
        )
        return numpy.array([row["label"] for row in found.take_all()])
    finally:
        ray.shutdown()


def main() -> None:
    """Classifies rows by actors, and once more in this process."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    images = numpy.random.default_rng(1).random((count, 784), "float32")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "classifier.onnx"
        write_model(path)
        found = labels(str(path), images)
        here = Classifier(str(path), 2)({"data": images})["label"]
    print(f"{count} rows by {ACTORS} actors, {(found == here).mean():.0%} as here")


if __name__ == "__main__":
    main()
