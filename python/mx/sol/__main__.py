"""`python -m mx.sol`: which frameworks, devices, backends and passes there are, and which not."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

from .. import _onednn
from .._acc.table import accelerators
from ._backends import backends
from ._errors import SolWarning
from ._layers import layers
from ._registry import Registry
from .deployments import deployments
from .devices._known import KNOWN
from .frameworks import Framework, frameworks
from .jits import JITS, Jit
from .operators import DOMAIN, OPERATORS
from .passes import PASSES

Row = tuple[str, str]


def _rows(registry: Registry[Any], text_of: Callable[[str, Any], str]) -> Iterator[Row]:
    """A row for each plugin; what is wrong with it for one that is broken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolWarning)  # which the row says, too
        for name, plugin, reason in registry.look():
            if plugin is None:
                yield name, f"broken: {reason}"
                continue
            try:
                yield name, text_of(name, plugin)
            # Code of other packages may raise anything.
            except Exception as error:
                yield name, f"broken: {type(error).__name__}: {error}"


def _framework(name: str, one: Framework) -> str:
    missing = one.missing()
    return f"missing: {missing}" if missing else _version(name)


def _devices() -> Iterator[Row]:
    yield "cpu", f"{os.cpu_count()} processors"
    found = accelerators()
    for one in found:
        yield one.name, f"{len(one.devices)} devices, {one.path}"
    for failure in found.failures:
        yield failure.path, f"missing: {failure.error}"
    there = {one.name for one in found} | {failure.name for failure in found.failures}
    for name, how in KNOWN.items():
        if name not in there:
            yield name, f"missing: {how}; MXNET_ACC_LIBRARIES names its library"


def _backend(name: str, one: Any) -> str:
    if name == "onednn":
        try:
            _onednn.load()
        except ImportError as error:
            return f"missing: {error}"
    return f"{len(one.rules)} operators" if one.rules else ""


def _jit(name: str, one: Jit) -> str:
    command = one.find()
    return " ".join(command) if command else f"missing: {' '.join(one.command)}"


def _layer(name: str, one: ModuleType) -> str:
    return (one.__doc__ or "").split("\n")[0]


def _layers() -> Iterator[Row]:
    yield DOMAIN, f"{len(OPERATORS)} operators"
    yield from _rows(layers, _layer)


def _passes() -> Iterator[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolWarning)
        broken = PASSES.broken
    yield from ((one.name, one.description) for one in PASSES)
    yield from ((name, f"broken: {reason}") for name, reason in broken)


def main() -> None:
    """Prints a section for each kind of plugin."""
    sections: dict[str, Iterator[Row]] = {
        "Frameworks": _rows(frameworks, _framework),
        "Devices": _devices(),
        "Backends": _rows(backends, _backend),
        "JITs": _rows(JITS, _jit),
        "Layers": _layers(),
        "Deployments": _rows(deployments, lambda _, one: one.missing() or one.description),
        "Passes": _passes(),
    }
    for title, rows in sections.items():
        print(f"{title}:")
        for name, text in rows:
            print(f"  {name:<14} {text}".rstrip())


def _version(name: str) -> str:
    for package in (name, f"{name}-cpu"):  # TensorFlow without GPUs is a package of its own
        with contextlib.suppress(PackageNotFoundError):
            return version(package)
    return ""


if __name__ == "__main__":
    main()
