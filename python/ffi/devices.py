"""Kinds of devices: 'cpu', and those that accelerators add while the program runs."""

from __future__ import annotations

from . import handed_down

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CPU = 1
# As DLPack names the CPU.
CPU_0 = (CPU, 0)
_NAMES = {CPU: "cpu"}


def number_of(name: str) -> int:
    """The number that contexts have for a kind of device; 0 where there is none of that name now.

    Raises why an accelerator of that name did not load, if one was found that did not.
    """
    if name == "cpu":
        return CPU
    number: int = handed_down.find_function("runtime.device_kind_number")(name)
    return number


def identify(text: str, device_id: int) -> tuple[int, int]:
    """Number of the kind and ordinal of the device that a text such as 'npu' or 'npu(1)' names.

    Raises ValueError where no kind has that name, or where the text has an ordinal and device_id is
    another one; and why an accelerator of that name did not load, if one was found that did not.
    """
    name, _, ordinal = text.removesuffix(")").partition("(")
    if not (text.endswith(")") and ordinal.isascii() and ordinal.isdecimal()):
        name, ordinal = text, ""
    number = number_of(name)
    if number == 0:
        raise ValueError(
            f"Context: argument 0 ('device_type') expected one of {names()}, got {text!r}; "
            "mx.load_acc loads accelerators"
        )
    if ordinal and device_id not in (0, int(ordinal)):
        raise ValueError(
            f"Context: argument 1 ('device_id') expected {ordinal}, as in {text!r}, got {device_id}"
        )
    return number, int(ordinal or device_id)


def name_of(number: int) -> str:
    """The name of a kind of device: 'device7' where the runtime knows none for the number."""
    if number not in _NAMES:
        # Few programs have another device, and ctypes takes long to import.
        from ctypes import string_at

        address: int = handed_down.find_function("runtime.device_kind_name")(number)
        if address == 0:
            return f"device{number}"
        _NAMES[number] = string_at(address).decode()
    return _NAMES[number]


def is_visible(array: Any) -> bool:
    """Whether the CPU may read the memory of an array where it is."""
    visible: bool = handed_down.find_function("runtime.host_visible")(array)
    return visible


def host_view(array: Any) -> Any:
    """An array of the CPU over the same memory, once the work under way there is done.

    The array itself where it is of the CPU, None where the CPU cannot read it.
    """
    return handed_down.find_function("runtime.host_view")(array)


def exported(array: Any, dl_device: tuple[int, int] | None, copy: bool | None) -> tuple[Any, bool]:
    """What the `__dlpack__` of an array that is not on the CPU exports, and whether it is a copy.

    Raises BufferError where the CPU cannot read the memory, unless a copy on the CPU is asked for.
    """
    view = host_view(array)
    if view is not None:
        return view, False
    if dl_device is None or copy is False:
        raise BufferError(
            f"__dlpack__: the CPU cannot read the memory of {array.ctx}; "
            "copy the array with as_in_ctx('cpu') or asnumpy()"
        )
    return handed_down.find_function("runtime.copy_to_context")(array, "cpu"), True


def names() -> list[str]:
    """The kinds of which there are devices now."""
    return sorted(handed_down.find_function("runtime.device_kinds")())


def configure(context: Any, options: dict[str, Any]) -> dict[str, str]:
    """What Context.configure does."""
    flat: list[str] = []
    for key, value in options.items():
        if not isinstance(value, (str, bool, int, float)):
            kind = type(value).__name__
            raise TypeError(f"configure: {key!r} expected str, bool, int or float, got {kind}")
        flat += key, str(value)
    answers = iter(handed_down.find_function("runtime.configure_device")(context, *flat))
    return dict(zip(answers, answers, strict=True))
