"""The sources of kernels: those of this package, and those that others add."""

from __future__ import annotations

from typing import Any

from ._registry import Registry, registry_of

# In the order in which they are asked for what no table and no measurement has another order for.
backends: Registry[Any] = registry_of(
    "backends",
    {
        "mkl": "mx.graph.lowering:MKL",
        "onednn": "mx.graph.lowering:ONEDNN",
        "gen": "mx.sol.backends.gen:GEN",
        "blas": "mx.graph.lowering:BLAS",
        "mx": "mx.graph.lowering:OPERATORS",
    },
)
