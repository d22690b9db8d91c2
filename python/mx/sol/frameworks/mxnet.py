"""MXNet's symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...symbol import Symbol
from ._framework import Framework, Source
from ._symbol_source import SymbolSource

if TYPE_CHECKING:
    from .._compiled import Compiled


class MXNet(Framework):
    """Symbols with their parameters. Optimized they are functions of NumPy's arrays."""

    name = "mxnet"
    models = "an mx.sym.Symbol with its parameters, (symbol, arg_params, aux_params)"
    target = "numpy"

    def reads(self, model: object) -> bool:
        """Whether it is a symbol, or a tuple that begins with one."""
        first = model[0] if isinstance(model, tuple) and model else model
        return isinstance(first, Symbol)

    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """The symbol with its parameters and an example of its inputs."""
        symbol, *params = model if isinstance(model, tuple) else (model,)
        if len(params) > 2:
            raise TypeError(
                "sol.optimize: model: expected (symbol, arg_params, aux_params), got a tuple of"
                f" {len(model)}"
            )
        known: dict[str, Any] = {}
        for name, arrays in zip(("arg_params", "aux_params"), params, strict=False):
            if not isinstance(arrays, Mapping | None):
                raise TypeError(
                    f"sol.optimize: model: {name}: expected arrays by name, got"
                    f" {type(arrays).__name__}"
                )
            known |= arrays or {}
        return SymbolSource(symbol, known, args, kwargs)

    def wrap(self, compiled: Compiled, model: Any) -> Any:
        """ValueError: symbols have no nodes for what passes make."""
        raise ValueError(
            "sol.optimize: framework='mxnet': no optimized model is a symbol: use"
            " framework='numpy', a function of arrays, or 'onnx', a graph that can be saved"
        )

    def missing(self) -> str:
        """Nothing: it is part of this package."""
        return ""


FRAMEWORK = MXNet()
