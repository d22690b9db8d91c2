"""`python -m mx.sol`: which frameworks, devices, backends and passes there are, and which not."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from .. import _onednn
from .._acc.table import accelerators
from ._backends import backends
from ._layers import layers
from .deployments import deployments
from .frameworks import frameworks
from .jits import JITS
from .operators import DOMAIN, OPERATORS
from .passes import PASSES

Row = tuple[str, str]


def _frameworks() -> Iterator[Row]:
    for name in frameworks.names():
        try:
            missing = frameworks.get(name).missing()
        except ImportError as error:
            missing = str(error)
        yield name, f"missing: {missing}" if missing else _version(name)


def _devices() -> Iterator[Row]:
    yield "cpu", f"{os.cpu_count()} processors"
    found = accelerators()
    for one in found:
        yield one.name, f"{len(one.devices)} devices, {one.path}"
    for failure in found.failures:
        yield failure.path, f"missing: {failure.error}"


def _backends() -> Iterator[Row]:
    missing = {}
    try:
        _onednn.load()
    except ImportError as error:
        missing["onednn"] = f"missing: {error}"
    for one in backends:
        rules = f"{len(one.rules)} operators" if one.rules else ""
        yield one.name, missing.get(one.name, rules)


def _jits() -> Iterator[Row]:
    for one in JITS:
        command = one.find()
        yield one.name, " ".join(command) if command else f"missing: {' '.join(one.command)}"


def _operators() -> Iterator[Row]:
    yield DOMAIN, f"{len(OPERATORS)} operators"
    for name in layers.names():
        try:
            text = (layers.get(name).__doc__ or "").split("\n")[0]
        except ImportError as error:
            text = f"missing: {error}"
        yield name, text


def main() -> None:
    """Prints a section for each kind of plugin."""
    sections: dict[str, Iterator[Row]] = {
        "Frameworks": _frameworks(),
        "Devices": _devices(),
        "Backends": _backends(),
        "JITs": _jits(),
        "Layers": _operators(),
        "Deployments": ((one.name, one.missing() or one.description) for one in deployments),
        "Passes": ((one.name, one.description) for one in PASSES),
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
