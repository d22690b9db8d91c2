"""Runs random programs, and prints each difference as a small script."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .execute import Difference, Runner, run
from .shrink import Program, script, shrink
from .statements import Writer

STATEMENTS_PER_PROGRAM = 25


@dataclass
class Campaign:
    """Programs by a seed, and what they found: one difference of each signature."""

    library: Any
    seed: int
    trace: Path | None = None
    statements: int = 0
    programs: int = 0
    differences: int = 0
    found: dict[tuple[str, ...], str] = field(default_factory=dict)
    excused: dict[str, int] = field(default_factory=dict)

    def run(self, statements: int, most: int = 20) -> Iterator[str]:
        """Runs statements until there are so many signatures; gives the scripts of these."""
        while self.statements < statements and len(self.found) < most:
            program, difference = self.one_program(statements - self.statements)
            self.programs += 1
            if difference:
                self.differences += 1
                if difference.signature not in self.found:
                    self.found[difference.signature] = self.shrunk(program, difference)
                    yield self.found[difference.signature]

    def one_program(self, most: int) -> tuple[Program, Difference | None]:
        """The next program, up to its first difference."""
        rng = random.Random(f"{self.seed}, {self.programs}")
        runner, program = Runner(self.library), Program()
        writer = Writer(rng, {})
        difference = None
        while difference is None and len(program) < min(STATEMENTS_PER_PROGRAM, most):
            writer.arrays = runner.arrays()
            program.append(writer.statement())
            if self.trace:
                self.trace.write_text("\n".join(program) + "\n")
            difference = runner.step(program[-1])
        self.statements += len(program)
        for reason, count in runner.excused.items():
            self.excused[reason] = self.excused.get(reason, 0) + count
        return program, difference

    def shrunk(self, program: Program, difference: Difference) -> str:
        """The script of a program, made small."""
        small = shrink(program, self.library, difference.signature)
        return script(small, run(small, self.library) or difference)

    def __str__(self) -> str:
        known = "".join(
            f"\n  {count} times: {text}" for text, count in sorted(self.excused.items())
        )
        return (
            f"{self.statements} statements in {self.programs} programs of seed {self.seed}: "
            f"{self.differences} differences of {len(self.found)} kinds; "
            f"known ones:{known or ' none'}"
        )


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.differential", description=__doc__)
    parser.add_argument("--statements", type=int, default=10000, help="how many are run")
    parser.add_argument("--seed", type=int, default=1, help="the same one gives the same programs")
    parser.add_argument("--accelerator", type=Path, help="a library that mx.np's arrays are on")
    parser.add_argument("--most", type=int, default=20, help="kinds of differences to stop after")
    parser.add_argument("--trace", type=Path, help="a file that gets each program before it runs")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Runs the command line; its exit status."""
    import mx

    options = parse(arguments)
    if options.accelerator:
        mx.load_acc(options.accelerator).__enter__()
    campaign = Campaign(mx.np, options.seed, options.trace)
    for text in campaign.run(options.statements, options.most):
        print(text, flush=True)
    print(campaign)
    return 1 if campaign.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
