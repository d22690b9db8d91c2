"""NumPy: optimized models as functions of NumPy's arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ._framework import Framework, Source
from ._graph_source import GraphSource
from ._part import Part

if TYPE_CHECKING:
    from .._compiled import Compiled


class ArrayModel(Part):
    """An optimized model, called as the original with arrays of NumPy; gives arrays of NumPy."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        compiled = self.compiled
        if compiled.holder.has_changed():
            compiled.refresh()
        given = zip(compiled.source.flatten(args, kwargs), compiled.inputs, strict=True)
        outputs = self._run([self._checked(array, spec) for array, spec in given])
        return compiled.source.unflatten([self._result(one) for one in outputs])

    def _run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        return self.compiled.run(arrays)

    def _checked(self, array: Any, spec: Any) -> Any:
        """An array as plans take it; TypeError where it is of another type than the model's."""
        array = numpy.asarray(array)
        if spec.dtype == "string" and array.dtype.kind in "OU":
            return array.astype(object)
        if spec.dtype is not None and str(array.dtype) != spec.dtype:
            raise TypeError(f"input {spec.name!r}: expected {spec.dtype}, got {array.dtype}")
        return array

    def _result(self, output: Any) -> Any:
        """An output as NumPy has it: an array, or a list of them for a sequence."""
        if output is None:
            return None
        return (
            list(map(self._result, output)) if isinstance(output, list) else numpy.asarray(output)
        )

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.compiled.inputs))
        return f"<{self.compiled.source.name}, optimized: ({inputs})>"

    def __copy__(self) -> ArrayModel:
        """The same function, with the same plans."""
        return type(self)(self.compiled)

    def __deepcopy__(self, memo: dict[int, Any]) -> ArrayModel:
        """The same function of the same graph, which nobody changes, with plans of its own,
        untuned. TypeError as of pickling."""
        return _again(*self._recipe())

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """The graph, which is optimized again, untuned, where the pickle is read. TypeError for a
        function that was made of a model of another framework."""
        return _again, self._recipe()

    def _recipe(self) -> tuple[Any, ...]:
        compiled = self.compiled
        if not isinstance(compiled.source.base(), GraphSource):
            raise TypeError(
                f"{compiled.source.name}: a function of arrays that was made of a model of another"
                " framework cannot be copied or pickled: copy the model, and optimize it again"
            )
        return type(self), compiled.source, *compiled.options()


def _again(kind: type[ArrayModel], source: GraphSource, *options: Any) -> ArrayModel:
    from .._compiled import Compiled

    return kind(Compiled.with_options(source, *options))


class NumPy(Framework):
    """Arrays of NumPy. It has no models, but what models of others are made into."""

    name = "numpy"
    models = ""
    target = "numpy"

    def reads(self, model: object) -> bool:
        """False: NumPy has no models."""
        return False

    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """Never called."""
        raise TypeError("NumPy has no models")

    def wrap(self, compiled: Compiled, model: Any) -> ArrayModel:
        """A function."""
        return ArrayModel(compiled)

    def parts(self, model: Any) -> list[tuple[str, Any]] | None:
        """The model itself."""
        return [("", model)] if isinstance(model, ArrayModel) else None

    def missing(self) -> str:
        """Nothing."""
        return ""


FRAMEWORK = NumPy()
