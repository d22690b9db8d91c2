"""Layers that other packages add: modules that describe operators, with gradients and kernels.

Each is named by an entry point in the group `mx.sol.layers`, and imported before the first model is
optimized.
"""

from __future__ import annotations

from types import ModuleType

from ._registry import Registry, registry_of

layers: Registry[ModuleType] = registry_of("layers", {}, ModuleType)


def load() -> list[ModuleType]:
    """Imports them, once; those that cannot be are left out with a SolWarning."""
    return list(layers)
