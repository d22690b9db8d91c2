"""Arrays with NumPy's interface over a fast function boundary.

`mx.np` is the array namespace and `mx.np.ndarray` the array; `mx.npx` has the operators that NumPy
lacks; `mx.cpu(0)` says where an array lives.
"""

import sys
from typing import TYPE_CHECKING

from numpy.exceptions import AxisError

import ffi

from . import context, ndarray, numpy, numpy_extension, op, test_utils
from . import numpy as np
from . import numpy_extension as npx
from ._acc.attribute import offer as _offer_accelerators
from ._acc.fallback import (
    AccFallbackWarning,
    AccPlacementWarning,
    acc_fallback,
    acc_stats,
    waitall,
)
from ._acc.loading import load_acc, unload_acc
from ._acc.loading import use_namespace as _use_namespace
from ._acc.table import acc, accelerators, device_info, empty_cache, memory_info
from ._acc.table import find_attribute as _find_accelerator
from ._lazy import LazyModule as _LazyModule
from .context import Context, cpu, current_context
from .threads import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from . import cache, graph, importers, io, model, module, nd, sol, symbol
    from . import module as mod
    from . import symbol as sym
else:
    cache = _LazyModule("mx.cache", globals())
    # Graphs need packages that arrays do without.
    graph = _LazyModule("mx.graph", globals())
    importers = _LazyModule("mx.importers", globals())
    symbol = sym = _LazyModule("mx.symbol", globals())
    model = _LazyModule("mx.model", globals())
    module = mod = _LazyModule("mx.module", globals())
    sol = _LazyModule("mx.sol", globals())
    # Little used beside mx.np.
    io = _LazyModule("mx.io", globals())
    nd = _LazyModule("mx.nd", globals())

__all__ = [
    "AccFallbackWarning",
    "AccPlacementWarning",
    "Context",
    "acc",
    "acc_fallback",
    "acc_stats",
    "accelerators",
    "cache",
    "context",
    "cpu",
    "current_context",
    "device_info",
    "empty_cache",
    "get_num_threads",
    "graph",
    "importers",
    "io",
    "load_acc",
    "memory_info",
    "mod",
    "model",
    "module",
    "nd",
    "ndarray",
    "np",
    "npx",
    "numpy",
    "numpy_extension",
    "op",
    "set_num_threads",
    "sol",
    "sym",
    "symbol",
    "test_utils",
    "unload_acc",
    "waitall",
]

__version__ = ffi.__version__

# `import mx.np` works, and pickles find what says that it is of mx.np.
sys.modules["mx.np"] = numpy
sys.modules["mx.npx"] = numpy_extension

ffi.register_error("AxisError", AxisError)

_use_namespace(globals())
_offer_accelerators(_find_accelerator)
