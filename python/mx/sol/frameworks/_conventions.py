"""Models with other conventions than their framework's: the order of axes, data types."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy
import onnx_ir

from ...graph import Graph
from ..dims import Choice, Dimensions, Shape
from ..dims._dimensions import Later
from ._framework import InTraining, Parsed, Source, Weight

LAYOUTS = ("NCHW", "NHWC")
# Arrays of so many axes are images, and such with a depth.
_IMAGES = (4, 5)
_DTYPES = {
    "float16": onnx_ir.DataType.FLOAT16,
    "bfloat16": onnx_ir.DataType.BFLOAT16,
    "float32": onnx_ir.DataType.FLOAT,
    "float64": onnx_ir.DataType.DOUBLE,
}


@dataclass(frozen=True)
class Conventions:
    """What is asked for: where images have their channels, and the data type of floats."""

    layout: str | None = None
    dtype: str | None = None

    def __post_init__(self) -> None:
        if self.layout not in (None, *LAYOUTS):
            raise ValueError(
                f"sol.optimize: layout: expected one of {', '.join(LAYOUTS)}, got {self.layout!r}"
            )
        if self.dtype is not None and self.dtype not in tuple(_DTYPES):
            raise ValueError(
                f"sol.optimize: dtype: expected one of {', '.join(_DTYPES)}, got {self.dtype!r}"
            )

    def applied(self, source: Source) -> Source:
        """The source with these conventions, itself where it has them."""
        turned = self.layout is not None and self.layout != source.layout
        if not turned and self.dtype is None:
            return source
        return ConventionSource(source, self.layout if turned else None, self.dtype)


class ConventionSource(Source):
    """A source whose inputs and outputs are turned and cast."""

    def __init__(self, source: Source, layout: str | None, dtype: str | None) -> None:
        self._source, self._layout, self._dtype = source, layout, dtype
        self.name, self.layout = source.name, layout or source.layout
        self.changes = source.changes
        self.example = None
        if source.example is not None:
            self.example = [self._converted(array) for array in source.example]

    def _order(self, rank: int, back: bool = False) -> list[int] | None:
        """The order of axes that an array of the source gets, or that takes it back."""
        if self._layout is None or rank not in _IMAGES:
            return None
        to_last = (self._layout == "NHWC") != back
        return [0, *range(2, rank), 1] if to_last else [0, rank - 1, *range(1, rank - 1)]

    def _turned(self, shape: Sequence[Any], back: bool = False) -> tuple[Any, ...]:
        order = self._order(len(shape), back)
        return tuple(shape) if order is None else tuple(shape[axis] for axis in order)

    def _converted(self, array: Any) -> Any:
        array = numpy.asarray(array)
        array = array.transpose(self._order(array.ndim) or range(array.ndim))
        is_float = array.dtype.kind == "f" or array.dtype.name == "bfloat16"
        wanted = _DTYPES[self._dtype].numpy() if self._dtype and is_float else array.dtype
        return numpy.ascontiguousarray(array, dtype=wanted)

    def dimensions(self) -> Dimensions:
        """Those of the source, in another order."""
        own = self._source.dimensions()

        def reason(name: str, axis: int) -> str:
            order = self._order(len(own.inputs[name]))
            return own.reason(name, axis if order is None else order[axis])

        def turned(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
            return {name: self._turned(shape) for name, shape in shapes.items()}

        outputs = Later(lambda: turned(own.outputs))
        return Dimensions(turned(own.inputs), outputs, own.lengths, reason)

    def parse(self, choice: Choice | None) -> Parsed:
        """The graph of the source between transposes and casts."""
        parsed = self._source.parse(choice)

        def holds(shapes: Sequence[tuple[int, ...]]) -> bool:
            return parsed.holds([self._turned(shape, True) for shape in shapes])

        return Parsed(self._around(parsed.graph), holds)

    def parse_for(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The same for these shapes."""
        return self._around(self._source.parse_for([self._turned(shape, True) for shape in shapes]))

    def parse_as_called(self, shapes: Sequence[tuple[int, ...]]) -> Graph | None:
        """See Source."""
        own = [self._turned(shape, True) for shape in shapes]
        called = self._source.parse_as_called(own)
        return None if called is None else self._around(called)

    def parse_for_gradients(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The same with nodes where the model ends gradients."""
        own = [self._turned(shape, True) for shape in shapes]
        return self._around(self._source.parse_for_gradients(own))

    def parse_for_training(
        self, axes: Sequence[Sequence[int | str | None]], training: bool = True
    ) -> InTraining:
        """See Source: inputs and outputs are turned and cast, weights and losses are not."""
        own = [self._turned(one, True) for one in axes]
        form = self._source.parse_for_training(own, training)
        count = len(form.graph.outputs) - len(form.writes) - form.num_losses
        return replace(form, graph=self._around(form.graph, len(axes), count))

    @property
    def has_modes(self) -> bool:
        """See Source."""
        return self._source.has_modes

    def weights_of_training(self) -> Mapping[str, Weight]:
        """See Source."""
        return self._source.weights_of_training()

    def frozen(self) -> Collection[str]:
        """See Source."""
        return self._source.frozen()

    def modes(self) -> tuple[bool, ...]:
        """See Source."""
        return self._source.modes()

    def _around(
        self, graph: Graph, num_inputs: int | None = None, num_outputs: int | None = None
    ) -> Graph:
        """A copy whose first inputs and outputs are turned and cast; all of them by default."""
        graph = graph.copy()
        inner = graph.model.graph
        for number, value in enumerate(inner.inputs[:num_inputs]):
            if not value.is_initializer():
                self._before(inner, number, value)
        for number, value in enumerate(inner.outputs[:num_outputs]):
            self._behind(inner, number, value)
        inner.sort()
        return graph

    def _steps(self, value: onnx_ir.Value, back: bool) -> list[tuple[str, dict[str, Any]]]:
        """The nodes that an input (`back`) or an output goes through."""
        found: list[tuple[str, dict[str, Any]]] = []
        order = None if value.shape is None else self._order(len(value.shape), back)
        if value.dtype is None or not value.dtype.is_floating_point():
            return found
        if self._dtype is not None and value.dtype != _DTYPES[self._dtype]:
            wanted = value.dtype if back else _DTYPES[self._dtype]
            found.append(("Cast", {"to": int(wanted)}))
        if order is not None:
            found.append(("Transpose", {"perm": order}))
        return found

    def _before(self, graph: onnx_ir.Graph, number: int, value: onnx_ir.Value) -> None:
        steps = self._steps(value, back=True)
        if not steps:
            return
        name = value.name
        given = onnx_ir.Value(name=name, type=value.type, shape=value.shape)
        if value.shape is not None:
            given.shape = onnx_ir.Shape(self._turned(list(value.shape)))
        if self._dtype is not None:
            given.type = onnx_ir.TensorType(_DTYPES[self._dtype])
        value.name = f"{name}.converted"
        graph.inputs[number] = given
        last = _chain(graph, given, steps, f"{name}.converted", value)
        value.replace_all_uses_with(last, replace_graph_outputs=True)

    def _behind(self, graph: onnx_ir.Graph, number: int, value: onnx_ir.Value) -> None:
        steps = self._steps(value, back=False)
        if not steps:
            return
        name = value.name
        value.name = f"{name}.own"
        result = _chain(graph, value, steps, f"{name}.converted", value)
        result.name = name
        if value.shape is not None:
            result.shape = onnx_ir.Shape(self._turned(list(value.shape)))
        if self._dtype is not None:
            result.type = onnx_ir.TensorType(_DTYPES[self._dtype])
        graph.outputs[number] = result

    def base(self) -> Source:
        """See Source."""
        return self._source.base()

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """See Source."""
        return self._source.flatten(args, kwargs)

    def unflatten(self, outputs: Sequence[Any]) -> Any:
        """See Source."""
        return self._source.unflatten(outputs)

    def weights(self) -> Mapping[str, Weight] | None:
        """See Source."""
        return self._source.weights()

    def has_changed(self) -> bool:
        """See Source."""
        return self._source.has_changed()

    def look(self) -> None:
        """See Source."""
        self._source.look()


def _chain(
    graph: onnx_ir.Graph,
    value: onnx_ir.Value,
    steps: Sequence[tuple[str, dict[str, Any]]],
    name: str,
    like: onnx_ir.Value,
) -> onnx_ir.Value:
    """What a value becomes behind nodes that are added to the graph."""
    for number, (operator, attributes) in enumerate(steps):
        node = onnx_ir.node(
            operator,
            [value],
            {k: onnx_ir.convenience.convert_attribute(k, v) for k, v in attributes.items()},
            name=f"{name}.{operator}",
        )
        value = node.outputs[0]
        value.name = f"{name}.{number}"
        value.type = (
            like.type
            if operator != "Cast"
            else onnx_ir.TensorType(onnx_ir.DataType(attributes["to"]))
        )
        if operator == "Transpose" and like.shape is not None:
            value.shape = like.shape if len(steps) == number + 1 else None
        graph.append(node)
    return value
