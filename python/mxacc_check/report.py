"""What a run of the checks has found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

# Of a check: its findings decide. "broken" is this tool's own failure.
OK, FINDING, SKIPPED, BROKEN = "ok", "finding", "skipped", "broken"

# Of a library, with the exit status.
CONFORMING, NOT_CONFORMING, COULD_NOT_RUN = "conforming", "not conforming", "could not run"
EXIT_STATUS = {CONFORMING: 0, NOT_CONFORMING: 1, COULD_NOT_RUN: 2}


@dataclass(frozen=True)
class Finding:
    """Something that a library does otherwise than mxnet_acc.h says."""

    expected: str
    got: str
    says: str  # the sentence of the header
    at: str = ""  # what was tried


@dataclass
class Rejection:
    """A reason for which the library does not do something."""

    reason: str
    cases: int
    example: str  # the first of the cases


@dataclass
class Counts:
    """How many cases of an operator in one type there were, ran, and came out wrong."""

    tried: int = 0
    ran: int = 0
    wrong: int = 0

    def add(self, other: Counts) -> None:
        self.tried += other.tried
        self.ran += other.ran
        self.wrong += other.wrong


# By operator and type.
Matrix = dict[str, dict[str, Counts]]


@dataclass
class Result:
    """The outcome of one check."""

    id: str
    title: str
    status: str = OK
    cases: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    more_findings: int = 0
    notes: list[str] = field(default_factory=list)
    reason: str = ""  # of a check that was skipped or is broken
    rejections: list[Rejection] = field(default_factory=list)
    operators: Matrix = field(default_factory=dict)

    @property
    def rejected(self) -> int:
        return sum(one.cases for one in self.rejections)

    def reject(self, case: str, reason: str) -> None:
        """Counts a case that the library does not do."""
        for one in self.rejections:
            if one.reason == reason:
                one.cases += 1
                return
        self.rejections.append(Rejection(reason, 1, case))

    def counts(self, name: str, dtype: str) -> Counts:
        """What is counted of an operator in a type."""
        return self.operators.setdefault(name, {}).setdefault(dtype, Counts())

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Result:
        data["findings"] = [Finding(**item) for item in data["findings"]]
        data["rejections"] = [Rejection(**item) for item in data["rejections"]]
        data["operators"] = {
            name: {dtype: Counts(**counts) for dtype, counts in row.items()}
            for name, row in data["operators"].items()
        }
        return cls(**data)


@dataclass
class GroupReport:
    """The outcome of the checks of one group."""

    name: str
    title: str
    results: list[Result] = field(default_factory=list)
    device: int | None = None  # where it was tried on another device than the first


@dataclass
class Report:
    """The outcome of all checks of a library."""

    path: str
    device: int
    library: dict[str, Any] = field(default_factory=dict)
    groups: list[GroupReport] = field(default_factory=list)
    failure: str = ""  # why the library could not be checked
    seconds: float = 0.0

    def results(self) -> Iterator[Result]:
        for group in self.groups:
            yield from group.results

    def findings(self) -> Iterator[tuple[Result, Finding]]:
        for result in self.results():
            for finding in result.findings:
                yield result, finding

    def operators(self) -> Matrix:
        """What ran of each operator, on the first device that was tried."""
        whole: Matrix = {}
        for group in self.groups:
            for result in group.results if group.device is None else ():
                for name, row in result.operators.items():
                    for dtype, counts in row.items():
                        whole.setdefault(name, {}).setdefault(dtype, Counts()).add(counts)
        return whole

    @property
    def verdict(self) -> str:
        if any(True for _ in self.findings()):
            return NOT_CONFORMING
        broken = any(result.status == BROKEN for result in self.results())
        return COULD_NOT_RUN if self.failure or broken else CONFORMING

    def to_json(self) -> dict[str, Any]:
        matrix = {
            name: {dtype: asdict(counts) for dtype, counts in row.items()}
            for name, row in self.operators().items()
        }
        whole = {"verdict": self.verdict, "operators": matrix, **asdict(self)}
        for group in whole["groups"]:
            for result in group["results"]:
                del result["operators"]  # they are in the matrix
        return whole
