"""Dimensions that vary: which ones the user named, and what torch's symbols are called."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from mx.graph import GraphError

# Names of the axes of a tensor, or what has them in the structure of an argument.
Dynamic = Any


def bound_arguments(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The example by the names of forward's parameters."""
    signature = inspect.signature(module.forward)
    return dict(signature.bind(*args, **kwargs).arguments)


def all_automatic(arguments: Any) -> Any:
    """What tells torch.export that each axis of each tensor may vary."""
    import torch
    from torch.utils import _pytree as pytree

    def automatic(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return dict.fromkeys(range(value.ndim), torch.export.Dim.AUTO)
        return None

    return pytree.tree_map(automatic, arguments)


class NamedDimensions:
    """Axes of the example's tensors that the user has given names."""

    def __init__(self, arguments: dict[str, Any], dynamic: Mapping[str, Dynamic]) -> None:
        unknown = set(dynamic) - set(arguments)
        if unknown:
            raise GraphError(
                f"mx.importers.torch.load: dynamic names {', '.join(sorted(unknown))}; the"
                f" arguments are {', '.join(arguments)}"
            )
        # By the number of the tensor among all tensors of the example.
        self.axes: dict[int, dict[int, str]] = {}
        self._where: dict[int, str] = {}
        self._tensors: list[Any] = []
        self.shapes = {
            name: self._visit(value, dynamic.get(name), name) for name, value in arguments.items()
        }

    def _visit(self, value: Any, names: Dynamic, where: str) -> Any:
        import torch

        if isinstance(value, torch.Tensor):
            return self._visit_tensor(value, names, where)
        if isinstance(value, (list, tuple)):
            inner = names if names is not None else [None] * len(value)
            if not isinstance(inner, Sequence) or len(inner) != len(value):
                raise _wrong(where, f"a list of {len(value)}, one for each item", names)
            items = [
                self._visit(v, n, f"{where}[{i}]")
                for i, (v, n) in enumerate(zip(value, inner, strict=True))
            ]
            return type(value)(items) if type(value) in (list, tuple) else type(value)(*items)
        if isinstance(value, Mapping):
            inner = names if names is not None else {}
            if not isinstance(inner, Mapping):
                raise _wrong(where, "a mapping of the keys", names)
            return {k: self._visit(v, inner.get(k), f"{where}[{k!r}]") for k, v in value.items()}
        if names is not None:
            raise _wrong(where, "None for what is no tensor", names)
        return None

    def _visit_tensor(self, value: Any, names: Dynamic, where: str) -> Any:
        import torch

        named = _axis_names(names, value.ndim, where)
        self._where[len(self._tensors)] = where
        self.axes[len(self._tensors)] = named
        self._tensors.append(value)
        return dict.fromkeys(named, torch.export.Dim.AUTO) or None

    def grown(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The example with axes of length 1 or 0 doubled where they vary.

        torch takes an axis of length 1 for one that is always so.
        """
        import torch
        from torch.utils import _pytree as pytree

        lengths: dict[str, int] = {}
        for index, tensor in enumerate(self._tensors):
            for axis, name in self.axes[index].items():
                lengths[name] = max(lengths.get(name, 0), tensor.shape[axis])
        position = iter(range(len(self._tensors)))

        def grow(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            for axis, name in self.axes[next(position)].items():
                if lengths[name] < 2:
                    shape = list(value.shape)
                    shape[axis] = 2
                    one = (
                        value
                        if value.shape[axis]
                        else value.new_zeros([1 if i == axis else n for i, n in enumerate(shape)])
                    )
                    value = one.expand(shape).contiguous()
            return value

        return pytree.tree_map(grow, arguments)  # type: ignore[no-any-return]

    def name_symbols(self, symbols: dict[Any, str], values: Sequence[Any]) -> None:
        """Notes what the user calls torch's symbols, which stand in the shapes of the inputs."""
        for index, value in enumerate(values):
            for axis, name in self.axes.get(index, {}).items():
                length = known_length(value.shape[axis])
                if isinstance(length, int):
                    raise GraphError(
                        f"mx.importers.torch.load: dimension {name!r}, axis {axis} of"
                        f" {self._where[index]}, cannot vary: the model makes it {length}"
                    )
                expression = length.node.expr
                if expression.is_Symbol:
                    symbols.setdefault(expression, name)


def known_length(length: Any) -> Any:
    """A length as torch has it in a shape, an int where torch has found it to be one."""
    if not isinstance(length, int) and length.node.expr.is_Integer:
        return int(length.node.expr)
    return length


def _axis_names(names: Dynamic, rank: int, where: str) -> dict[int, str]:
    """The names by axis, from a mapping of axes or from a sequence with None for the others."""
    if names is None:
        return {}
    if isinstance(names, Mapping):
        given = dict(names)
    elif isinstance(names, Sequence) and not isinstance(names, str) and len(names) == rank:
        given = {axis: name for axis, name in enumerate(names) if name is not None}
    else:
        raise _wrong(where, f"a mapping of axes to names, or {rank} names", names)
    result = {}
    for axis, name in given.items():
        if not isinstance(axis, int) or not -rank <= axis < rank or not isinstance(name, str):
            raise _wrong(where, f"axes from {-rank} to {rank - 1} with their names", names)
        result[axis % rank] = name
    return result


def _wrong(where: str, expected: str, came: object) -> GraphError:
    return GraphError(
        f"mx.importers.torch.load: dynamic for {where}: expected {expected}, got {came!r}"
    )
