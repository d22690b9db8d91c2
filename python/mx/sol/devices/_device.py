"""The device that models are optimized for."""

from __future__ import annotations

from typing import Any

from ..._acc.table import acc, device_info
from ...context import Context, cpu

# A context, the name of a device type, or that with a number; None for the one that is set.
DeviceLike = Context | str | tuple[str, int] | None


class Device:
    """The device that `optimize` takes where it is given none."""

    def __init__(self) -> None:
        self._context = cpu()

    def set(self, device_type: str | Context, device_id: int = 0) -> None:
        """Has models that are optimized from now on executed on a device: "cpu" or an accelerator.

        RuntimeError where no accelerator of that name is loaded or can be found, ValueError where
        that has no such device; TypeError for anything but a name and a number, or a context.
        """
        given = (device_type, device_id) if isinstance(device_type, str) else device_type
        self._context = context_of(given, "sol.device.set: device_type")

    def get(self) -> Context:
        """The context that is set."""
        return self._context

    def find(self, device: DeviceLike) -> Context:
        """The context that is meant; the one that is set for None."""
        return self._context if device is None else context_of(device)

    def __repr__(self) -> str:
        return f"sol.device: {self._context}"


def context_of(device: Context | str | tuple[str, int], argument: str = "sol: device") -> Context:
    """A context for what stands for one. TypeError, which names the argument, for anything else,
    ValueError for a device that an accelerator does not have."""
    context = device if isinstance(device, Context) else _named(device, argument)
    if context.device_type != "cpu":
        device_info(context)  # or the first call of a model would tell
    return context


def _named(device: Any, argument: str) -> Context:
    pair = device if isinstance(device, tuple) and len(device) == 2 else (device, 0)
    name, number = pair
    if not isinstance(name, str) or not isinstance(number, int):
        raise TypeError(
            f"{argument}: expected a context, a name, or a name and a number, got {device!r}"
        )
    return cpu(number) if name == "cpu" else acc(name, number)


device = Device()
