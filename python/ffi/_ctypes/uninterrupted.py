"""Lets callbacks begin without handling signals, so that Ctrl-C is not lost there."""

from __future__ import annotations

from opcode import opmap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

# The operand of RESUME after which the interpreter does not look for signals: "after an await".
_WITHOUT_CHECK = 3


def uninterrupted(function: F) -> F:
    """The function, changed so that signals are not handled before its first statement.

    A signal that arrived while C code ran is handled where the next Python function begins, which
    is before that function has entered its `try`. An exception raised there leaves the callback,
    and Python prints and drops what leaves a callback of ctypes or a __del__: KeyboardInterrupt
    would be lost, and the status that C gets undefined. Since Python 3.11 the beginning is the
    instruction RESUME; before, a function that begins with `try` handles no signals there.
    """
    resume = opmap.get("RESUME")
    instructions = bytearray(function.__code__.co_code)
    for offset in range(0, len(instructions), 2):
        if instructions[offset] == resume:
            instructions[offset + 1] = _WITHOUT_CHECK
            break
    code = function.__code__.replace(co_code=bytes(instructions))
    function.__code__ = code
    return function
