"""Reports of crashes, and Ctrl-C in long operations of C++."""

from __future__ import annotations

import atexit
import sys

from ._backend import core
from .registry import get_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

_NAME = "ffi.check_signals"
# The file that reports go to; kept so that it stays open.
_file: Any = None


def enable_crash_report(file: TextIO | None = None) -> None:
    """Tells, when an operation crashes the process, which registered functions were running.

    On SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT it writes the functions that the crashing thread
    was in, the last called first, and then, by enabling the standard module faulthandler, the
    Python traceback of every thread. file must have a fileno() and stay open; by default it is
    sys.stderr.

    Raises TypeError where file has no fileno(), OSError or ValueError where it has no file.

    While enabled, a call takes a few nanoseconds longer. `disable_crash_report` ends it.
    """
    import faulthandler

    global _file
    target: Any = sys.stderr if file is None else file
    if not hasattr(target, "fileno"):
        raise TypeError(
            "enable_crash_report: argument 0 ('file') expected a file with fileno(), "
            f"got {type(target).__name__}"
        )
    number = target.fileno()
    faulthandler.enable(target)
    get_global_func("ffi.crash_report.enable")(number)
    _file = target


def disable_crash_report() -> None:
    """Ends enable_crash_report, and faulthandler with it."""
    import faulthandler

    global _file
    get_global_func("ffi.crash_report.disable")()
    faulthandler.disable()
    _file = None


def _check_signals() -> None:
    """Called by C++ for its effect: Python handles pending signals where a function begins."""


# Operations may outlive the interpreter, and must not call into it then.
atexit.register(core.register_global, _NAME, get_global_func(_NAME), True)
core.register_global(_NAME, core.convert_function(_check_signals, _NAME), True)
