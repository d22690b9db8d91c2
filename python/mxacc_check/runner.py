"""Runs the groups of checks, each in a process of its own, and outlives them all."""

from __future__ import annotations

import json
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from . import groups
from .processes import STARTING, Child, Server, tail
from .progress import Progress, new_page
from .report import BROKEN, FINDING, Finding, GroupReport, Report, Result
from .suite import Group, Options

NO_EXIT = "No function exits, aborts or lets an exception out."
_POLL = 0.25


@dataclass
class _Outcome:
    """What a process has told, and how it ended."""

    results: list[Result] = field(default_factory=list)
    library: dict[str, Any] = field(default_factory=dict)
    begun: str | None = None  # the check under way
    findings: list[Finding] = field(default_factory=list)  # of that
    ended: bool = False  # all was told
    hung: bool = False
    status: int = 0
    output: str = ""


def _lines(descriptor: int, is_stuck: Callable[[], bool]) -> Iterator[str | None]:
    """The lines that come from a pipe; None, and no more, once the process is stuck."""
    rest = b""
    while True:
        ready, _, _ = select.select([descriptor], [], [], _POLL)
        if ready:
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            yield from (line.decode() for line in lines)
        elif is_stuck():
            yield None
            return


class _Watch:
    """Tells when nothing new has been begun for too long."""

    def __init__(self, progress: Progress, timeout: float, show: Callable[[str], None]):
        self._progress, self._timeout, self._show = progress, timeout, show
        self._number, self._since = -1, time.monotonic()

    def is_stuck(self) -> bool:
        number = self._progress.number()
        if number != self._number:
            self._show(self._progress.last()[1])
            self._number, self._since = number, time.monotonic()
        limit = self._timeout if number else max(self._timeout, STARTING)
        return time.monotonic() - self._since > limit


class Runner:
    """Runs checks of one library; show is called with what is tried now, from time to time."""

    def __init__(
        self, options: Options, timeout: float, show: Callable[[str], None] = lambda step: None
    ):
        self.options, self.timeout, self.show = options, timeout, show
        self._page = new_page()
        self._progress = Progress(self._page)
        self._server: Server | None = None

    def close(self) -> None:
        self._end_server()
        os.close(self._page)

    def _end_server(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def report(
        self, chosen: Sequence[Group], tell: Callable[[Report, GroupReport], None]
    ) -> Report:
        """Runs the groups; tell is called after each."""
        start = time.monotonic()
        report = Report(self.options.path, self.options.device)
        self._first_device(chosen, report, tell)
        if self.options.all_devices and not report.failure:
            self._other_devices(chosen, report, tell)
        report.seconds = time.monotonic() - start
        return report

    def _first_device(
        self, chosen: Sequence[Group], report: Report, tell: Callable[[Report, GroupReport], None]
    ) -> None:
        # Loading takes no process of its own: the first of the others goes on where it succeeds.
        together = [[groups.LOADING, *chosen[:1]], *([group] for group in chosen[1:])]
        for some in together:
            results = self._results([check.id for group in some for check in group.checks], report)
            usable = report.library.get("usable", False)
            for group in some if usable else some[:1]:
                # Where it cannot be used, all that there is belongs to loading it.
                own = [
                    one for one in results if not usable or one.id.partition(".")[0] == group.name
                ]
                done = GroupReport(group.name, group.title, own)
                report.groups.append(done)
                tell(report, done)
            if not usable:
                self._explain(report, report.groups[0])
                break

    def _other_devices(
        self, chosen: Sequence[Group], report: Report, tell: Callable[[Report, GroupReport], None]
    ) -> None:
        """Tries the devices that were not asked for, but for those that cannot be used."""
        given = self.options
        for number, device in enumerate(report.library.get("devices", [])):
            if number == given.device or "unusable" in device["flags"]:
                continue
            self.options = replace(given, device=number, quick=True)
            for group in (one for one in chosen if one.on_devices):
                results = self._results([check.id for check in group.checks], report)
                done = GroupReport(group.name, group.title, results, number)
                report.groups.append(done)
                tell(report, done)
        self.options = given

    @staticmethod
    def _explain(report: Report, loading: GroupReport) -> None:
        """Says why the library cannot be checked at all."""
        report.failure = report.library.get("failure") or "the library could not be loaded"
        broken = [result.reason for result in loading.results if result.status == BROKEN]
        if broken:
            report.failure = broken[0]

    def _results(self, left: list[str], report: Report) -> list[Result]:
        """Runs checks by name, going on in another process where one was lost."""
        results: list[Result] = []
        end = left[-1].partition(".")[0] + ".end"
        while left:
            outcome = self._process(left)
            results += outcome.results
            report.library |= outcome.library
            if outcome.ended and not outcome.hung and outcome.status == 0:
                break
            name = outcome.begun or end
            results.append(self._lost(name, outcome))
            # Without having been loaded once, it is not tried again.
            if name not in left or not report.library.get("usable"):
                break
            left = left[left.index(name) + 1 :]
        return results

    def _lost(self, name: str, outcome: _Outcome) -> Result:
        """The result of a check whose process was lost."""
        call, step = self._progress.last()
        checks = [check for group in groups.GROUPS for check in group.checks]
        title = next((check.title for check in checks if check.id == name), "The process ends well")
        result = Result(name, title, FINDING, findings=outcome.findings)
        if outcome.hung:
            got = f"no answer within {self.timeout:g} s"
        elif outcome.status < 0:
            number = signal.Signals(-outcome.status)
            got = f"the process was ended by {number.name} ({signal.strsignal(number)})"
        else:
            got = f"the process ended with the status {outcome.status}"
        if not call:
            result.status, result.reason = BROKEN, f"{got}\n{outcome.output}"
            return result
        if outcome.output:
            got += f"; its last words were:\n{outcome.output}"
        result.findings.append(
            Finding(f"{call} returns, and the process lives on", got, NO_EXIT, step)
        )
        return result

    def _process(self, checks: list[str]) -> _Outcome:
        """Runs checks in one process."""
        self._progress.clear()
        outcome = _Outcome()
        if self._server is None:
            self._server = Server(self._page)
        reading, writing = os.pipe()
        task = {"options": asdict(self.options), "checks": checks}
        with tempfile.TemporaryFile() as output, os.fdopen(reading, "rb", buffering=0):
            child = self._server.start(task, writing, output.fileno())
            os.close(writing)
            if child.begins():
                try:
                    self._listen(reading, child, outcome)
                finally:
                    child.end()
                outcome.output = tail(output)
            else:
                outcome.hung = child.status is None
                outcome.output = self._server.output()
            outcome.status = child.status or 0
        if outcome.hung or self._server.has_ended():
            self._end_server()
        return outcome

    def _listen(self, reading: int, child: Child, outcome: _Outcome) -> None:
        watch = _Watch(self._progress, self.timeout, self.show)
        for line in _lines(reading, watch.is_stuck):
            if line is None:
                outcome.hung = True
                return
            ((kind, data),) = json.loads(line).items()
            if kind == "begin":
                outcome.begun, outcome.findings = data, []
            elif kind == "finding":
                outcome.findings.append(Finding(**data))
            elif kind == "result":
                outcome.results.append(Result.of_json(data))
                outcome.begun = ""
            elif kind == "library":
                outcome.library |= data
            else:
                outcome.ended = True
        outcome.hung = not child.wait(self.timeout)
