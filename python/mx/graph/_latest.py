"""What has executed the inputs that came last: in C on the Cython path, else in Python."""

from typing import TYPE_CHECKING

import ffi

if TYPE_CHECKING or ffi.backend != "cython":
    from ._portable import Latest
else:
    from .._cython.latest import Latest

__all__ = ["Latest"]
