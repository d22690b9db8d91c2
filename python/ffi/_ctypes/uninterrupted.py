"""Entry of a callback without a gap in which Ctrl-C would be lost."""

from __future__ import annotations

from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

# The operand of RESUME after which the interpreter does not look for signals: "after an await".
_WITHOUT_CHECK = 3


def uninterrupted(function: F) -> F:
    """The function, not looking for signals before its first statement.

    A signal that arrived while C code ran is noticed where the next Python function begins. There
    an exception is raised before the function has entered its `try`, and ctypes prints and drops
    what leaves a callback: KeyboardInterrupt would be lost, and the status returned to C undefined.
    Since Python 3.11 that beginning is the instruction RESUME; before, the interpreter does not
    look for signals where a function begins with `try`, and the function is returned as it is.
    """
    import opcode

    resume = opcode.opmap.get("RESUME")
    code = function.__code__
    instructions = bytearray(code.co_code)
    for offset in range(0, len(instructions), 2):
        if instructions[offset] == resume:
            instructions[offset + 1] = _WITHOUT_CHECK
            break
    patched = code.replace(co_code=bytes(instructions))
    return FunctionType(patched, function.__globals__, function.__name__)  # type: ignore[return-value]
