"""What a process takes for an optimized model, beside what sol.memory has told before: a script.

It prints, for inference and a step of training, the bytes that were told, with those of torch's own
parameters for inference, and the bytes that the process had more at most.
"""

from __future__ import annotations

import ctypes
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
MODES = {"inference": False, "training": True}
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


def run(fast: nn.Module, x: torch.Tensor, training: bool) -> None:
    if not training:
        with torch.no_grad():
            fast(x)
        return
    for one in fast.parameters():
        one.grad = None
    fast(x).square().sum().backward()


def measured(model: nn.Module, x: torch.Tensor, training: bool) -> tuple[int, int]:
    model.train(training)
    own = sum(one.nbytes for one in model.parameters())
    settle()
    before = status("VmRSS")
    fast = sol.optimize(model, x)
    told = sol.memory(fast, training=training).peak + (0 if training else own)
    settle()
    for _ in range(2):
        run(fast, x, training)
    return told, status("VmHWM") - before + own + x.nbytes


def main(name: str) -> None:
    # What of a page of 2 MiB lies beyond an array is none of its memory.
    assert ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
    make, width, (batch, *extents) = MODELS[name]
    _libraries._code = Code  # that of no library: given back it would hide what arrays take
    _onednn.load()
    small = SMALL.get(name) or (2, *(16 if n == -1 else 8 for n in extents))
    for training in MODES.values():  # so that libraries are loaded and threads are there
        measured(make(16), torch.randn(small), training)
    shape = (batch, *(width if n == -1 else n for n in extents))
    model, x = make(width), torch.randn(shape)
    print(json.dumps({key: measured(model, x, training) for key, training in MODES.items()}))


if __name__ == "__main__":
    main(sys.argv[1])
