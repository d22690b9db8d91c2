"""Counting words. The functions are those of the C++ library beside this file."""

from pathlib import Path

import ffi

_library = ffi.load_library(Path(__file__).parent / "libwordcount.so")

count = _library.count
most_common = _library.most_common

__all__ = ["count", "most_common"]
