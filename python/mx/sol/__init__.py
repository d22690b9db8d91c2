"""Optimizes models of any framework: `from mx import sol; fast = sol.optimize(model, example)`."""

from .. import cache
from . import operators as _operators  # noqa: F401
from ._config import config
from ._errors import SolWarning
from ._memory import largest_batch, memory
from ._optimize import optimize, refresh
from ._report import report
from ._seed import set_seed
from ._summary import summary
from ._training_step import training_step
from ._tune import tune
from .deployments._deploy import Deployed, deploy
from .devices import device
from .passes import PASSES as passes

__all__ = [
    "Deployed",
    "SolWarning",
    "cache",
    "config",
    "deploy",
    "device",
    "largest_batch",
    "memory",
    "optimize",
    "passes",
    "refresh",
    "report",
    "set_seed",
    "summary",
    "training_step",
    "tune",
]
