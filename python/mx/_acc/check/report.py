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
    refused: dict[str, str] = field(default_factory=dict)  # case: why the library does not do it

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Result:
        findings = [Finding(**item) for item in data.pop("findings")]
        return cls(findings=findings, **data)


@dataclass
class GroupReport:
    """The outcome of the checks of one group."""

    name: str
    title: str
    results: list[Result] = field(default_factory=list)


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

    @property
    def verdict(self) -> str:
        if any(True for _ in self.findings()):
            return NOT_CONFORMING
        broken = any(result.status == BROKEN for result in self.results())
        return COULD_NOT_RUN if self.failure or broken else CONFORMING

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict, **asdict(self)}
