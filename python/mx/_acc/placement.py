"""Where operators run: the fallback to the CPU, and what became of calls."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import TracebackType

import ffi

_stats = ffi.get_global_func("mx.acc.stats")
_reset_stats = ffi.get_global_func("mx.acc.reset_stats")
_fallback = ffi.get_global_func("mx.acc.fallback")
_waitall = ffi.get_global_func("mx.acc.waitall")


class AccFallbackWarning(RuntimeWarning):
    """An operator on arrays of an accelerator runs on the CPU, with copies."""


@ffi.register_func("mx.acc.warn", override=True)
def _warn(accelerator: str, operator: str, reason: str, so_far: str) -> None:
    text = (
        f"{accelerator} does not carry out {operator}: {reason}. It runs on the CPU, with copies. "
        f"On the CPU so far: {so_far}. mx.acc_stats() tells what that costs."
    )
    warnings.warn(text, AccFallbackWarning, stacklevel=2)


@dataclass(frozen=True)
class OperatorStats:
    """What became of the calls of one operator on arrays of one accelerator.

    `bytes` were copied for calls on the CPU, which took `seconds`; `reason` is why the last of
    these was there.
    """

    accelerator: str
    operator: str
    on_accelerator: int
    on_cpu: int
    bytes: int
    seconds: float
    reason: str


class AccStats(tuple[OperatorStats, ...]):
    """Operators with their counts, by accelerator and name; prints as a table."""

    def __repr__(self) -> str:
        if not self:
            return "no operator was called on an accelerator"
        head = ("accelerator", "operator", "there", "on cpu", "MB copied", "ms", "why on cpu")
        rows = [head] + [
            (
                row.accelerator,
                row.operator,
                str(row.on_accelerator),
                str(row.on_cpu),
                f"{row.bytes / 1e6:.3f}",
                f"{row.seconds * 1e3:.3f}",
                row.reason,
            )
            for row in self
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def acc_stats(*, reset: bool = False) -> AccStats:
    """Where the operators that were called on arrays of accelerators ran, and what copies cost.

    With reset, the counts start again from zero afterwards.
    """
    stats = AccStats(
        OperatorStats(accelerator, operator, there, on_cpu, size, nanoseconds * 1e-9, reason)
        for accelerator, operator, there, on_cpu, size, nanoseconds, reason in _stats()
        if there or on_cpu
    )
    if reset:
        _reset_stats()
    return stats


class acc_fallback:
    """Sets what happens where an accelerator does not carry an operator out, in all threads.

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
