"""The array namespace: NumPy's functions over the operators of the registry.

Every operator registered as `_npi.<name>` is a function here, under its own name: signature, help
and keyword arguments come from its registration.
"""

import math
import sys

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

bfloat16 = _dtypes.bfloat16
globals().update(_dtypes.SCALAR_TYPES)

__all__ = [
    "bfloat16",
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

NUMPY.follow_registry(sys.modules[__name__], FUNCTIONS)
