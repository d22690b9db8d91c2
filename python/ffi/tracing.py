"""Recording what is called, with what, and how long it takes."""

from __future__ import annotations

import sys

from .registry import get_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import Any

_COLUMNS = ("name", "calls", "total", "mean", "max")
# Units of a time in seconds, and up to where each is readable.
_UNITS: tuple[tuple[float, float, str], ...] = (
    (1e-6, 1e9, "ns"),
    (1e-3, 1e6, "us"),
    (1.0, 1e3, "ms"),
    (float("inf"), 1.0, "s"),
)


class TraceCall:
    """One recorded call.

    `name` is the function's, `arguments` and `result` are short texts such as "float32[3, 4], 2"
    and "float32[3]". A call that failed has `error`, "ValueError: message", instead of `result`.
    `start` counts seconds from the start of the trace, `duration` is in seconds, `thread` is the
    system's number of the thread, and `depth` is 0 for a call that no other recorded call made.
    """

    __slots__ = ("arguments", "depth", "duration", "error", "name", "result", "start", "thread")

    def __init__(
        self,
        name: str,
        arguments: str,
        outcome: str,
        failed: bool,
        start: int,
        duration: int,
        thread: int,
        depth: int,
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.result = None if failed else outcome
        self.error = outcome if failed else None
        self.start = start * 1e-9
        self.duration = duration * 1e-9
        self.thread = thread
        self.depth = depth

    def __repr__(self) -> str:
        came = f"-> {self.result}" if self.error is None else f"raised {self.error}"
        return f"<TraceCall {self.name}({self.arguments}) {came}, {_time(self.duration)}>"


class Trace:
    """Records every call through the boundary while a `with` block runs; see ffi.trace."""

    def __init__(self, max_calls: int) -> None:
        self._max_calls = max_calls
        self._handle: Any = None
        self._names: dict[int, str] = {}

    def __enter__(self) -> Trace:
        if self._handle is not None:
            raise RuntimeError("a trace serves one `with` block; make another with ffi.trace()")
        self._name_threads()
        self._handle = get_global_func("ffi.trace.start")(self._max_calls)
        return self

    def __exit__(self, *_: object) -> None:
        get_global_func("ffi.trace.stop")(self._handle)
        self._name_threads()

    def _name_threads(self) -> None:
        threading = sys.modules.get("threading")
        for thread in threading.enumerate() if threading is not None else ():
            if thread.native_id is not None:
                self._names[thread.native_id] = thread.name

    def _ask(self, function: str, *args: Any) -> Any:
        if self._handle is None:
            raise RuntimeError("the trace has not started; use it as `with ffi.trace() as t:`")
        return get_global_func(f"ffi.trace.{function}")(self._handle, *args)

    @property
    def calls(self) -> list[TraceCall]:
        """The calls that have ended so far, as TraceCall, in order of their starts."""
        calls = [TraceCall(*call) for call in self._ask("calls")]
        return sorted(calls, key=lambda call: (call.start, call.depth))

    @property
    def dropped(self) -> int:
        """How many calls there was no room for."""
        dropped: int = self._ask("dropped")
        return dropped

    def table(self) -> str:
        """Calls, total, mean and longest time of each function, by total time.

        A function's time includes that of the functions it called.
        """
        times: dict[str, list[float]] = {}
        for call in self.calls:
            times.setdefault(call.name, []).append(call.duration)
        rows = [
            (name, str(len(all_)), _time(sum(all_)), _time(sum(all_) / len(all_)), _time(max(all_)))
            for name, all_ in sorted(times.items(), key=lambda item: -sum(item[1]))
        ]
        lines = _aligned([_COLUMNS, *rows])
        if self.dropped:
            lines.append(f"... and {self.dropped} calls more than max_calls={self._max_calls}")
        return "\n".join(lines)

    __str__ = table

    def __repr__(self) -> str:
        if self._handle is None:
            return "<ffi.trace, not started>"
        return f"<ffi.trace, {len(self._ask('calls'))} calls>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the calls as JSON that chrome://tracing and ui.perfetto.dev show."""
        json = self._ask("json", self._names)
        with open(path, "w", encoding="utf-8") as file:
            file.write(json)


def trace(max_calls: int = 100_000) -> Trace:
    """Records every call of every thread, calls that C++ makes too, while a `with` block runs.

        with ffi.trace() as t:
            work()
        print(t)               # a table by function, as t.table()
        t.calls                # every call: name, arguments, result or error, time, thread, depth
        t.save("trace.json")   # for chrome://tracing or ui.perfetto.dev

    Calls beyond max_calls are counted in `t.dropped` only. Calls under way at the start or the end
    of the block are not recorded. Blocks may be nested and overlap; each records for itself.

    From C++ the registered functions ffi.trace.start, .stop, .calls, .dropped and .json do the
    same. While no trace is on, a call pays one test for it.

    Raises TypeError or ValueError, on entry, where max_calls is no count.
    """
    return Trace(max_calls)


def _time(seconds: float) -> str:
    factor, unit = next((factor, unit) for limit, factor, unit in _UNITS if seconds < limit)
    return f"{seconds * factor:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Lines with the first column to the left and the others to the right."""
    rows = list(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
