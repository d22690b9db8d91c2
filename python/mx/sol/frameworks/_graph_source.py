"""Graphs whose inputs have names, as ONNX files and MXNet's symbols are."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy

from ...cache import _secret
from ...graph import Graph
from ..dims import Choice, Dimensions, Shape
from ..dims._dimensions import Later, numbered
from ..dims._structure import Structure
from ._framework import InTraining, Parsed, Source
from ._statistics import set_apart
from ._training_form import has_modes, in_training, statistics_of

Axes = Sequence[int | str | None]


class GraphSource(Source):
    """A graph with an example of its inputs, or without one."""

    def __init__(
        self,
        graph: Graph,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        is_inferred: bool = False,
        why: str = "",
    ) -> None:
        """`is_inferred` is whether the graph has all that follows from the shapes of its inputs,
        `why` the reason that messages have for extents which do not vary."""
        self.graph = graph
        self._why = why
        self._is_inferred = is_inferred
        self.name = graph.name
        self.names = [spec.name for spec in graph.inputs]
        self.example = None
        if args or kwargs:
            self.example = list(map(numpy.asarray, self.flatten(args, kwargs)))
            for spec, array in zip(graph.inputs, self.example, strict=True):
                if array.dtype.kind in "fiub" and spec.dtype not in (None, str(array.dtype)):
                    raise TypeError(
                        f"sol.optimize: {self.name}: input {spec.name!r}: expected {spec.dtype},"
                        f" got an example of {array.dtype}"
                    )
        # The shapes of inputs, and the lengths that their names have in the example.
        self._shapes, self._lengths = self._named_shapes()
        self._dimensions: Dimensions | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """The graph and the example."""
        return GraphSource, (self.graph, self.example or (), {}, self._is_inferred, self._why)

    def dimensions(self) -> Dimensions:
        """The extents that have names in the shapes of inputs, but those that nodes leave one
        length."""
        if self._dimensions is None:
            self._dimensions = self._find_dimensions()
        return self._dimensions

    def _named_shapes(self) -> tuple[list[Shape], dict[str, int | None]]:
        shapes: list[Shape] = []
        lengths: dict[str, int | None] = {}
        for number, spec in enumerate(self.graph.inputs):
            if spec.dtype is not None and "(" in spec.dtype:
                raise ValueError(
                    f"sol.optimize: {self.name}: input {spec.name!r}: expected a tensor, got "
                    f"{spec.dtype}, which mx.graph.Plan takes"
                )
            example = None if self.example is None else self.example[number].shape
            declared = spec.shape
            if declared is None:
                if example is None:
                    raise ValueError(
                        f"sol.optimize: {self.name}: the number of axes of input {spec.name!r} is"
                        " unknown: give an example"
                    )
                declared = (None,) * len(example)
            if example is not None and len(example) != len(declared):
                raise ValueError(
                    f"sol.optimize: {self.name}: input {spec.name!r}: expected"
                    f" {len(declared)} axes, got an example of shape {example}"
                )
            shape: list[int | str] = []
            for axis, extent in enumerate(declared):
                name = f"unknown_{number}_{axis}" if extent is None else extent
                shape.append(name)
                if isinstance(name, str):
                    told = None if example is None else int(example[axis])
                    if lengths.setdefault(name, told) != told:
                        raise ValueError(
                            f"sol.optimize: {self.name}: input {spec.name!r}: axis {axis}: expected"
                            f" {lengths[name]}, as {name} is in an axis before, got an example of"
                            f" shape {example}"
                        )
            shapes.append(tuple(shape))
        return shapes, lengths

    def _find_dimensions(self) -> Dimensions:
        shapes, lengths = dict(zip(self.names, self._shapes, strict=True)), self._lengths
        structure = Structure(self._copy, shapes, lengths)
        fixed = structure.fixed
        told = {name: length for name, length in lengths.items() if name not in fixed}

        def renamed(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
            known = [
                tuple(lengths[str(one)] or one if one in fixed else one for one in shape)
                for shape in shapes.values()
            ]
            return dict(zip(shapes, numbered(known, told)[0], strict=True))

        return Dimensions(
            renamed(shapes),
            Later(lambda: renamed(structure.outputs(self.graph.outputs))),
            tuple(told.values()),
            lambda name, axis: (
                self._why or structure.reason(name, axis) or f"{self.name} declares it"
            ),
        )

    def parse(self, choice: Choice | None) -> Parsed:
        """The graph with the lengths that were chosen."""
        if choice is None:
            assert self.example is not None
            return Parsed(self.parse_for([a.shape for a in self.example]), lambda shapes: True)
        dimensions = self.dimensions()
        bound = self._copy()
        shapes = {
            spec.name: [
                numbered_ if (n := _number(numbered_)) is None else choice.lengths[n] or extent
                for extent, numbered_ in zip(
                    named if spec.shape is None else spec.shape,
                    dimensions.inputs[spec.name],
                    strict=True,
                )
            ]
            for spec, named in zip(bound.inputs, self._shapes, strict=True)
        }
        if len(choice.varying) < len(self._lengths):
            bound.infer(shapes)
        return Parsed(bound, lambda shapes: True)

    def parse_for(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The graph for these shapes."""
        bound = self._copy()
        own = [spec.shape for spec in bound.inputs]
        if not self._is_inferred or own != [tuple(shape) for shape in shapes]:
            bound.infer(dict(zip(self.names, shapes, strict=True)))
        return bound

    def key(self) -> str | None:
        """See Source: of a file that nobody has changed since it was loaded."""
        unread = self.graph.unread()
        if unread is None or self.example is None:
            return None
        hashes = unread.elements.hashes(_secret.words_of(_secret.secret()))
        example = [[list(one.shape), str(one.dtype)] for one in self.example]
        text = json.dumps(["mx.sol.graph 1", unread.structure, hashes, example])
        return hashlib.sha256(text.encode()).hexdigest()[:40]

    def _copy(self) -> Graph:
        """The graph, to be changed. Who has the model of `self.graph` may change that, so that
        nobody would know its key any more."""
        copy = self.graph.copy()
        set_apart(copy)
        return copy

    @functools.cached_property
    def _modes(self) -> tuple[bool, frozenset[str]]:
        """Whether it has modes, and its statistics."""
        copy = self._copy()
        return has_modes(copy), statistics_of(copy)

    @property
    def has_modes(self) -> bool:
        """See Source."""
        return self._modes[0]

    def parse_for_training(self, axes: Sequence[Axes], training: bool = True) -> InTraining:
        """See Source."""
        return in_training(self._parse_axes(axes), training)

    def _parse_axes(self, axes: Sequence[Axes]) -> Graph:
        """The graph for inputs of these axes."""
        bound = self._copy()
        pairs = zip(bound.inputs, axes, strict=True)
        bound.infer({spec.name: merged(one, spec.shape) for spec, one in pairs})
        return bound

    def frozen(self) -> Collection[str]:
        """The statistics of batch normalization."""
        return self._modes[1]

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Inputs by position, then by name."""
        if len(args) > len(self.names):
            raise TypeError(f"{self.name}: expected {len(self.names)} inputs, got {len(args)}")
        given = dict(zip(self.names, args, strict=False))
        for name, value in kwargs.items():
            if name not in self.names:
                raise TypeError(f"{self.name}: there is no input {name!r}: {self.names}")
            if name in given:
                raise TypeError(f"{self.name}: input {name!r} is given by position and by name")
            given[name] = value
        missing = [name for name in self.names if name not in given]
        if missing:
            raise TypeError(f"{self.name}: input {missing[0]!r} is missing")
        return [given[name] for name in self.names]

    def unflatten(self, outputs: Sequence[Any]) -> Any:
        """The output, or a list of those where there are several."""
        return outputs[0] if len(outputs) == 1 else list(outputs)


def merged(axes: Axes, known: Axes | None) -> list[int | str]:
    """The extents of an input, where they are known, else the names that a graph has for them."""
    if known is None:
        known = axes
    return [
        one if isinstance(one, int) else other or one or "unknown"
        for one, other in zip(axes, known, strict=True)
    ]


def _number(extent: int | str) -> int | None:
    is_one = isinstance(extent, str) and extent[1:].isdigit()
    return int(str(extent)[1:]) if is_one else None
