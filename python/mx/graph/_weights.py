"""The weights of a graph by name."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy
import onnx_ir

from ._errors import GraphError
from ._proto import elements_of, tensor_of
from ._spec import dims_of, dtype_name, shape_text


class Weights(MutableMapping[str, numpy.ndarray[Any, Any]]):
    """The weights of a graph: arrays by the names that the model's framework gave them.

    An array is read when it is looked up, from the file that has it, and cannot be written. Its
    dtype is that of the weight, of ml_dtypes where NumPy has none: bfloat16, float8_e4m3fn, int4.
    """

    def __init__(self, graph: onnx_ir.Graph, file: str) -> None:
        self._graph = graph
        self._file = file

    def __getitem__(self, name: str) -> numpy.ndarray[Any, Any]:
        tensor = self._tensor(name)
        try:
            array = elements_of(tensor)
        except (ValueError, OSError, TypeError) as error:
            raise GraphError(f"{self._file}: the weight {name!r} cannot be read: {error}") from None
        view: numpy.ndarray[Any, Any] = array.view()
        view.flags.writeable = False
        return view

    def __setitem__(self, name: str, array: Any) -> None:
        """Gives a weight other elements, of the same shape and dtype; raises GraphError if not."""
        old = self._tensor(name)
        new = numpy.asarray(array, order="C")
        shape, dtype = dims_of(old.shape), dtype_name(old.dtype)
        try:
            came = tensor_of(new, name)
        except TypeError:
            came = None
        if came is None or dims_of(came.shape) != shape or came.dtype != old.dtype:
            raise GraphError(
                f"{self._file}: the weight {name!r} is {dtype} {shape_text(shape)}, and was given "
                f"{new.dtype.name} {new.shape}"
            )
        self._graph.initializers[name].const_value = came

    def __delitem__(self, name: str) -> None:
        """Removes a weight that no node uses; raises GraphError where one does."""
        value = self._graph.initializers[name]
        if value.uses() or value.is_graph_output():
            raise GraphError(f"{self._file}: the weight {name!r} is used, so it stays")
        del self._graph.initializers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._graph.initializers))

    def __len__(self) -> int:
        return len(self._graph.initializers)

    def __contains__(self, name: object) -> bool:
        return name in self._graph.initializers

    def __repr__(self) -> str:
        return f"<{len(self)} weights of {sum(self.sizes().values()):,} elements>"

    def sizes(self) -> dict[str, int]:
        """The number of elements of each, without reading them."""
        found = self._graph.initializers.items()
        return {n: int(v.const_value.size) for n, v in found if v.const_value is not None}

    def _tensor(self, name: str) -> onnx_ir.TensorProtocol:
        tensor = self._graph.initializers[name].const_value
        if tensor is None:
            raise GraphError(f"{self._file}: the weight {name!r} has no elements")
        return tensor
