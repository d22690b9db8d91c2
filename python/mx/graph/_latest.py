"""What has executed the inputs that came last: in C on the Cython path, else in Python."""

from typing import TYPE_CHECKING

import ffi

if TYPE_CHECKING or ffi.backend != "cython":
    from ._portable import Attempt, Latest
else:
    from .._cython.latest import Attempt, Latest

__all__ = ["Attempt", "Latest"]
