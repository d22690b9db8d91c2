"""Writes docs/benchmarks-models.md: what every comparison of whole models has printed.

`python -m benchmarks.compare.model_page [--smoke]` runs them one after another, each in a process
of its own; with --smoke only the smallest model, briefly, and nothing is written.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from datetime import datetime, timezone
from importlib import import_module
from pathlib import Path

from benchmarks.compare import environment

PAGE = Path("docs/benchmarks-models.md")
INTRODUCTION = """\
# Benchmarks of whole models

Written by `python -m benchmarks.compare.model_page`; do not edit.

The models are ResNet-50, MobileNetV2, BERT-base's encoder at 128 tokens, LeNet, an LSTM and a small
U-Net, with random weights, in float32, on two threads. A ratio is our time divided by the other's,
of medians of runs in turns: below 1 ours is faster.
"""
THREADS = 2
MACHINE = environment.of_models(THREADS)
# A heading, the module that measures it, and its options; then those of a smoke run.
SMALL = ("--model", "lenet", "--batch", "1")
SECTIONS = (
    ("Plans on the CPU", "models", ("--seconds", "2"), (*SMALL, "--seconds", "0.1")),
    ("From a file to the first answer", "model_processes", (), (*SMALL, "--rounds", "1")),
    ("Beside a busy neighbour", "model_neighbour", (), (*SMALL, "--seconds", "0.5")),
    ("Planning, by the number of nodes", "model_growth", (), ("--nodes", "10", "100")),
    ("Modules of torch", "sol", ("--batch", "1", "--seconds", "2"), (*SMALL, "--seconds", "0.1")),
    ("Through OpenVINO", "openvino", ("--seconds", "2"), (*SMALL, "--seconds", "0.1")),
)


def section(heading: str, module: str, options: tuple[str, ...]) -> str:
    """What a comparison is and has printed: tables as they are, its other lines as a list."""
    name = f"benchmarks.compare.{module}"
    command = [sys.executable, "-m", name, *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    about = (import_module(name).__doc__ or "").split("\n")[0]
    lines = [line for line in done.stdout.splitlines() if line and line != MACHINE]
    tables = "\n".join(line for line in lines if line.startswith("|"))
    others = "\n".join(f"- {line}" for line in lines if not line.startswith("|"))
    shown = " ".join(["python", *command[1:]])
    return "\n\n".join(
        part for part in (f"## {heading}", about, f"`{shown}`", tables, others) if part
    )


def main() -> None:
    """Writes the page, or prints the sections of a smoke run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--smoke", action="store_true")
    smoke = parser.parse_args().smoke
    made = []
    for heading, module, options, brief in SECTIONS:
        made.append(section(heading, module, brief if smoke else options))
        print(f"{made[-1]}\n", flush=True)
    if not smoke:
        date = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        PAGE.write_text("\n\n".join([INTRODUCTION.strip(), f"{date}; {MACHINE}", *made]) + "\n")


if __name__ == "__main__":
    main()
