"""Compiling operators from Python, with the C++ compiler of the system.

`load_inline` compiles and loads source text in one step, `build` compiles it to a library. Both
keep what they have compiled and do it again only where something it was made of has changed.
"""

from ._build import build as build
from ._build import load_inline as load_inline
from ._compiler import BuildError as BuildError

# Where users find it, and tracebacks name it.
BuildError.__module__ = __name__

__all__ = ["BuildError", "build", "load_inline"]
