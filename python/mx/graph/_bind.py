"""Extents in place of the names of those that vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir

from ._errors import GraphError
from ._proto import known_operator
from ._spec import Dim, dims_of, shape_text


def give_shapes(model: onnx_ir.Model, shapes: Mapping[str, Sequence[Dim]], file: str) -> None:
    """Gives inputs their shapes, and what the names in these mean to all other values."""
    inputs = {v.name or "": v for v in model.graph.inputs if not v.is_initializer()}
    meant: dict[str, Dim] = {}
    for name, shape in shapes.items():
        if name not in inputs:
            raise KeyError(f"{file}: there is no input {name!r}: inputs are {', '.join(inputs)}")
        new, old = _checked(file, name, shape), dims_of(inputs[name].shape)
        if old is None:
            inputs[name].shape = onnx_ir.Shape(new)
            continue
        if len(old) != len(new):
            raise GraphError(
                f"{file}: the input {name!r} is of shape {shape_text(old)}, not {shape_text(new)}"
            )
        for before, after in zip(old, new, strict=True):
            if isinstance(before, int):
                if before != after:
                    raise GraphError(
                        f"{file}: the input {name!r} is of shape {shape_text(old)}, "
                        f"not {shape_text(new)}"
                    )
            elif before is not None and meant.setdefault(before, after) != after:
                raise GraphError(
                    f"{file}: the input {name!r}: {before} is {meant[before]}, not {after}"
                )
        inputs[name].shape = onnx_ir.Shape(new)
    _replace(model, meant)


def bind(model: onnx_ir.Model, dims: Mapping[str, Dim], file: str) -> None:
    """Gives extents of inputs that have these names others; see Graph.bind."""
    inputs = [value for value in model.graph.inputs if not value.is_initializer()]
    there = {dim for value in inputs for dim in dims_of(value.shape) or () if isinstance(dim, str)}
    for name in dims:
        if name not in there:
            names = ", ".join(sorted(there)) or "none"
            raise KeyError(f"{file}: no extent of an input is called {name!r}: there are {names}")
    _checked(file, "bind", list(dims.values()))
    _replace(model, dims)


def _checked(file: str, name: str, shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """A shape as it was given; raises where an extent is none."""
    dims: list[Dim] = []
    for dim in shape:
        if isinstance(dim, str) or dim is None:
            dims.append(dim or None)
            continue
        try:
            number = dim.__index__()
        except AttributeError:
            raise TypeError(
                f"{file}: {name}: expected numbers and names as extents, got {dim!r}"
            ) from None
        if number < 0:
            raise GraphError(f"{file}: {name}: an extent is below zero: {number}")
        dims.append(number)
    return tuple(dims)


def _replace(model: onnx_ir.Model, meant: Mapping[str, Dim]) -> None:
    """Replaces names in all shapes; what nodes give is known only for operators of others."""
    graph = model.graph
    for value in graph.inputs:
        _replace_in(value, meant)
    for node in onnx_ir.traversal.RecursiveGraphIterator(graph):
        known = known_operator(node, model.opset_imports)
        for value in node.outputs:
            if known:
                value.shape = None
            else:
                _replace_in(value, meant)


def _replace_in(value: onnx_ir.Value, meant: Mapping[str, Dim]) -> None:
    dims = dims_of(value.shape)
    if dims is not None and any(dim in meant for dim in dims if isinstance(dim, str)):
        value.shape = onnx_ir.Shape(
            meant.get(dim, dim) if isinstance(dim, str) else dim for dim in dims
        )
