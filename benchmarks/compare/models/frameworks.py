"""One model written in torch, Keras and ONNX, optimized by `mx.sol`, in turns.

`python -m benchmarks.compare.models.frameworks [--batch N] [--seconds S] [--threads N] [--size N]
[--processes N]` prints a table: milliseconds of a call of ResNet-50 read from torch and called in
torch, and its time divided by that of the same weights read from elsewhere, or called elsewhere;
torch and TensorFlow themselves are beside them. Ratios near 1 say that it does not matter where a
model comes from. Each call looks for weights that have been written, as by default.

The rounds are those of several processes: where memory lies makes one plan up to 4% faster than
another of the same kernels for as long as a process lives.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from benchmarks.compare import environment
from benchmarks.compare.models.options import parser_of
from benchmarks.compare.models.runtimes import (
    Contestant,
    Row,
    error_of,
    made,
    row_of,
    saved,
    text,
    timed,
)
from benchmarks.compare.models.turns import Turns, in_turns

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
OURS = "torch"


def keras_resnet50(module: Any) -> Any:
    """The ResNet-50 of benchmarks/models/modules.py in Keras, channels last, with its weights."""
    import keras
    import torch
    from keras import layers

    epsilon = 1e-5
    kernels: list[Any] = []

    def conv(x: Any, source: Any, act: bool = True) -> Any:
        """Convolution, batch normalization and, if wanted, activation, as one of torch."""
        one, norm = source[0], source[1]
        if one.padding[0]:
            x = layers.ZeroPadding2D(one.padding)(x)
        kernel = layers.Conv2D(
            one.out_channels, one.kernel_size, strides=one.stride, use_bias=False
        )
        batch_norm = layers.BatchNormalization(epsilon=epsilon)
        x = batch_norm(kernel(x))
        kernels.append((kernel, [one.weight.permute(2, 3, 1, 0)]))
        kernels.append((batch_norm, [norm.weight, norm.bias, norm.running_mean, norm.running_var]))
        return layers.ReLU()(x) if act else x

    given = x = keras.Input((None, None, 3))
    stem, _, *blocks, _, _, head = module
    x = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(conv(x, stem)))
    for block in blocks:
        has_shortcut = not isinstance(block.shortcut, torch.nn.Identity)
        shortcut = conv(x, block.shortcut, act=False) if has_shortcut else x
        body = conv(conv(x, block.body[0]), block.body[1])
        x = layers.ReLU()(layers.Add()([conv(body, block.body[2], act=False), shortcut]))
    dense = layers.Dense(head.out_features)
    model = keras.Model(given, dense(layers.GlobalAveragePooling2D()(x)))
    kernels.append((dense, [head.weight.T, head.bias]))
    for layer, tensors in kernels:
        layer.set_weights([tensor.detach().numpy() for tensor in tensors])
    return model


def contestants(batch: int, threads: int, size: int) -> list[Contestant]:
    """torch itself first, then models of all sources and in all targets, then TensorFlow."""
    import tensorflow as tf
    import torch

    import mx
    from mx import sol

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    module, _ = made("resnet50", batch, threads)
    args = (torch.randn(batch, 3, size, size),)
    image = args[0].numpy()
    last = numpy.ascontiguousarray(image.transpose(0, 2, 3, 1))
    model = keras_resnet50(module)
    file = saved(mx.importers.torch.load(module, args))
    eager = tf.function(lambda x: model(x, training=False))

    def in_torch(one: Any) -> Callable[[], Sequence[Any]]:
        def run() -> Sequence[Any]:
            with torch.inference_mode():
                return [one(*args)]

        return run

    def on(one: Any, given: Any) -> Callable[[], Sequence[Any]]:
        return lambda: [one(given)]

    def somewhere(source: Any, given: Any, framework: str) -> Callable[[], Sequence[Any]]:
        return on(sol.optimize(source, given, framework=framework), given)

    first, other = tf.constant(image), tf.constant(last)
    makers: dict[str, Callable[[], Callable[[], Sequence[Any]]]] = {
        "torch eager": lambda: in_torch(module),
        OURS: lambda: in_torch(sol.optimize(module, *args)),
        "torch in NumPy": lambda: on(sol.optimize(module, *args, framework="numpy"), image),
        "torch in TensorFlow": lambda: on(
            sol.optimize(module, *args, framework="tensorflow"), first
        ),
        "ONNX in NumPy": lambda: on(sol.optimize(file, image), image),
        "ONNX in torch": lambda: in_torch(sol.optimize(file, image, framework="torch")),
        "Keras in NumPy": lambda: somewhere(model, last, "numpy"),
        "Keras": lambda: somewhere(model, other, "keras"),
        "tf.function": lambda: on(eager, other),
    }
    return [timed(maker, name) for name, maker in makers.items()]


def alone(batch: int, threads: int, size: int, seconds: float) -> dict[str, Any]:
    """What is measured in this process."""
    runners = contestants(batch, threads, size)
    for one in runners:
        one.run()
    for thread in threading.enumerate():
        if thread.name == "mx compiles":  # what looks at variables, once on each machine
            thread.join()
    return {
        "error": error_of(runners, OURS),
        "prepare": {one.name: one.prepare_seconds for one in runners},
        "blocks": in_turns({one.name: one.run for one in runners}, seconds).blocks,
    }


def measure(batch: int, options: argparse.Namespace) -> Row:
    """The rounds of all processes, and of the first one the seconds to the first answers."""
    command = [sys.executable, "-m", "benchmarks.compare.models.frameworks", "--alone"]
    for name, value in {**vars(options), "batch": batch}.items():
        if name not in ("alone", "processes"):
            command += [f"--{name}", str(value)]
    found = []
    for _ in range(options.processes):
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    first, error = found[0], max(one["error"] for one in found)
    blocks = {name: [s for one in found for s in one["blocks"][name]] for name in first["blocks"]}
    return row_of("resnet50", batch, Turns(blocks), first["prepare"], OURS, error)


def main() -> None:
    """Prints the table, and what it was measured on."""
    parser = parser_of(__doc__)
    parser.add_argument("--size", type=int, default=224, help="of the images")
    parser.add_argument("--processes", type=int, default=3, help="one after the other")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    batches = options.batch or (1, 16)
    if options.alone:
        print(json.dumps(alone(batches[0], options.threads, options.size, options.seconds)))
        return
    rows = []
    for batch in batches:
        rows.append(measure(batch, options))
        first = ", ".join(f"{key} {value:.2f} s" for key, value in rows[-1].prepare.items())
        print(f"resnet50, batch {batch}: first answer: {first}", flush=True)
    print(f"\n{text(rows, OURS)}\n")
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
