"""What a check is, and what it has at hand."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .plugin import AccError, Plugin
from .progress import Progress
from .report import BROKEN, FINDING, SKIPPED, Finding, Result

MOST_FINDINGS = 3

ERRORS = "Functions return NULL for success, or a const MXAccError* of the library's."


class Skip(Exception):
    """A check has nothing to do with this library; its text is the reason."""


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    path: str
    device: int = 0
    # Also tries what is done on a device on all others, less thoroughly.
    all_devices: bool = False
    quick: bool = False
    loads: int = 200
    tolerance: float = 1.0
    seed: int = 0  # of the first random graph


@dataclass(frozen=True)
class Check:
    """A function that tries a library, and the sentence of mxnet_acc.h that it rests on.

    A fresh one loads the library itself; others share one that is loaded and initialized.
    """

    id: str
    title: str
    says: str
    function: Callable[[Run], None]
    fresh: bool


@dataclass(frozen=True)
class Group:
    """Checks that run in one process."""

    name: str
    title: str
    checks: list[Check] = field(default_factory=list)
    # Whether it is worth trying on each device.
    on_devices: bool = False

    def check(
        self, name: str, says: str, fresh: bool = False
    ) -> Callable[[Callable[[Run], None]], Callable[[Run], None]]:
        """Registers a function as the check `group.name`; its docstring is the check's title."""

        def register(function: Callable[[Run], None]) -> Callable[[Run], None]:
            title = (function.__doc__ or "").partition("\n")[0].rstrip(".")
            self.checks.append(Check(f"{self.name}.{name}", title, says, function, fresh))
            return function

        return register


def changes(came: bytes, clean: bytes) -> str:
    """Which bytes behind a struct are not what they were; empty if all are."""
    wrong = [
        index for index, (one, other) in enumerate(zip(came, clean, strict=True)) if one != other
    ]
    if not wrong:
        return ""
    return f"{len(wrong)} bytes were, from {wrong[0]} to {wrong[-1]} bytes beyond it"


class Run:
    """One process that runs checks of one library."""

    def __init__(
        self,
        options: Options,
        progress: Progress,
        tell: Callable[[Finding], None] = lambda finding: None,
    ):
        """tell is called with each finding at once, as the next call may be the last."""
        self.options, self.progress, self._tell = options, progress, tell
        self._plugin: Plugin | None = None
        self._check: Check | None = None
        self._result = Result("", "")
        self._step = ""
        self._noted: set[str] = set()
        # Of the library, for the head of the report; the first process fills it in.
        self.library: dict[str, Any] = {}

    # ---- for checks ----

    @property
    def quick(self) -> bool:
        return self.options.quick

    @property
    def device(self) -> int:
        return self.options.device

    @property
    def plugin(self) -> Plugin:
        """The library that the checks of this process share."""
        if self._plugin is None:
            self._plugin = self.load()
        return self._plugin

    def load(self, **how: Any) -> Plugin:
        """Loads the library anew; who asks for it closes it."""
        return Plugin(
            self.options.path, watch=self.progress.call, on_error=self._look_at_error, **how
        )

    @contextmanager
    def loaded(self, **how: Any) -> Iterator[Plugin]:
        """The library, loaded anew; meanwhile it is `plugin`, too."""
        self._plugin = plugin = self.load(**how)
        try:
            yield plugin
        finally:
            self._plugin = None
            plugin.close()

    def abandon(self) -> None:
        """Leaves the library loaded when the process ends."""
        self._plugin = None

    @contextmanager
    def step(self, text: str, counts: bool = True) -> Iterator[None]:
        """One case of a check, or the rest of one that was counted before.

        A call that fails in it is a finding, and the check goes on.
        """
        self._result.cases += counts
        self._step = text
        self.progress.step(text)
        try:
            yield
        except AccError as error:
            self.finding("success", str(error))
        self._step = ""

    def expect(self, holds: bool, expected: str, got: object, says: str = "") -> bool:
        if not holds:
            self.finding(expected, str(got), says)
        return holds

    def finding(self, expected: str, got: str, says: str = "") -> None:
        assert self._check is not None
        if len(self._result.findings) == MOST_FINDINGS:
            self._result.more_findings += 1
            return
        found = Finding(expected, got, says or self._check.says, self._step)
        self._result.findings.append(found)
        self._tell(found)

    def note(self, text: str) -> None:
        """Something worth knowing that the contract allows; it is told once."""
        if text not in self._noted:
            self._noted.add(text)
            self._result.notes.append(text)

    def rejected(self, case: str, reason: str) -> None:
        """The library says that it does not do this."""
        self._result.reject(case, reason)

    @property
    def result(self) -> Result:
        """Of the check that runs."""
        return self._result

    def skip(self, reason: str) -> NoReturn:
        raise Skip(reason)

    def need(self, *functions: str) -> None:
        """Skips the check where the library does not have these functions."""
        lacking = [name for name in functions if not self.plugin.has(name)]
        if lacking:
            self.skip(f"the library has no {lacking[0]}")

    def need_memory(self) -> None:
        self.need("mx_alloc", "mx_free", "copyToAcc", "copyFromAcc")

    # ---- for the process ----

    def do(self, check: Check) -> Result:
        """Runs one check."""
        self._check, self._step = check, ""
        self._result = result = Result(check.id, check.title)
        self.progress.step("")
        start = time.perf_counter()
        try:
            if check.fresh:
                self.close()
            check.function(self)
        except Skip as skip:
            result.status, result.reason = SKIPPED, str(skip)
        except AccError as error:
            self.finding("success", str(error))
        except Exception:
            result.status, result.reason = BROKEN, traceback.format_exc()
        if result.findings:
            result.status = FINDING
        result.seconds = time.perf_counter() - start
        return result

    def close(self) -> None:
        if self._plugin is not None:
            self._plugin.close()
            self._plugin = None

    def _look_at_error(self, error: AccError) -> None:
        if error.malformed:
            says = "a sentence for the user; not NULL" if not error.message else ERRORS
            self.finding(
                "an error with struct_size, code and message",
                f"{error.function}: {error.malformed}",
                says,
            )
