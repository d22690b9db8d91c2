"""Optimizes models of any framework: `from mx import sol; fast = sol.optimize(model, example)`."""

from typing import Any

from ._config import config
from ._errors import SolWarning
from ._optimize import optimize, refresh
from ._report import memory, report
from ._summary import summary
from .devices import device
from .passes import PASSES as passes

# What the design has and this release has not.
_NOT_BUILT = {
    "cache": "a cache of compiled models",
    "deploy": "deployment",
    "set_seed": "random layers",
    "training_step": "training",
}

__all__ = [
    "SolWarning",
    "config",
    "device",
    "memory",
    "optimize",
    "passes",
    "refresh",
    "report",
    "summary",
]


def __getattr__(name: str) -> Any:
    if name in _NOT_BUILT:
        raise NotImplementedError(f"sol.{name}: {_NOT_BUILT[name]}: not built yet")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
