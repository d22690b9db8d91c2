"""What a benchmark is made of: calls to time, and the results of timing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

OURS = "mxffi"


@dataclass(frozen=True)
class Call:
    """A statement to time and the names it uses.

    The names become local variables of the timed loop, so looking them up costs every contestant
    the same and next to nothing.
    """

    statement: str
    names: Mapping[str, Any] = field(default_factory=dict)


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
