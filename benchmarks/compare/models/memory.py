"""Peak memory that `sol.memory` tells before the first run, against what processes take.

`python -m benchmarks.compare.models.memory [--model NAME] [--batch N] [--threads N]` prints a row
for each model and batch: MiB that are told, and those that a process of its own has more at most
(VmHWM of Linux, without pages of files, which are the code of libraries) than before it optimized
the model, by what is told; of inference, and of two steps of training by torch's stochastic
gradient descent, from gradients of outputs that are there before. What is told has the weights as
plans have them, and for inference torch's own are added. The last column has steps of
`sol.training_step`, loss included, by what is told of training in two plans, as it gives gradients
up as soon as they are used. Pages of 2 MiB are off, as what of one lies beyond an
array is none of its memory; the same model was there before in each process, so that libraries have
what they make once for all, and gave it back, MKL its buffers, too.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.compare import environment
from benchmarks.compare.models.options import parser_of

INFERENCE, TRAINING, STEP = "inference", "training", "sol step"
MODES = (INFERENCE, TRAINING, STEP)
RUNS = 2
# Of which the last is looked at: the second still has torch and Python make some tables longer.
MODELS = 3
MIB = 1 << 20
PR_SET_THP_DISABLE = 41  # as <linux/prctl.h> has it


def status(key: str) -> int:
    """Bytes of this process, by a key of Linux."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


def settle() -> None:
    """Gives back what is free, and has the peak counted from here on."""
    import torch

    gc.collect()
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
    give_back = getattr(library, "mkl_serv_free_buffers", None)  # where it has MKL
    if give_back is not None:
        give_back()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def run_of(
    mode: str, model: Any, args: Any, labels: Any, loss: Any, gradient: Any
) -> tuple[int, Callable[[], Any]]:
    """What is told of a model, and one run of it; `gradient` is that of its output."""
    import torch

    from mx import sol

    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    if mode == STEP:
        fast = sol.optimize(model, *args)
        told = sol.memory(fast, training=True).peak
        del fast
        whole = sol.training_step(model, loss, optimizer)
        return told, lambda: whole(*args, labels)
    fast = sol.optimize(model, *args)
    told = sol.memory(fast, training=mode == TRAINING).peak
    if mode == INFERENCE:
        own = sum(one.nbytes for one in model.parameters())

        def infer() -> None:
            with torch.no_grad():
                fast(*args)

        return told + own, infer

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        fast(*args).backward(gradient)
        optimizer.step()

    return told, step


def taken(mode: str, model: Any, args: Any, labels: Any, loss: Any) -> tuple[int, int]:
    """Bytes that are told, and those that this process has more at most."""
    import torch

    model.train(mode != INFERENCE)
    given = sum(one.nbytes for one in (*model.parameters(), *args))
    with torch.no_grad():
        gradient = torch.ones_like(model(*args))
    settle()
    before, files = status("VmRSS"), status("RssFile")
    told, run = run_of(mode, model, args, labels, loss, gradient)
    settle()
    for _ in range(RUNS):
        run()
    return told, status("VmHWM") - before + given - (status("RssFile") - files)


def alone(mode: str, name: str, batch: int, threads: int) -> tuple[int, int]:
    """What `taken` finds in this process, whose libraries and threads are there before."""
    import torch

    import mx
    from benchmarks.models.training import TRAINED
    from mx import _onednn
    from mx._mapped import Code
    from mx.sol.frameworks.torch import _libraries

    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    torch.set_num_threads(threads)
    mx.set_num_threads(threads)
    _libraries._code = Code  # type: ignore[assignment]  # that of no library: given back it would hide what arrays take
    _onednn.load()
    trained = TRAINED[name]
    found = (0, 0)
    for _ in range(MODELS):
        model, args = trained.make(), trained.example(batch)
        with torch.no_grad():
            labels = trained.labels(model.eval()(*trained.example(1))).repeat_interleave(batch, 0)
        found = taken(mode, model, args, labels, trained.loss)
        del model, args, labels
    return found


def in_process(mode: str, name: str, batch: int, threads: int) -> tuple[int, int] | None:
    """The same in a process of its own; None where that fails."""
    command = [sys.executable, "-m", "benchmarks.compare.models.memory", "--alone", mode]
    command += ["--model", name, "--batch", str(batch), "--threads", str(threads)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "MXNET_CACHE": "0"}
    )
    if done.returncode != 0:
        print(f"{name}, batch {batch}, {mode}: {done.stderr.splitlines()[-1:]}", file=sys.stderr)
        return None
    told, used = json.loads(done.stdout.splitlines()[-1])
    return told, used


def main() -> None:
    """Prints the table, and what it was measured on."""
    from benchmarks.models.training import TRAINED

    parser = parser_of(__doc__, TRAINED)
    parser.add_argument("--alone", choices=MODES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    models, batches = options.model or list(TRAINED), options.batch or [1, 16]
    if options.alone:
        print(json.dumps(alone(options.alone, models[0], batches[0], options.threads)))
        return
    heads = ["model", "batch"]
    for mode in (INFERENCE, TRAINING):
        heads += [f"MiB told of {mode}", "taken", "taken / told"]
    print(f"| {' | '.join([*heads, f'{STEP} / told'])} |\n{'|---' * (len(heads) + 1)}|", flush=True)
    for name in models:
        for batch in batches:
            cells = [name, str(batch)]
            for mode in MODES:
                told, used = in_process(mode, name, batch, options.threads) or (math.nan, math.nan)
                if mode != STEP:
                    cells += [f"{told / MIB:.1f}", f"{used / MIB:.1f}"]
                cells.append(f"{used / told:.3f}")
            print(f"| {' | '.join(cells)} |", flush=True)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
