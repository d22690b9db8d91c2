"""The array namespace: NumPy's functions over the operators of the registry.

Every operator registered as `_npi.<name>` is a function here, under its own name: signature, help
and keyword arguments come from its registration.
"""

import math
from typing import Any

from .. import _dtypes
from .._registry import FUNCTIONS, NUMPY
from ..ndarray import ndarray
from . import _functions
from ._functions import *  # noqa: F403

pi = math.pi
e = math.e
euler_gamma = 0.5772156649015329
inf = math.inf
nan = math.nan
newaxis = None

globals().update(_dtypes.SCALAR_TYPES)
globals().update(FUNCTIONS)

__all__ = [
    "bfloat16",  # noqa: F405  of __getattr__
    "e",
    "euler_gamma",
    "inf",
    "nan",
    "ndarray",
    "newaxis",
    "pi",
    *_dtypes.SCALAR_TYPES,
    *_functions.__all__,
    *FUNCTIONS,
]


def __getattr__(name: str) -> Any:
    """bfloat16, and operators that were registered after this package was imported."""
    if name == "bfloat16":
        value = _dtypes.bfloat16()
    else:
        value = NUMPY.registered_later(name)
    globals()[name] = value
    return value
