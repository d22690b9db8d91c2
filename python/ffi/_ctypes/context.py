"""Context: a device by kind and number."""

from __future__ import annotations

from .. import devices, handed_down
from . import abi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_MAX_ID = 2**31 - 1


class Context:
    """A device: `device_type`, such as 'cpu', and `device_id` among the devices of that type.

    `Context("npu(1)")`, as a context prints, is `Context("npu", 1)`.

    Immutable. `with ctx:` makes it the context in which arrays are created.
    """

    __slots__ = ("_number", "device_id", "device_type")
    device_type: str
    device_id: int
    _number: int

    def __new__(cls, device_type: str | Context, device_id: int = 0) -> Context:
        """Raises ValueError for an unknown device type or an id outside 0..2**31-1."""
        if isinstance(device_type, Context):
            return device_type
        if not isinstance(device_type, str):
            raise _wrong(TypeError, 0, "device_type", "str", type(device_type).__name__)
        if isinstance(device_id, bool) or not isinstance(device_id, int):
            raise _wrong(TypeError, 1, "device_id", "int", type(device_id).__name__)
        number, device_id = devices.identify(device_type, device_id)
        if not 0 <= device_id <= _MAX_ID:
            raise _wrong(ValueError, 1, "device_id", "0 to 2**31-1", str(device_id))
        return _make(number, int(device_id))

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError("Context objects are immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("Context objects are immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Context):
            return NotImplemented
        return self._number == other._number and self.device_id == other.device_id

    def __hash__(self) -> int:
        return hash((self._number, self.device_id))

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Context, (self.device_type, self.device_id)

    def configure(self, **options: str | bool | int | float) -> dict[str, str]:
        """Passes options to the accelerator of this context; returns what it answers.

        Values are str, bool, int or float; the answers are str. ValueError for an unknown option,
        and where the context is no accelerator's.
        """
        return devices.configure(self, options)

    def __enter__(self) -> Context:
        handed_down.find_function("runtime.push_context")(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        handed_down.find_function("runtime.pop_context")()


def _wrong(cls: type[Exception], index: int, name: str, expected: str, got: str) -> Exception:
    return cls(f"Context: argument {index} ({name!r}) expected {expected}, got {got}")


def _make(number: int, device_id: int) -> Context:
    context = object.__new__(Context)
    fill = object.__setattr__
    fill(context, "_number", number)
    fill(context, "device_type", devices.name_of(number))
    fill(context, "device_id", device_id)
    return context


_cpus: dict[int, Context] = {}


def cpu(device_id: int = 0) -> Context:
    """The context of the CPU; the same instance every time for one device_id."""
    context = _cpus.get(device_id) if type(device_id) is int else None
    if context is None:
        context = Context("cpu", device_id)
        # Bounded, because any number is a valid id.
        if len(_cpus) < 64:
            _cpus[context.device_id] = context
    return context


def context_of(device: abi.DLDevice) -> Context:
    """The Context of a DLDevice, also of one that no name is known for."""
    if device.device_type == abi.DL_CPU:
        return cpu(device.device_id)
    return _make(device.device_type, device.device_id)
