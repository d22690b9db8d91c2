"""A function of JAX with an example of its arguments, as the source of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import jax
import numpy
from jax import tree_util

from ....graph import Graph, GraphError
from ....importers.jax._trace import Traced, is_array, is_key, output_names
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
        for path, dtype in zip(self.traced.paths, dtypes, strict=True):
            if is_key(dtype):
                raise GraphError(
                    f"{self.name}: argument {path!r} is a key of random numbers, for which graphs"
                    " have no type"
                )
        given = [self.traced.leaves[n] for n in self.traced.positions]
        self.example = [numpy.asarray(one, dtype) for one, dtype in zip(given, dtypes, strict=True)]
        self._shapes: list[tuple[int, ...]] = [array.shape for array in self.example]
        self._dimensions: Dimensions | None = None
        # The inputs whose first axis is #0, #1, ...
        self._together: list[list[int]] = []

    def dimensions(self) -> Dimensions:
        """The first axes of inputs that are as long, where the function takes others."""
        if self._dimensions is None:
            self._dimensions = self._find_dimensions()
        return self._dimensions

    def _find_dimensions(self) -> Dimensions:
        traced, shapes = self.traced, self._shapes
        own = self.result_shapes(shapes)
        inputs: list[Shape] = list(shapes)
        outputs: list[Shape] = list(own)
        why = dict[str, str]()
        for length in dict.fromkeys(shape[0] for shape in shapes if shape):
            numbers, found = self._find_together(length)
            if isinstance(found, str):
                why |= {traced.paths[n]: found for n in numbers}
                continue
            name = f"#{len(self._together)}"
            self._together.append(numbers)
            for n in numbers:
                inputs[n] = (name, *shapes[n][1:])
            outputs = [
                tuple(map(_extent, shape, repeat(name), repeat(length), *three))
                for shape, *three in zip(outputs, own, *found, strict=True)
            ]
        return Dimensions(
            dict(zip(traced.paths, inputs, strict=True)),
            dict(zip(output_names(traced.outputs), outputs, strict=True)),
            tuple(shapes[numbers[0]][0] for numbers in self._together),
            lambda name, axis: why[name] if axis == 0 and name in why else self._reason(name, axis),
        )

    def _reason(self, name: str, axis: int) -> str:
        """What JAX says of one element more along an axis."""
        longer = list(map(list, self._shapes))
        longer[self.traced.paths.index(name)][axis] += 1
        try:
            self.result_shapes(longer)
        except Exception as error:  # whatever the function raises for another length
            return str(error).split("\n")[0]
        return f"{self.name} is traced for it"

    def _find_together(self, length: int) -> tuple[list[int], Any]:
        """The inputs whose first axis varies together, and the shapes of results for one and two
        more; or why it cannot.

        These are all inputs that are as long, or else those in arguments that have no others: what
        is as long by chance is a parameter most often, which stands among others of its kind.
        """
        shapes, arguments = self._shapes, self.traced.arguments()
        every = [n for n, shape in enumerate(shapes) if shape[:1] == (length,)]
        mixed = {arguments[n] for n in range(len(shapes)) if n not in every}
        rest = [n for n in every if arguments[n] not in mixed]
        why = ""
        for numbers in (every, rest) if 0 < len(rest) < len(every) else (every,):
            try:
                return numbers, [
                    self.result_shapes(
                        [
                            (length + more, *shape[1:]) if n in numbers else shape
                            for n, shape in enumerate(shapes)
                        ]
                    )
                    for more in (1, 2)
                ]
            except Exception as error:  # whatever the function raises for another length
                why = why or str(error).split("\n")[0]
        return every, why

    def result_shapes(self, shapes: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        """The shapes of the arrays that the function returns for arguments of these."""
        traced = self.traced
        weights = [array for _, array in traced.weights()]
        found = jax.eval_shape(traced.flat, weights, traced.specs(shapes))
        return [tuple(one.shape) for one in found]

    def parse(self, choice: Choice | None) -> Parsed:
        """The graph of the example's shapes, or of the lengths that were chosen."""
        shapes = list(self._shapes)
        if choice is not None and choice.lengths:
            self.dimensions()
            for numbers, length in zip(self._together, choice.lengths, strict=True):
                if length is not None:
                    for n in numbers:
                        shapes[n] = (length, *shapes[n][1:])
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


def _extent(
    told: int | str, name: str, length: int, own: int, one_more: int, two_more: int
) -> int | str:
    """The length of an axis as what follows from that of the first axis of inputs, which has a
    name; `told` is what it is as long as that does not vary."""
    step = one_more - own
    if step == 0 and two_more == own:
        return told
    rest = own - step * length
    if two_more - one_more != step or told != own:
        return "?"
    factor = name if step == 1 else f"{step}*{name}"
    return factor if rest == 0 else f"{factor} {'+' if rest > 0 else '-'} {abs(rest)}"
