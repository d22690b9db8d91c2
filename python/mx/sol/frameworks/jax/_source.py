"""A function of JAX with an example of its arguments, as the source of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy
from jax import tree_util

from ....graph import Graph
from ....importers.jax._trace import Traced, is_array, output_names
from ...dims import Choice, Dimensions, Shape
from .._framework import Parsed, Source


class JaxSource(Source):
    """See Source. The function is traced for each choice of lengths, as JAX does itself."""

    example: list[Any]

    def __init__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.traced = Traced(function, args, kwargs)
        self.name = self.traced.name
        self.layout = "NHWC"
        dtypes = [spec.dtype for spec in self.traced.specs(self.traced.shapes())]
        given = [self.traced.leaves[n] for n in self.traced.positions]
        self.example = [numpy.asarray(one, dtype) for one, dtype in zip(given, dtypes, strict=True)]
        self._shapes: list[tuple[int, ...]] = [array.shape for array in self.example]
        self._dimensions: Dimensions | None = None

    def dimensions(self) -> Dimensions:
        """The first axis of all inputs, where they have the same and the function takes others."""
        if self._dimensions is None:
            self._dimensions = self._find_dimensions()
        return self._dimensions

    def _find_dimensions(self) -> Dimensions:
        traced, shapes = self.traced, self._shapes
        names = traced.paths
        first = {shape[0] for shape in shapes if shape}
        own = self._result_shapes(shapes)
        outputs: list[Shape] = list(own)
        inputs: list[Shape] = list(shapes)
        lengths: tuple[int, ...] = ()
        why = "the function is traced for the lengths of its example"
        if len(first) == 1 and all(shapes):
            (length,) = first
            try:
                longer = [
                    self._result_shapes([(length + more, *shape[1:]) for shape in shapes])
                    for more in (1, 2)
                ]
            except Exception as error:  # whatever the function raises for another length
                why = str(error).split("\n")[0]
            else:
                inputs = [("#0", *shape[1:]) for shape in shapes]
                outputs = [
                    tuple(_extent(length, *found) for found in zip(*three, strict=True))
                    for three in zip(own, *longer, strict=True)
                ]
                lengths = (length,)
        return Dimensions(
            dict(zip(names, inputs, strict=True)),
            dict(zip(output_names(traced.outputs), outputs, strict=True)),
            lengths,
            lambda name, axis: why if axis == 0 else f"{self.name} is traced for it",
        )

    def _result_shapes(self, shapes: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        traced = self.traced
        weights = [array for _, array in traced.weights()]
        found = jax.eval_shape(traced.flat, weights, traced.specs(shapes))
        return [tuple(one.shape) for one in found]

    def parse(self, choice: Choice | None) -> Parsed:
        """The graph of the example's shapes, or of the lengths that were chosen."""
        shapes = self._shapes
        if choice is not None and choice.lengths:
            length = choice.lengths[0]
            if length is not None:
                shapes = [(length, *shape[1:]) for shape in shapes]
        return Parsed(self.parse_for(shapes), lambda given: list(given) == shapes)

    def parse_for(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The function traced for these shapes."""
        return self.traced.graph_of(shapes)

    def parse_for_gradients(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The same with nodes where the function ends gradients."""
        return self.traced.graph_of(shapes, stops=True)

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arrays among the arguments; the others have to be as in the example."""
        traced = self.traced
        leaves, structure = tree_util.tree_flatten((tuple(args), dict(kwargs)))
        if structure != traced.structure:
            raise TypeError(
                f"{self.name}: expected arguments in the structure of the example,"
                f" {traced.structure}, got {structure}"
            )
        arrays = set(traced.positions)
        for n, (leaf, told) in enumerate(zip(leaves, traced.leaves, strict=True)):
            if n not in arrays and leaf != told:
                raise ValueError(
                    f"{self.name}: expected {told!r}, as in the example: only arrays may be others;"
                    f" got {leaf!r}"
                )
        return [leaves[n] for n in traced.positions]

    def unflatten(self, outputs: Sequence[Any]) -> Any:
        """What the function returns."""
        leaves, structure = tree_util.tree_flatten(self.traced.outputs)
        given = iter(outputs)
        return tree_util.tree_unflatten(
            structure, [next(given) if is_array(leaf) else leaf for leaf in leaves]
        )


def _extent(length: int, own: int, one_more: int, two_more: int) -> int | str:
    """The length of an axis as what follows from that of the first axis of the inputs."""
    step = one_more - own
    if step == 0 and two_more == own:
        return own
    rest = own - step * length
    if two_more - one_more != step:
        return "?"
    factor = "#0" if step == 1 else f"{step}*#0"
    return factor if rest == 0 else f"{factor} {'+' if rest > 0 else '-'} {abs(rest)}"
