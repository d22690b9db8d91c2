"""What a process takes for an optimized model, beside what sol.memory has told before: a script.

It prints, for inference, a step of training and one in one plan, without and with a limit, the
bytes that were told, with those of torch's own parameters for inference, and the bytes that the
process had more at most.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import json
import sys

import torch
from torch import nn

from mx import _onednn, sol
from mx._mapped import Code
from mx.sol.frameworks.torch import _libraries


class Recurrent(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


def convolutional(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * width, 10),
    )  # fmt: skip


def transformer(width: int) -> nn.Module:
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True)
    return nn.Sequential(layer, nn.Linear(width, 10))


def perceptron(width: int) -> nn.Module:
    layers = [one for _ in range(3) for one in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(width, 10))


# How each is made, of which width it is measured, and the shape of its input but for the width.
MODELS = {
    "convolutional": (convolutional, 64, (32, 3, 80, 80)),
    "transformer": (transformer, 512, (16, 128, -1)),
    "lstm": (Recurrent, 512, (64, 64, -1)),
    "perceptron": (perceptron, 2048, (256, -1)),
}
SMALL = {"convolutional": (4, 3, 16, 16)}
MODES = ("inference", "training", "step")
# Models of which a step in one plan is measured under a limit, too: so much of what it takes.
LIMITED = {"convolutional": 0.85}
PR_SET_THP_DISABLE = 41  # as <linux/prctl.h> has it


def status(key: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


def settle() -> None:
    """Gives back what is free, and has the peak counted from here on."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def loss(y: torch.Tensor, _: None) -> torch.Tensor:
    return y.square().sum()


def infer(fast: nn.Module, x: torch.Tensor) -> None:
    with torch.no_grad():
        fast(x)


def train(fast: nn.Module, x: torch.Tensor) -> None:
    for one in fast.parameters():
        one.grad = None
    loss(fast(x), None).backward()


def measured(
    model: nn.Module, x: torch.Tensor, mode: str, limit: int | None = None
) -> tuple[int, int]:
    model.train(mode != "inference")
    own = sum(one.nbytes for one in model.parameters())
    settle()
    before = status("VmRSS")
    if mode == "step":
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
        step = sol.training_step(model, loss, optimizer, memory_limit=limit)
        told, run = step.memory(x, None).peak, functools.partial(step, x, None)
    else:
        fast = sol.optimize(model, x)
        told = sol.memory(fast, training=mode == "training").peak
        told += own if mode == "inference" else 0
        run = functools.partial(infer if mode == "inference" else train, fast, x)
    settle()
    for _ in range(2):
        run()
    return told, status("VmHWM") - before + own + x.nbytes


def main(name: str) -> None:
    # What of a page of 2 MiB lies beyond an array is none of its memory.
    assert ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
    make, width, (batch, *extents) = MODELS[name]
    _libraries._code = Code  # that of no library: given back it would hide what arrays take
    _onednn.load()
    small = SMALL.get(name) or (2, *(16 if n == -1 else 8 for n in extents))
    # So that libraries are loaded and threads are there, and the heap has holes of all of them.
    for mode in (*reversed(MODES), *MODES):
        measured(make(16), torch.randn(small), mode)
    shape = (batch, *(width if n == -1 else n for n in extents))
    model, x = make(width), torch.randn(shape)
    found = {mode: measured(model, x, mode) for mode in MODES}
    if name in LIMITED:
        limit = int(LIMITED[name] * found["step"][0])
        found["step with a limit"] = measured(model, x, "step", limit)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
