"""Writes docs/images/partition.svg: where the nodes of LeNet run on a device without Gemm.

    make -C accelerators refacc && python -m tools.write_picture

The device is refacc, told to take fewer operators than it has, so that the CPU has something left.
It is the LeNet that the benchmarks measure, drawn as `python -m mx explain lenet.onnx --ctx LIBRARY
--svg FILE` does.
"""

from __future__ import annotations

from pathlib import Path

import mx
from benchmarks import models

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "partition.svg"


def picture(ctx: mx.Context) -> str:
    """LeNet with the colors of where its nodes run."""
    ctx.configure(nodes="Conv,MaxPool,Relu")
    graph = models.lenet()
    graph.infer({"data": (1, 1, 28, 28)})
    return graph.picture(mx.graph.explain(graph, ctx).labels())


if __name__ == "__main__":
    library = ROOT / "build" / "accelerators" / "librefacc.so"
    PICTURE.write_text(picture(mx.load_acc(library)), encoding="utf-8")
