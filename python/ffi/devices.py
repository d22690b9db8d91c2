"""Kinds of devices: 'cpu', and those that accelerators add while the program runs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CPU = 1
_NAMES = {CPU: "cpu"}


def number_of(name: str) -> int:
    """The number that contexts have for a kind of device; 0 where there is none of that name now.

    Raises why an accelerator of that name did not load, if one was found that did not.
    """
    if name == "cpu":
        return CPU
    from .registry import get_global_func

    number: int = get_global_func("runtime.device_kind_number")(name)
    return number


def name_of(number: int) -> str:
    """The name of a kind of device: 'device7' where the runtime knows none for the number."""
    if number not in _NAMES:
        # Few programs have another device, and ctypes takes long to import.
        from ctypes import string_at

        from .registry import get_global_func

        address: int = get_global_func("runtime.device_kind_name")(number)
        if address == 0:
            return f"device{number}"
        _NAMES[number] = string_at(address).decode()
    return _NAMES[number]


def names() -> list[str]:
    """The kinds of which there are devices now."""
    from .registry import get_global_func

    return sorted(["cpu", *(row[0] for row in get_global_func("mx.acc.loaded")())])


def configure(context: Any, options: dict[str, Any]) -> dict[str, str]:
    """What Context.configure does."""
    from .registry import get_global_func

    flat: list[str] = []
    for key, value in options.items():
        if not isinstance(value, (str, bool, int, float)):
            kind = type(value).__name__
            raise TypeError(f"configure: {key!r} expected str, bool, int or float, got {kind}")
        flat += key, str(value)
    answers = iter(get_global_func("mx.acc.configure")(context, *flat))
    return dict(zip(answers, answers, strict=True))
