"""The loaded accelerators and their devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import ffi
from ffi import Context

from .loading import CONTEXTS, FOUND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import overload

    from .discovery import Discovery, Failure

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
    """A device: what it says of itself, and why it cannot be used, if so.

    kind is "cpu", "gpu" or "npu", bus the address by which other tools know the device, such as
    "0000:3b:00.0". What a device does not say is "".
    """

    context: Context
    name: str
    vendor: str
    driver: str
    reason: str
    host_visible: bool
    kind: str
    bus: str


@dataclass(frozen=True)
class Accelerator:
    """A loaded accelerator.

    found is "load_acc", "MXNET_ACC_LIBRARIES", "bundled" or "package NAME"; version is that of the
    interface that the library was built against, release its own ("" where it does not say);
    process is the number of the process that the library has for itself, if it was isolated, and
    ended whether that has died since: what was on the accelerator is lost then, and load_acc with
    the library starts it again.
    """

    name: str
    path: str
    version: str
    devices: tuple[DeviceInfo, ...]
    imperative: bool
    release: str
    found: str
    process: int | None
    ended: bool

    def _cells(self) -> tuple[str, ...]:
        shown = ", ".join(d.name or str(d.context) for d in self.devices)
        devices = f"{len(self.devices)} ({shown})" if shown else "none"
        own = f"{self.process}{' (ended)' if self.ended else ''}"
        process = "this one" if self.process is None else own
        return self.name, devices, self.release, self.version, self.found, process, self.path


class Accelerators(tuple[Accelerator, ...]):
    """The loaded accelerators, and in failures those that were found and did not load.

    Prints as a table.
    """

    failures: tuple[Failure, ...] = ()

    def __repr__(self) -> str:
        lines = [f"not loaded: {f.path} ({f.found}): {f.error}" for f in self.failures]
        if not self:
            return "\n".join(["no accelerator is loaded", *lines])
        head = ("name", "devices", "release", "interface", "found by", "process", "library")
        rows = [head, *(acc._cells() for acc in self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join([*table, *lines])


_HOST_VISIBLE = 1
# By MXAccDeviceInfo::kind.
_KINDS = ("", "cpu", "gpu", "npu")


def _discovery() -> Discovery:
    """The Discovery; its module is imported when the first accelerator is asked for."""
    from .discovery import DISCOVERY

    return DISCOVERY


def _find(name: str) -> None:
    """Loads the accelerator of that name, if one is found; raises why it did not load."""
    _discovery().look_for(name)
    if name not in CONTEXTS:
        _discovery().check(name)


ffi.get_global_func("runtime.use_device_finder")(_find)


def find_attribute(name: str) -> Callable[..., Context]:
    """The function `mx.<name>` of an accelerator that can be found but is not loaded yet.

    Raises AttributeError, with the reason where an accelerator was found and did not load.
    """
    if not name.startswith("_"):
        _discovery().look_for(name, installed=False)
        if name in CONTEXTS:
            return CONTEXTS[name]
    text = f"module 'mx' has no attribute {name!r}"
    for failure in _discovery().failures(name):
        text = f"mx.{name}: {failure.path} ({failure.found}) did not load: {failure.error}"
        raise AttributeError(text) from failure.error
    if not name.startswith("_"):
        text += f"; mx.acc({name!r}) looks for an accelerator in installed packages, too"
    raise AttributeError(text)


def device_info(context: Context) -> DeviceInfo:
    """What a device says of itself. ValueError where the context is no accelerator's."""
    name, vendor, driver, reason, flags, number, bus = _device_info(context)
    kind = _KINDS[number] if 0 <= number < len(_KINDS) else ""
    visible = bool(flags & _HOST_VISIBLE)
    return DeviceInfo(context, name, vendor, driver, reason, visible, kind, bus)


def memory_info(context: Context) -> MemoryInfo:
    """What a device's memory is used for. ValueError where the context is no accelerator's."""
    return MemoryInfo(*_memory(context))


def empty_cache(context: Context) -> None:
    """Gives memory that is kept for later arrays back to the device."""
    _empty_cache(context)


def accelerators() -> Accelerators:
    """The accelerators, in the order in which they were loaded; those that can be found, too.

    What was found and did not load is in the result's failures, each with name, path, found and
    error.
    """
    _discovery().look_for()
    rows = _loaded()
    listed = Accelerators(
        Accelerator(
            name,
            path,
            version,
            tuple(device_info(Context(name, i)) for i in range(count)),
            imperative,
            release,
            FOUND.get(name, ""),
            process or None,
            ended,
        )
        for name, path, version, count, imperative, release, process, ended in rows
    )
    paths = {row[1] for row in rows}
    listed.failures = tuple(each for each in _discovery().failures() if each.path not in paths)
    return listed


if TYPE_CHECKING:

    @overload
    def acc(name: int = 0) -> Context: ...
    @overload
    def acc(name: str | None = None, device_id: int = 0) -> Context: ...


def acc(name: str | int | None = None, device_id: int = 0) -> Context:
    """The context of a device of an accelerator: `acc("npu", 1)`, `acc(1)`, `acc()`.

    The accelerator of that name is loaded if it can be found; without a name it is the one that is
    loaded, or can be found, if it is one.

    Raises RuntimeError where there is none, and where there are several to choose from; where one
    was found and did not load, what that raised.
    """
    if isinstance(name, str):
        _find(name)
        if name not in CONTEXTS:
            raise RuntimeError(f"acc: no accelerator {name!r} is loaded{_present()}")
        return Context(name, device_id)
    if name is not None and not isinstance(name, int):
        kind = type(name).__name__
        raise TypeError(f"acc: argument 0 ('name') expected str or int, got {kind}")
    if name is not None and device_id:
        raise TypeError(f"acc: got two numbers of a device, {name} and {device_id}, and no name")
    if not _loaded():
        _discovery().look_for()
    names = [row[0] for row in _loaded()]
    if len(names) != 1:
        raise RuntimeError(
            f"acc: several accelerators are loaded, choose one of {_choice(names)}"
            if names
            else f"acc: no accelerator is loaded{_present()}"
        )
    return Context(names[0], device_id if name is None else name)


def _choice(names: Iterable[str]) -> str:
    return ", ".join(f"mx.{name}()" for name in names)


def _present() -> str:
    """The end of a message: which accelerators are loaded, and why others are not."""
    names = [row[0] for row in _loaded()]
    there = f"; there are {_choice(names)}" if names else ""
    return f"{there}; mx.load_acc(path) loads one{_reasons()}"


def _reasons() -> str:
    """The end of a message: why accelerators that were found did not load."""
    return "".join(f"\n  {f.path} ({f.found}): {f.error}" for f in _discovery().failures())


def list_acc(context: Context | None = None) -> list[int]:
    """The numbers of the devices of an accelerator, [0, 1, ...]; by default of `mx.acc()`."""
    name = (acc() if context is None else context).device_type
    counts = {row[0]: row[3] for row in _loaded()}
    if name not in counts:
        raise ValueError(f"list_acc: {name!r} is no accelerator that is loaded")
    return list(range(counts[name]))
