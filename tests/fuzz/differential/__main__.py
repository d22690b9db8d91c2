"""Runs random programs, and prints each difference as a small script."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from .campaign import Campaign
from .processes import Campaigns, child


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.differential", description=__doc__)
    parser.add_argument("--statements", type=int, default=10000, help="how many are run")
    parser.add_argument("--seed", type=int, default=1, help="the same one gives the same programs")
    parser.add_argument("--processes", type=int, default=1, help="how many run them at a time")
    parser.add_argument("--accelerator", help="a library that mx.np's arrays are on")
    parser.add_argument("--library", default="mx.np", help="a module to run instead of mx.np")
    parser.add_argument("--most", type=int, default=20, help="kinds of differences to stop after")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    # What a process is told that runs a part of the programs.
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--trace", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Runs the command line; its exit status."""
    options = parse(arguments)
    if options.trace:
        run_part(options)
        return 0
    more = [f"--library={options.library}"]
    more += [f"--accelerator={options.accelerator}"] if options.accelerator else []
    campaigns = Campaigns(options.seed, options.processes, options.first, options.most, tuple(more))
    for text in campaigns.run(options.statements):
        print(text, flush=True)
    print(campaigns)
    return 1 if campaigns.totals["differences"] else 0


def run_part(options: argparse.Namespace) -> None:
    """Runs every so manyth program and tells what comes of it."""
    import mx

    if options.accelerator:
        mx.load_acc(options.accelerator).__enter__()
    library = importlib.import_module(options.library)
    campaign = Campaign(library, options.seed, options.first, options.step)
    child(campaign, options.statements, options.most, options.trace)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
