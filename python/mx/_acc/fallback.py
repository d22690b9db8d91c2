"""The fallback to the CPU, and counts of where operators ran."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType

import ffi

_stats = ffi.get_global_func("mx.acc.stats")
_reset_stats = ffi.get_global_func("mx.acc.reset_stats")
_fallback = ffi.get_global_func("mx.acc.fallback")
_waitall = ffi.get_global_func("mx.acc.waitall")

# Frames of these packages may lie between an operator and the line that calls it.
_OURS = ("ffi", "mx")


class AccFallbackWarning(RuntimeWarning):
    """An operator on arrays of an accelerator runs on the CPU, with copies."""


class AccPlacementWarning(AccFallbackWarning):
    """Nodes of a graph for an accelerator run on the CPU, as its library does not execute them."""


def _warn(accelerator: str, operator: str, reason: str, so_far: str) -> None:
    text = (
        f"{accelerator} does not execute {operator}: {reason}. It runs on the CPU, with copies. "
        f"On the CPU so far: {so_far}. mx.acc_stats() tells what that costs."
    )
    tell(text, AccFallbackWarning)


ffi.get_global_func("mx.acc.use_warner")(_warn)


# What threads that do something for a user have to tell, who has no line of code there.
_collecting = threading.local()


@contextmanager
def collected(told: list[tuple[str, type[Warning]]]) -> Iterator[None]:
    """Has `tell` of this thread put what it is given into a list, for another thread to tell."""
    _collecting.told = told
    try:
        yield
    finally:
        _collecting.told = None


def tell(text: str, category: type[Warning]) -> None:
    """Warns of something, at the user's line."""
    told = getattr(_collecting, "told", None)
    if told is not None:
        told.append((text, category))
    else:
        warnings.warn(text, category, stacklevel=users_level())


def users_level() -> int:
    """The stacklevel, for the caller of this function, of the line that called an operator."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    return level


@dataclass(frozen=True)
class OperatorStats:
    """What became of the calls of one operator on arrays of one accelerator.

    on_accelerator and on_cpu count calls. `bytes` were copied between the accelerator and the CPU:
    for calls on the CPU the arrays and the result, for calls on the accelerator NumPy operands.
    Of the seconds these calls took, copy_seconds went into the copies, wait_seconds into waiting
    for what the accelerator had been given before, which is no cost of this operator, and
    cpu_seconds into the operator on the CPU. How long the accelerator itself computes is not
    measured. reasons has each reason why calls were on the CPU, with their number.

    A node of a graph that the CPU executes in a run of a PartitionedPlan is a call, too, of an
    operator by ONNX's name; what of those goes into copies `PartitionedPlan.profile` tells. Nodes
    that are executed on the accelerator in models are not counted.
    """

    accelerator: str
    operator: str
    on_accelerator: int
    on_cpu: int
    bytes: int
    copy_seconds: float
    wait_seconds: float
    cpu_seconds: float
    reasons: dict[str, int]

    def _cells(self) -> tuple[str, ...]:
        seconds = (self.copy_seconds, self.wait_seconds, self.cpu_seconds)
        counts = (str(self.on_accelerator), str(self.on_cpu), f"{self.bytes / 1e6:.3f}")
        times = (f"{each * 1e3:.3f}" for each in seconds)
        # With the count where there are several reasons.
        single = len(self.reasons) == 1
        why = (each if single else f"{each} ({count})" for each, count in self.reasons.items())
        return self.accelerator, self.operator, *counts, *times, "; ".join(why)


_HEAD = (
    *("accelerator", "operator", "there", "on cpu", "MB copied", "ms copying", "ms waiting"),
    *("ms on cpu", "why on cpu"),
)


class AccStats(tuple[OperatorStats, ...]):
    """Operators with their counts, by accelerator and name; prints as a table."""

    def __repr__(self) -> str:
        if not self:
            return "no operator was called on an accelerator"
        rows = [_HEAD, *(row._cells() for row in self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def acc_stats(*, reset: bool = False) -> AccStats:
    """Where the operators that were called on accelerators ran, and what copies cost.

    These are the operators on arrays of an accelerator, and those that make arrays there. Views,
    and arrays that are copied, filled with zeros or not filled at all, are no operators. With
    reset, the counts start again from zero afterwards.
    """
    stats = AccStats(
        OperatorStats(
            accelerator,
            operator,
            there,
            on_cpu,
            size,
            copying * 1e-9,
            waiting * 1e-9,
            computing * 1e-9,
            dict(reasons),
        )
        for accelerator, operator, there, on_cpu, size, copying, waiting, computing, reasons in (
            _stats()
        )
        if there or on_cpu
    )
    if reset:
        _reset_stats()
    return stats


class acc_fallback:
    """Sets what happens where an accelerator does not execute an operator, in all threads.

    'auto' (at the start): it runs on the CPU, with copies, and a warning names it. 'whole': all
    operators run on the CPU. 'error': NotImplementedError, which says why. As a context manager it
    brings the former mode back at the end of the block. Raises ValueError for any other mode.
    """

    def __init__(self, mode: str) -> None:
        if not isinstance(mode, str) or not mode:
            given = repr(mode) if isinstance(mode, str) else type(mode).__name__
            expected = "expected 'auto', 'whole' or 'error'"
            raise ValueError(f"acc_fallback: argument 0 ('mode') {expected}, got {given}")
        self.mode = mode
        self._former: str = _fallback(mode)

    def __enter__(self) -> acc_fallback:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _fallback(self._former)

    def __repr__(self) -> str:
        return f"acc_fallback({self.mode!r})"


def waitall() -> None:
    """Waits until all work that was given to accelerators is done.

    Raises the first error of work that failed and that nobody was told of yet, which counts as told
    then. The arrays that it spoiled raise it as before whenever they are used.
    """
    _waitall()
