"""Arrays with NumPy's interface over a fast function boundary.

`mx.np` is the array namespace and `mx.np.ndarray` the array; `mx.cpu(0)` says where one lives.
"""

import ffi

from . import context, ndarray, numpy, test_utils
from . import numpy as np
from .context import Context, cpu, current_context

__all__ = [
    "Context",
    "context",
    "cpu",
    "current_context",
    "ndarray",
    "np",
    "numpy",
    "test_utils",
]

__version__ = ffi.__version__
