"""What is loaded, and what its devices say."""

from __future__ import annotations

from dataclasses import dataclass

import ffi
from ffi import Context

_loaded = ffi.get_global_func("mx.acc.loaded")
_device_info = ffi.get_global_func("mx.acc.device_info")
_memory = ffi.get_global_func("mx.acc.memory")
_empty_cache = ffi.get_global_func("mx.acc.empty_cache")


@dataclass(frozen=True)
class MemoryInfo:
    """Memory of a device, in bytes; total and free are 0 where the device does not say."""

    in_use: int
    kept: int
    peak: int
    total: int
    free: int
    blocks: int


@dataclass(frozen=True)
class DeviceInfo:
    """A device: what it says of itself, and why it cannot be used, if so."""

    context: Context
    name: str
    vendor: str
    driver: str
    reason: str
    host_visible: bool


@dataclass(frozen=True)
class Accelerator:
    """A loaded accelerator: its name, its library, the version of the interface, its devices."""

    name: str
    path: str
    version: str
    devices: tuple[DeviceInfo, ...]
    imperative: bool


class Accelerators(tuple[Accelerator, ...]):
    """The loaded accelerators; prints as a table."""

    def __repr__(self) -> str:
        if not self:
            return "no accelerator is loaded"
        rows = [("name", "devices", "version", "library")]
        for acc in self:
            shown = ", ".join(d.name or str(d.context) for d in acc.devices)
            rows.append((acc.name, f"{len(acc.devices)} ({shown})", acc.version, acc.path))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join(lines)


_HOST_VISIBLE = 1


def device_info(context: Context) -> DeviceInfo:
    """What a device says of itself. ValueError where the context is no accelerator's."""
    name, vendor, driver, reason, flags = _device_info(context)
    return DeviceInfo(context, name, vendor, driver, reason, bool(flags & _HOST_VISIBLE))


def memory_info(context: Context) -> MemoryInfo:
    """What a device's memory is used for. ValueError where the context is no accelerator's."""
    return MemoryInfo(*_memory(context))


def empty_cache(context: Context) -> None:
    """Gives memory that is kept for later arrays back to the device."""
    _empty_cache(context)


def accelerators() -> Accelerators:
    """The loaded accelerators, in the order in which they were loaded."""
    return Accelerators(
        Accelerator(
            name,
            path,
            version,
            tuple(device_info(Context(name, i)) for i in range(count)),
            imperative,
        )
        for name, path, version, count, imperative in _loaded()
    )


def acc(device_id: int = 0) -> Context:
    """The context of a device of the accelerator that is loaded, if it is only one.

    Raises RuntimeError where none is loaded, and where there are several to choose from.
    """
    names = [row[0] for row in _loaded()]
    if len(names) != 1:
        choice = ", ".join(f"mx.{name}()" for name in names)
        raise RuntimeError(
            f"acc: several accelerators are loaded, choose one of {choice}"
            if names
            else "acc: no accelerator is loaded; mx.load_acc(path) loads one"
        )
    return Context(names[0], device_id)


def list_acc(context: Context | None = None) -> list[int]:
    """The numbers of the devices of an accelerator, [0, 1, ...]; by default of `mx.acc()`."""
    name = (acc() if context is None else context).device_type
    counts = {row[0]: row[3] for row in _loaded()}
    if name not in counts:
        raise ValueError(f"list_acc: {name!r} is no accelerator that is loaded")
    return list(range(counts[name]))
