"""The host of mxacc-check, on which tests of libraries stand, too."""

from mx._acc.check.plugin import AccError, Executor, Memory, Plugin, geometry, tensors

__all__ = ["AccError", "Executor", "Memory", "Plugin", "geometry", "tensors"]
