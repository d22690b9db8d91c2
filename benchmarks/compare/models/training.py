"""Steps of training by `mx.sol` against torch, eager and compiled, in one process and in turns.

`python -m benchmarks.compare.models.training [--model NAME] [--batch N] [--seconds S] [--threads
N]` prints a row for each model and batch: milliseconds of a step, which is forward, loss, backward
and stochastic gradient descent with momentum, by `sol.optimize` with torch's loss and optimizer,
and by `sol.training_step`, which has all of a step in one plan; ratios, the time of each divided by
the peer's, of medians; and MiB of memory at most (VmHWM of Linux) that a process of its own took
for a few steps. The models and losses are those of benchmarks/models/training.py. The column of
losses has the largest difference between ours and torch's within the first steps from the same
weights. Where a step takes seconds, as of a batch of 16, few are timed: they vary little.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.compare import environment
from benchmarks.compare.models.options import parser_of
from benchmarks.compare.models.processes import peak
from benchmarks.compare.models.turns import Turns, in_turns

EAGER, OURS, STEP, COMPILED = "torch eager", "sol", "sol step", "torch.compile"
CONTESTANTS = (EAGER, OURS, STEP, COMPILED)
STEPS = 3
# The second is the first that has all the memory of the optimizer from its beginning.
STEPS_FOR_MEMORY = 2
# So small that weights stay about what they are: of losses that are 0 after a few steps the
# gradients are subnormal numbers, and it is those that would be timed.
RATE = 1e-6

Step = Callable[[], float]


@dataclass
class Row:
    """Seconds of a step and MiB at most, by contestant; how far losses are apart."""

    model: str
    batch: int
    turns: Turns
    memory: dict[str, float] = field(default_factory=dict)
    difference: float = math.nan


def step_of(contestant: str, name: str, batch: int, threads: int) -> Step:
    """One step of training from the same weights each time, which returns the loss."""
    import torch

    import mx
    from benchmarks.models.training import TRAINED
    from mx import sol

    torch.set_num_threads(threads)
    mx.set_num_threads(threads)
    trained = TRAINED[name]
    torch.manual_seed(0)
    model, args = trained.make().train(), trained.example(batch)
    with torch.no_grad():
        labels = trained.labels(model.eval()(*args))
    model.train()
    if contestant == STEP:
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9)
        whole = sol.training_step(model, trained.loss, optimizer)
        return lambda: float(whole(*args, labels))
    run: Any = model
    if contestant == OURS:
        run = sol.optimize(model, *args)
    elif contestant == COMPILED:
        torch.compiler.reset()  # it stops compiling after eight models of one process otherwise
        run = torch.compile(model)
    optimizer = torch.optim.SGD(run.parameters(), lr=RATE, momentum=0.9)

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = trained.loss(run(*args), labels)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def measure(name: str, batch: int, seconds: float, threads: int, notes: set[str]) -> Row:
    """Blocks of all contestants in turns, and the median of each."""
    steps: dict[str, Step] = {}
    losses: dict[str, list[float]] = {}
    for contestant in CONTESTANTS:
        try:
            step = step_of(contestant, name, batch, threads)
            losses[contestant] = [step() for _ in range(STEPS)]
            steps[contestant] = step
        except Exception as error:
            notes.add(f"{contestant} fails on {name}: {(str(error).splitlines() or [''])[0]}")
    row = Row(name, batch, in_turns(steps, seconds))
    if OURS in losses and EAGER in losses:
        pairs = zip(losses[OURS], losses[EAGER], strict=True)
        row.difference = max(abs(ours - theirs) for ours, theirs in pairs)
    return row


def memory_of(contestant: str, row: Row, threads: int) -> float:
    """MiB that a process takes at most for a few steps; NaN where it fails."""
    command = [sys.executable, "-m", "benchmarks.compare.models.training", "--alone", contestant]
    command += ["--model", row.model, "--batch", str(row.batch), "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else math.nan


def text(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown, with geometric means of the ratios."""
    pairs = [(ours, peer) for ours in (OURS, STEP) for peer in (EAGER, COMPILED)]
    heads = [f"{one}, ms" for one in (OURS, STEP)]
    heads += [f"{ours} / {peer}" for ours, peer in pairs]
    heads += [f"MiB of {name}" for name in CONTESTANTS]
    lines = [f"| model | batch | {' | '.join(heads)} | losses |", "|---" * (len(heads) + 3) + "|"]
    ratios: dict[tuple[str, str], list[float]] = {pair: [] for pair in pairs}
    for row in rows:
        seconds = row.turns.seconds()
        cells = [f"{1e3 * seconds[one]:.2f}" if one in seconds else "" for one in (OURS, STEP)]
        for (ours, peer), found in ratios.items():
            if ours in seconds and peer in seconds:
                found.append(row.turns.ratio(ours, peer))
                cells.append(f"{found[-1]:.2f}")
            else:
                cells.append("")
        cells += [f"{row.memory.get(key, math.nan):.0f}" for key in CONTESTANTS]
        lines.append(f"| {row.model} | {row.batch} | {' | '.join(cells)} | {row.difference:.0e} |")
    means = [
        f"{statistics.geometric_mean(found):.2f}" if found else "" for found in ratios.values()
    ]
    lines.append(f"| geometric mean | | | | {' | '.join(means)} |" + " |" * len(CONTESTANTS) + " |")
    return "\n".join(lines)


def main() -> None:
    """Prints the table, and what it was measured on."""
    from benchmarks.models.training import TRAINED

    parser = parser_of(__doc__, TRAINED)
    parser.add_argument("--memory", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--alone", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    models, batches = options.model or list(TRAINED), options.batch or [1, 16]
    if options.alone:
        step = step_of(options.alone, models[0], batches[0], options.threads)
        for _ in range(STEPS_FOR_MEMORY):
            step()
        print(json.dumps(peak()))
        return
    notes: set[str] = set()
    rows: list[Row] = []
    for name in models:
        for batch in batches:
            row = measure(name, batch, options.seconds, options.threads, notes)
            medians = row.turns.seconds()
            for contestant in medians if options.memory else ():
                row.memory[contestant] = memory_of(contestant, row, options.threads)
            rows.append(row)
            said = ", ".join(f"{key} {1e3 * value:.2f} ms" for key, value in medians.items())
            print(f"{name}, batch {batch}: {said}", flush=True)
    print(f"\n{text(rows)}\n")
    for note in sorted(notes):
        print(note)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
