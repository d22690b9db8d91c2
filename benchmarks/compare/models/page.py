"""Writes docs/benchmarks-models.md: what every comparison of whole models has printed.

`python -m benchmarks.compare.models.page [--only HEADING] [--smoke]` runs them one after another,
each in a process of its own, and leaves the sections of others on the page; with --smoke only the
smallest model is measured, briefly, and nothing is written.
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

Written by `python -m benchmarks.compare.models.page`; do not edit.

The models are ResNet-50, MobileNetV2, BERT-base's encoder at 128 tokens, LeNet, an LSTM and a small
U-Net, as modules of torch also one like EfficientNet, a decoder like GPT-2 at 128 tokens and dense
layers; with random weights, in float32, on two threads where nothing else is said. A ratio is our
time divided by the other's, of medians of runs in turns: below 1 ours is faster.
"""
THREADS = 2
MACHINE = environment.of_models(THREADS)
# A heading, the module that measures it, and its options; then those of a smoke run.
SMALL = ("--model", "lenet", "--batch", "1")
SECTIONS = (
    ("Plans on the CPU", "models.runtimes", ("--seconds", "1"), (*SMALL, "--seconds", "0.1")),
    ("From a file to the first answer", "models.processes", (), (*SMALL, "--rounds", "1")),
    ("Beside a busy neighbour", "models.neighbour", (), (*SMALL, "--seconds", "0.5")),
    ("Planning, by the number of nodes", "models.growth", (), ("--nodes", "10", "100")),
    (
        "Modules of torch",
        "models.sol",
        ("--seconds", "1"),
        (*SMALL, "--seconds", "0.1"),
    ),
    (
        "Modules of torch, tuned",
        "models.sol",
        ("--seconds", "1", "--tune", "5"),
        ("--model", "mlp", "--batch", "1", "--seconds", "0.1", "--tune", "1"),
    ),
    (
        "Starts of modules of torch",
        "models.sol_starts",
        ("--tuning", "5"),
        ("--model", "lenet", "--rounds", "1"),
    ),
    (
        "Training of modules of torch",
        "models.training",
        ("--batch", "1", "--seconds", "1"),
        ("--model", "mlp", "--batch", "1", "--seconds", "0.1"),
    ),
    (
        "Training of modules of torch at batch 16",
        "models.training",
        ("--batch", "16", "--seconds", "1"),
        ("--model", "mlp", "--batch", "1", "--seconds", "0.1"),
    ),
    (
        "Memory of modules of torch",
        "models.memory",
        ("--batch", "16"),
        ("--model", "mlp", "--batch", "1"),
    ),
    (
        "One model from three frameworks",
        "models.frameworks",
        ("--seconds", "4", "--processes", "3"),
        ("--batch", "1", "--size", "32", "--seconds", "0.1", "--processes", "1"),
    ),
    (
        "Deployed as C",
        "models.deployed",
        ("--threads", "2", "--batch", "1", "--batch", "16", "--seconds", "1"),
        ("--model", "mlp", "--threads", "2", "--batch", "1", "--seconds", "0.1"),
    ),
    ("Generated code", "gen", (), ("--case", "gelu", "--seconds", "0.1")),
    (
        "Through OpenVINO",
        "models.openvino",
        ("--seconds", "1"),
        (*SMALL, "--seconds", "0.1"),
    ),
    ("The second start", "models.starts", (), (*SMALL, "--rounds", "1")),
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
    date = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    made = (f"## {heading}", about, f"`{shown}`, {date}; {MACHINE}", tables, others)
    return "\n\n".join(part for part in made if part)


def write(heading: str, text: str) -> None:
    """Puts a section into the page, in place of the one that it has."""
    before = PAGE.read_text(encoding="utf-8").split("\n## ")[1:] if PAGE.exists() else []
    sections = {part.split("\n")[0]: f"## {part.strip()}" for part in before} | {heading: text}
    ordered = [sections[one] for one, *_ in SECTIONS if one in sections]
    parts = [INTRODUCTION.strip(), *ordered]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def main() -> None:
    """Writes the page, or prints the sections of a smoke run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", choices=[heading for heading, *_ in SECTIONS])
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    for heading, module, whole, brief in SECTIONS:
        if options.only not in (None, heading):
            continue
        made = section(heading, module, brief if options.smoke else whole)
        print(f"{made}\n", flush=True)
        if not options.smoke:
            write(heading, made)


if __name__ == "__main__":
    main()
