"""MXNet: symbols as models, and optimized models as functions of its arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy
import onnx_ir

from ... import numpy as np
from ...context import cpu
from ...graph._proto import tensor_of
from ...importers.mxnet.params import save_params
from ...symbol import Symbol
from ._framework import Framework, Holder, Source, Weight
from ._symbol_source import SymbolSource
from .numpy import ArrayModel

if TYPE_CHECKING:
    from .._compiled import Compiled

Arrays = dict[str, Any]


class ContextModel(ArrayModel):
    """An optimized model, called as the original with arrays of `mx.np`; gives such arrays.

    What it gives is on the context that the model is optimized for, wherever its inputs are. It has
    parameters of its own, which `get_params` and `set_params` have as `mx.mod.Module` has those of
    a symbol. It is for inference, as all of MXNet here.
    """

    def __init__(self, compiled: Compiled) -> None:
        super().__init__(compiled)
        # Those of a model that somebody may train are copied.
        if self._params is None and compiled.holder.weights() is not None:
            self._hold({name: tensor for name, (tensor, _) in self._weights().items()})

    def get_params(self) -> tuple[Arrays, Arrays]:
        """Copies of the parameters and of the auxiliary states, which training does not change by
        gradients: arrays of the CPU by name."""
        found: tuple[Arrays, Arrays] = {}, {}
        for name, (tensor, is_trained) in self._weights().items():
            found[not is_trained][name] = np.array(tensor.numpy(), ctx=cpu())
        return found

    def set_params(
        self,
        arg_params: Mapping[str, Any],
        aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Gives the model copies of arrays, by name, from the next call on.

        ValueError for a name that the model does not have, unless `allow_extra`, for one that is
        missing, unless `allow_missing`, when it stays what it was, and for an array of another
        shape; TypeError for one of another data type, and where arrays are not given by name. Does
        nothing without `force_init`, as the
        model has its parameters.
        """
        if not force_init:
            return
        for which, arrays in (("arg_params", arg_params), ("aux_params", aux_params or {})):
            if not isinstance(arrays, Mapping):
                raise TypeError(
                    f"set_params: {which}: expected arrays by name, got {type(arrays).__name__}"
                )
        now = {name: tensor for name, (tensor, _) in self._weights().items()}
        given = dict(arg_params) | dict(aux_params or {})
        known = {name: one for name, one in given.items() if name in now}
        for kind, names in (
            ("the model has no parameter", [] if allow_extra else sorted({*given} - {*now})),
            ("missing are", [] if allow_missing else sorted({*now} - {*given})),
        ):
            if names:
                raise ValueError(f"set_params: {kind} {', '.join(names)}: it has {', '.join(now)}")
        for name, array in known.items():
            now[name] = _tensor_like(now[name], array, name)
        self._hold(now)

    def save_params(self, fname: str | PathLike[str]) -> None:
        """Writes the parameters to a file that MXNet and `mx.model` read."""
        arguments, auxiliary = self.get_params()
        save_params(fname, _as_numpy(arguments), _as_numpy(auxiliary))

    def __deepcopy__(self, memo: dict[int, Any]) -> ContextModel:
        """The same function of the same graph, with plans and parameters of its own. TypeError as
        of pickling."""
        made: ContextModel = super().__deepcopy__(memo)  # type: ignore[assignment]
        made.__setstate__(self._params)
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """The graph, which is optimized again, untuned, where the pickle is read, and parameters
        that were set. TypeError for a function that was made of a model of another framework."""
        return *super().__reduce_ex__(protocol), self._params

    def __setstate__(self, params: _Params | None) -> None:
        if params is not None:
            self._hold(params.weights())

    @property
    def _params(self) -> _Params | None:
        """What has the parameters, once they are others than those that it was made of."""
        holder = self.compiled.holder
        return holder if isinstance(holder, _Params) else None

    def _weights(self) -> dict[str, tuple[Weight, bool]]:
        """The weights that arrays can have: texts are none."""
        every = self.compiled.weights().items()
        return {name: one for name, one in every if one[0].dtype != onnx_ir.DataType.STRING}

    def _hold(self, weights: Mapping[str, Weight]) -> None:
        self.compiled.holder = _Params(weights)

    def _run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        return self.compiled.run_there(arrays)

    def _checked(self, array: Any, spec: Any) -> Any:
        if not isinstance(array, np.ndarray):
            return super()._checked(array, spec)
        if spec.dtype is not None and str(array.dtype) != spec.dtype:
            raise TypeError(f"input {spec.name!r}: expected {spec.dtype}, got {array.dtype}")
        return array

    def _result(self, output: Any) -> Any:
        if isinstance(output, list):
            return list(map(self._result, output))
        if output is None or isinstance(output, np.ndarray):
            return output
        # Texts, which arrays of mx do not have, stay arrays of NumPy.
        return output if output.dtype.kind in "OSU" else np.array(output, ctx=self.compiled.context)


class _Params(Holder):
    """Parameters that were given to a model; another of these has others."""

    def __init__(self, weights: Mapping[str, Weight]) -> None:
        self._weights = {
            name: tensor_of(numpy.array(tensor.numpy()), name) for name, tensor in weights.items()
        }
        self._is_new = True

    def weights(self) -> Mapping[str, Weight]:
        """See Holder."""
        return self._weights

    def has_changed(self) -> bool:
        """See Holder."""
        return self._is_new

    def look(self) -> None:
        """See Holder."""
        self._is_new = False


def _tensor_like(old: Weight, array: Any, name: str) -> Weight:
    """An array as a tensor of the data type and shape of another."""
    new = _as_numpy({name: array})[name]
    wanted = old.numpy()
    if new.dtype != wanted.dtype:
        raise TypeError(f"set_params: {name!r}: expected {wanted.dtype}, got {new.dtype}")
    if new.shape != wanted.shape:
        raise ValueError(f"set_params: {name!r}: expected shape {wanted.shape}, got {new.shape}")
    return tensor_of(new, name)


def _as_numpy(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: numpy.asarray(one.as_in_ctx(cpu()) if isinstance(one, np.ndarray) else one)
        for name, one in arrays.items()
    }


class MXNet(Framework):
    """Symbols with their parameters. Optimized they are functions of arrays of `mx.np`, which have
    parameters, too."""

    name = "mxnet"
    models = "an mx.sym.Symbol with its parameters, (symbol, arg_params, aux_params)"
    target = "mxnet"

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

    def wrap(self, compiled: Compiled, model: Any) -> ContextModel:
        """A function."""
        return ContextModel(compiled)

    def parts(self, model: Any) -> list[tuple[str, Any]] | None:
        """The function itself."""
        return [("", model)] if isinstance(model, ContextModel) else None

    def missing(self) -> str:
        """Nothing: it is part of this package."""
        return ""


FRAMEWORK = MXNet()
