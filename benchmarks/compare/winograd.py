"""Generated convolutions by Winograd against oneDNN's direct ones and ours, in turns.

`python -m benchmarks.compare.winograd [--batch N] [--seconds S] [--threads N]` prints a row for
each layer of 3 x 3 of ResNet-50 and the U-Net: microseconds of the kernels alone, of images whose
channels are last, and errors, of root mean squares beside results in float64, divided by those of
torch's convolutions.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy

from benchmarks.compare import environment

# Channels, height and width, results.
LAYERS = [
    (64, 56, 64), (128, 28, 128), (256, 14, 256), (512, 7, 512),
    (16, 128, 16), (16, 64, 32), (32, 64, 32), (32, 32, 64), (64, 32, 64), (64, 16, 128),
    (128, 16, 128), (128, 32, 64), (64, 64, 32), (32, 128, 16),
]  # fmt: skip
_SAME = {"pads": [1, 1, 1, 1]}


def plans(shape: Sequence[int], weights: numpy.ndarray) -> dict[str, Any]:
    """Compiled plans of a convolution and a Relu, from images (N, H, W, C) to such."""
    from mx.graph.lowering import ONEDNN
    from mx.graph.lowering._images import seen_last
    from mx.graph.lowering._lowering import Lowering
    from mx.graph.lowering._value import Follower, Followers
    from mx.graph.lowering.onednn._backend import Blocked, api
    from mx.sol.backends.gen import GEN, Spec
    from mx.sol.backends.gen._link import add_step
    from mx.sol.backends.gen.products import Step
    from mx.sol.backends.gen.products._inputs import Positions
    from mx.sol.backends.gen.products._last import LastConvolution
    from mx.sol.backends.gen.products._window import window_of
    from mx.sol.backends.gen.products._winograd import WinogradConvolution

    n, high, wide, channels = shape
    first = (n, channels, high, wide)
    to = Lowering()
    array = to.input(shape, "float32")
    last = Blocked(api().Layout.plain(first)).channels_last(first)
    image = replace(to.seen(array, first), layout=last)
    to.followers = Followers([Follower("Relu", 14, (None,), 0, {})])
    (made,) = ONEDNN.lower(to, "Conv", 11, [image, to.constant(weights)], _SAME)
    if made.layout != last.channels_last(made.shape):
        made = last.channels_last(made.shape).of(to, made)
    found = {"onednn": to.build([seen_last(to, made)])}
    window, (_, results, *spatial) = window_of(Spec(first, "float32"), weights.shape, _SAME)
    for name, kind in (("direct", LastConvolution), ("winograd", WinogradConvolution)):
        output = Spec((n, *spatial, results), "float32")
        given: Any = (GEN.target, window, weights, output, [Step("Relu")], [], Positions((0,), 1))
        to = Lowering()
        kernel = kind(*given).kernel()
        array = to.input(shape, "float32")
        found[name] = to.build(add_step(to, GEN, GEN.target, kernel, name, [array]))
    return found


def measure(layer: Sequence[int], batch: int, seconds: float) -> tuple[dict[str, float], float]:
    """Microseconds, the least of each, and the error beside torch's."""
    import torch

    import mx

    channels, size, results = layer
    random = numpy.random.default_rng(0)
    weights = random.standard_normal((results, channels, 3, 3)).astype("float32")
    x = random.standard_normal((batch, size, size, channels)).astype("float32")
    found = plans(x.shape, weights)
    arrays = [mx.np.array(x)]
    best = dict.fromkeys(found, float("inf"))
    end = perf_counter() + seconds
    while perf_counter() < end:
        for name, plan in found.items():
            for _ in range(3):
                _, times = plan.profile(arrays)
                best[name] = min(best[name], sum(times) / 1e3)
    image, filters = torch.from_numpy(x.transpose(0, 3, 1, 2).copy()), torch.from_numpy(weights)
    convolved = torch.nn.functional.conv2d
    wanted = torch.relu(convolved(image.double(), filters.double(), padding=1)).numpy()
    own = torch.relu(convolved(image, filters, padding=1)).numpy() - wanted
    ((ours,), _) = found["winograd"].profile(arrays)
    error = ours.asnumpy().transpose(0, 3, 1, 2) - wanted
    return best, float(numpy.sqrt(numpy.mean(error**2) / numpy.mean(own**2)))


def main() -> None:
    """Prints the table, and what it was measured on."""
    import mx

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each layer")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    mx.set_num_threads(options.threads)
    print(
        "| channels, size, results | oneDNN, us | direct | winograd | / oneDNN | error / torch's |"
    )
    print("|---|---|---|---|---|---|")
    for layer in LAYERS:
        times, error = measure(layer, options.batch, options.seconds)
        cells = [f"{times[name]:.0f}" for name in ("onednn", "direct", "winograd")]
        ratio = times["winograd"] / times["onednn"]
        what = f"{layer[0]}, {layer[1]}x{layer[1]}, {layer[2]}"
        print(f"| {what} | {' | '.join(cells)} | {ratio:.2f} | {error:.2f} |", flush=True)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
