"""A symbol of MXNet with an example of its inputs, as the source of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy

from ...graph import Graph, GraphError
from ...importers.mxnet import convert, draws_in_training, only_in_training
from ...symbol import Symbol
from ..dims import Choice, Dimensions
from ._framework import Parsed
from ._graph_source import Axes, GraphSource, merged
from ._statistics import set_apart

Shapes = Sequence[tuple[int | str, ...]]


class SymbolSource(GraphSource):
    """See Source. The symbol is converted for each choice of lengths, as its rules use shapes."""

    def __init__(
        self,
        symbol: Symbol,
        params: Mapping[str, Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        self._symbol, self._heads, self._params = symbol, list(symbol._heads), params
        self._free: GraphSource | None = None
        labels = only_in_training(self._heads)
        inputs = [one for one in symbol.list_inputs() if one not in params and one not in labels]
        given = dict(zip(inputs, args, strict=False)) | dict(kwargs)
        for name in given:
            if name not in inputs:
                raise TypeError(f"{symbol.name or 'symbol'}: there is no input {name!r}: {inputs}")
        arrays = {name: numpy.asarray(array) for name, array in given.items()}
        self._name = symbol.name or "symbol"
        self._types = {name: array.dtype.name for name, array in arrays.items()}
        graph = self._convert({name: array.shape for name, array in arrays.items()})
        super().__init__(graph, args, kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        """The symbol, its parameters and the example."""
        return SymbolSource, (self._symbol, self._params, self.example or (), {})

    def _convert(self, shapes: Mapping[str, tuple[int | str, ...]], stops: bool = False) -> Graph:
        graph = convert(self._heads, shapes, self._types, self._params, self._name, stops)
        set_apart(graph)
        return graph

    def dimensions(self) -> Dimensions:
        """The first axis of the first input and of those that are as long, where the symbol has
        other lengths of it; without an example what the symbol itself leaves open."""
        found = self._with_dimensions().dimensions()
        other = f"{self.name} is converted for it"
        first = self._why or other
        return replace(found, reason=lambda name, axis: first if axis == 0 else other)

    def _with_dimensions(self) -> GraphSource:
        if self._free is None:
            self._free = self._find_free(self.example or ())
        return self._free

    def _find_free(self, example: Sequence[Any]) -> GraphSource:
        own = {name: x.shape for name, x in zip(self.names, example, strict=False)}
        lengths = [shape[0] for shape in own.values() if shape]
        if not lengths:
            return GraphSource(self.graph, example, {})

        def with_first(new: int | str) -> dict[str, tuple[int | str, ...]]:
            return {
                name: (new, *shape[1:]) if shape[:1] == (lengths[0],) else shape
                for name, shape in own.items()
            }

        try:
            # A name contradicts less than a number does.
            self._convert(with_first(lengths[0] + 1))
            graph = self._convert(with_first("N"))
        except GraphError as error:
            self._why = str(error).split("\n")[0]
            graph = self.graph
        return GraphSource(graph, example, {})

    def parse(self, choice: Choice | None) -> Parsed:
        """The graph of the example's shapes, or of the lengths that were chosen."""
        if self.example is not None and (choice is None or not choice.varying):
            shapes = [array.shape for array in self.example]
            if choice is not None and choice.lengths:
                dimensions = self.dimensions().inputs.values()
                shapes = [
                    (choice.lengths[0], *own[1:]) if free[:1] == ("#0",) else own
                    for own, free in zip(shapes, dimensions, strict=True)
                ]
            return Parsed(self.parse_for(shapes), lambda shapes: True)
        return self._with_dimensions().parse(choice)

    def parse_for(self, shapes: Shapes) -> Graph:
        """The symbol converted for these shapes."""
        return self._convert(dict(zip(self.names, shapes, strict=True)))

    @property
    def has_modes(self) -> bool:
        """See Source. The graph of inference has no dropout."""
        return draws_in_training(self._heads) or super().has_modes

    def _parse_axes(self, axes: Sequence[Axes]) -> Graph:
        """See GraphSource: the symbol converted with what only training does."""
        own = [spec.shape or () for spec in self._with_dimensions().graph.inputs]
        shapes = [tuple(merged(*pair)) for pair in zip(axes, own, strict=True)]
        return self._convert(dict(zip(self.names, shapes, strict=True)), stops=True)

    def parse_for_gradients(self, shapes: Shapes) -> Graph:
        """The same with nodes where the symbol ends gradients."""
        return self._convert(dict(zip(self.names, shapes, strict=True)), stops=True)
