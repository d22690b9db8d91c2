"""Runs programs by a seed, and keeps what they found."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .execute import Difference, Runner, run
from .shrink import Program, script, shrink
from .statements import Writer

STATEMENTS_PER_PROGRAM = 25


def nobody(program: Program) -> None:
    """Is told of no program."""


@dataclass
class Campaign:
    """Programs by a seed, every `step`th from `first` on: one difference of each signature."""

    library: Any
    seed: int
    first: int = 0
    step: int = 1
    # Is told of each program before its last statement runs.
    before: Callable[[Program], None] = nobody
    statements: int = 0
    programs: int = 0
    differences: int = 0
    found: dict[tuple[str, ...], str] = field(default_factory=dict)
    excused: Counter[str] = field(default_factory=Counter)

    @property
    def number(self) -> int:
        """That of the program which runs, or comes next."""
        return self.first + self.programs * self.step

    def run(self, statements: int, most: int = 20) -> Iterator[str]:
        """Runs statements until there are so many signatures; gives the scripts of these."""
        while self.statements < statements and len(self.found) < most:
            program, difference = self.one_program(statements - self.statements)
            if difference:
                self.differences += 1
                if difference.signature not in self.found:
                    self.found[difference.signature] = self.shrunk(program, difference)
                    yield self.found[difference.signature]
            self.programs += 1

    def one_program(self, most: int) -> tuple[Program, Difference | None]:
        """The next program, up to its first difference."""
        rng = random.Random(f"{self.seed}, {self.number}")
        runner, program = Runner(self.library), Program()
        writer = Writer(rng, {})
        difference = None
        while difference is None and len(program) < min(STATEMENTS_PER_PROGRAM, most):
            writer.arrays = runner.arrays()
            program.append(writer.statement())
            self.before(program)
            difference = runner.step(program[-1])
        self.statements += len(program)
        self.excused.update(runner.excused)
        return program, difference

    def shrunk(self, program: Program, difference: Difference) -> str:
        """The script of a program, made small."""
        small = shrink(program, self.library, difference)
        where = f"# program {self.number} of seed {self.seed}\n"
        return where + script(small, run(small, self.library) or difference)
