"""What several peers share: optional imports, and the inputs every peer is given."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from benchmarks.compare.model import Call
from benchmarks.peers.build import MissingPeer

MESSAGE = "expected a positive number"


def require(name: str) -> Any:
    """The module `name`; MissingPeer where it cannot be imported."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPeer(f"{name} cannot be imported: {error}") from error


def optional(name: str) -> ModuleType | None:
    """The module `name`, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def numpy_array() -> Any:
    """A 2 x 2 float32 NumPy array, or None without NumPy."""
    numpy = optional("numpy")
    return None if numpy is None else numpy.ones((2, 2), numpy.float32)


def torch_tensor() -> Any:
    """A 2 x 2 float32 tensor on the CPU, or None without PyTorch."""
    torch = optional("torch")
    return None if torch is None else torch.ones(2, 2)


def do_nothing() -> None:
    """The callback."""


def catching(function: Any, *arguments: Any) -> Call:
    """A call that raises ValueError, and its handler."""
    names = {f"v{index}": value for index, value in enumerate(arguments)}
    return Call(
        f"try:\n    f({', '.join(names)})\nexcept ValueError:\n    pass", {"f": function, **names}
    )
