"""What a benchmark is made of: calls to time, and the results of timing them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Any

OURS = "mxffi"
RATIO = "ours / NumPy"
"""The unit of a table of ratios."""


@dataclass(frozen=True)
class Attribute:
    """What users reach through a module: `path` as they type it, `root` what its first name is.

    `value` is what is called where the function is bound to a name.
    """

    path: str
    root: Any
    value: Any


def attribute(path: str, root: Any) -> Attribute:
    """What is found at that path, below what its first name is."""
    return Attribute(path, root, attrgetter(path.partition(".")[2])(root))


@dataclass(frozen=True)
class Call:
    """A statement to time and the names it uses, of which some may be attributes.

    The names become local variables of the timed loop, so looking them up costs every contestant
    the same and next to nothing. What it costs to look the attributes up is in the same call `as
    typed`.
    """

    statement: str
    names: Mapping[str, Any] = field(default_factory=dict)

    def bound(self) -> Call:
        """The call with each attribute bound to its name."""
        values = {
            name: value.value if isinstance(value, Attribute) else value
            for name, value in self.names.items()
        }
        return Call(self.statement, values)

    def as_typed(self) -> Call | None:
        """The call with the attributes as users type them; None where there are none."""
        paths = {name: v for name, v in self.names.items() if isinstance(v, Attribute)}
        if not paths:
            return None
        statement = self.statement
        names = dict(self.bound().names)
        for name, spelled in paths.items():
            statement = re.sub(rf"\b{name}\b", spelled.path, statement)
            del names[name]
            names[spelled.path.partition(".")[0]] = spelled.root
        return Call(statement, names)


Calls = dict[str, dict[str, Call]]
"""Calls by case and then by column of the table."""


@dataclass(frozen=True)
class Column:
    """Time of one contestant in one case: median and quartiles over the rounds."""

    median: float
    low: float
    high: float
    calls: int = 1


@dataclass(frozen=True)
class Ratio:
    """Ours divided by a contestant: ratio of the medians, and median of the rounds' ratios."""

    of_medians: float
    of_rounds: float


@dataclass(frozen=True)
class CaseResult:
    """A row of a table. Ratios belong to the columns other than ours."""

    columns: dict[str, Column]
    ratios: dict[str, Ratio] = field(default_factory=dict)


@dataclass
class GroupResult:
    """A table: its rows by case, their unit, and what was left out or is worth knowing.

    `failures` are those notes that say something of this project did not run.
    """

    title: str
    unit: str
    cases: dict[str, CaseResult] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries, as json.dump takes them."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> GroupResult:
        """The inverse of to_json."""
        cases = {
            name: CaseResult(
                {key: Column(**value) for key, value in case["columns"].items()},
                {key: Ratio(**value) for key, value in case["ratios"].items()},
            )
            for name, case in data["cases"].items()
        }
        return cls(data["title"], data["unit"], cases, data["notes"], data["failures"])


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds, seconds of a timed block, and the scale of the long runs."""

    rounds: int = 25
    block_seconds: float = 0.002
    process_rounds: int = 15
    process_pairs: int = 5
    compile_rounds: int = 7
    memory_calls: int = 1_000_000
    registry_size: int = 100_000


QUICK = Effort(
    rounds=5,
    block_seconds=0.0002,
    process_rounds=3,
    process_pairs=1,
    compile_rounds=1,
    memory_calls=2_000,
    registry_size=2_000,
)
