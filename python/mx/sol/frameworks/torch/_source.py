"""A module of torch with an example of its arguments, as the source of a graph."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from ....graph import Graph, GraphError
from ....importers.torch._exporting import exporting
from ....importers.torch._tensors import tensor_of
from ...dims import Choice, Dimensions
from .._framework import InTraining, Parsed, Source, Weight
from ._captured import Captured, imported
from ._modes import in_mode
from ._outputs import OutputTree
from ._state import State
from ._unsupported import check_argument, check_module
from .kept import Key, capture, capture_training

if TYPE_CHECKING:
    from ._dims import Analysis
    from ._training_graph import TrainingGraph


class TorchSource(Source):
    """See Source. The module is exported when its graph is asked for, in eval mode."""

    example: list[Any]

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        check_module(module)
        self.module = module
        self.name = type(module).__name__
        bound = self._bound(args, kwargs)
        # In the order of forward's parameters.
        kwargs = {name: kwargs[name] for name in bound if name in kwargs} | kwargs
        self.args, self.kwargs = args, kwargs
        self.leaves, self.structure = pytree.tree_flatten((args, kwargs))
        self.positions = [n for n, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)]
        # As they are given; what needs gradients has no elements for others.
        self.tensors = [self.leaves[n] for n in self.positions]
        self.example = [one.detach() for one in self.tensors]
        if not self.example:
            raise TypeError(
                f"sol.optimize: {self.name}: expected an example of the arguments with a tensor"
                " among them: sol.optimize(model, example)"
            )
        paths, _ = pytree.tree_flatten_with_path(bound)
        self.paths = [_path_text(path) for path, _ in paths]
        for n in self.positions:
            check_argument(self.paths[n], self.leaves[n])
        # Whether each argument is a tensor.
        self.is_flat = len(self.positions) == len(args) + len(kwargs)
        self.outputs: OutputTree | None = None
        self.state: State | None = None
        self._analysis: Analysis | None = None
        self._key: Key | None = None
        # Whether modules are captured in their own modes, and not all in eval mode.
        self._own_modes = False

    # -- graphs --

    @property
    def has_modes(self) -> bool:
        """See Source."""
        return True

    def dimensions(self) -> Dimensions:
        """What torch.export finds when all dimensions may vary. It exports the module for that."""
        return self._analyse().dimensions

    def parse(self, choice: Choice | None) -> Parsed:
        """The graph: of the example's shapes, or with names for the dimensions that vary."""
        self._check_modules()
        if choice is None:
            return Parsed(self._graph(self.args, self.kwargs), lambda shapes: True)
        analysis = self._analyse()
        args, kwargs = self.resized(analysis.shapes(choice))
        if not choice.varying:
            return Parsed(self._graph(args, kwargs), lambda shapes: True)
        from ._dims import Guards
        from ._exporting import export

        named = analysis.named(choice, args, kwargs)
        program, names = export(self.module, args, kwargs, named, own_modes=self._own_modes)
        guards = Guards.of(program, self.positions)
        graph = self._take(imported(program, names, self.module, self.name))
        self.origin = "captured, not kept: dimensions of its inputs vary"
        return Parsed(graph, guards.hold)

    def parse_for(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The graph of an example of these shapes."""
        self._check_modules()
        return self._graph(*self.resized(shapes))

    def _analyse(self) -> Analysis:
        # What torch exports with is imported where something is exported.
        from ._dims import Analysis

        if self._analysis is None:
            self._analysis = Analysis.of(self)
        return self._analysis

    def _graph(self, args: Any, kwargs: Any) -> Graph:
        if self._own_modes:
            self.origin = "captured, not kept: some of its modules are in training"
            self._key = None
            return self._take(self._as_called(args, kwargs))
        found, self.origin, self._key = capture(self.module, args, kwargs, self.name)
        return self._take(found)

    def _take(self, captured: Captured) -> Graph:
        self.changes, self.outputs = captured.changes, captured.outputs
        if self.state is None:
            self.state = State(self.module)
        self.state.add(captured.watched, captured.constants)
        return captured.graph

    def key(self) -> str | None:
        """See Source. Elements are hashed again, as nothing counts what is written to `.data`."""
        return self._key.text if self._key is not None and self._key.holds() else None

    def training_graph(self, shapes: Sequence[tuple[int, ...]]) -> TrainingGraph:
        """What the module computes in the modes that its modules are in, with what it writes."""
        # What hooks of the caller store and compute again are not the tensors of a capture, which a
        # checkpoint would miss when it calls the model once more.
        with torch.autograd.graph.saved_tensors_hooks(_itself, _itself):
            return capture_training(self.module, *self.resized(shapes))

    def parse_for_training(
        self, axes: Sequence[Sequence[int | str | None]], training: bool = True
    ) -> InTraining:
        """See Source. A module in training has its modules in their own modes, another one all of
        them in training."""
        assert self.state is not None and self.outputs is not None
        shapes = [
            tuple(
                n if isinstance(n, int) else told for n, told in zip(given, own.shape, strict=True)
            )
            for given, own in zip(axes, self.example, strict=True)
        ]
        with in_mode(self.module, training), torch.enable_grad():
            made = self.training_graph(shapes)
        made.check_constants(self.name)
        if not made.tree.is_like(self.outputs):
            raise GraphError(
                f"{self.name}: returns another structure in training than in inference, or other"
                " constants in it, which only torch executes"
            )

        def names(targets: Iterable[str]) -> tuple[str, ...]:
            assert self.state is not None
            return tuple(self.state.names.get(one, one) for one in targets)

        counters = dict(zip(names(made.counters), made.counters.values(), strict=True))
        return InTraining(
            made.graph, names(made.state), names(made.writes), made.has_seed, counters=counters
        )

    def weights_of_training(self) -> Mapping[str, Weight]:
        """See Source: what is saved of a module and no weight of its graph, and what calls change
        of it."""
        assert self.state is not None
        kept = (*self.module.state_dict(keep_vars=True), *self.changes)
        return {
            name: tensor_of(tensor, name)
            for name, tensor in self.module.named_buffers()
            if name in kept and name not in self.state.names
        }

    def frozen(self) -> set[str]:
        """See Source: parameters that need no gradient."""
        assert self.state is not None
        parameters = self.module.named_parameters(remove_duplicate=False)
        names = self.state.names
        return {names[path] for path, one in parameters if path in names and not one.requires_grad}

    def modes(self) -> tuple[bool, ...]:
        """See Source."""
        return tuple(one.training for one in self.module.modules())

    def execute_elsewhere(self) -> None:
        """See Source."""
        self._own_modes = self._has_own_modes()

    def parse_as_called(self, shapes: Sequence[tuple[int, ...]]) -> Graph | None:
        """See Source: of a module in eval mode that has others in training inside."""
        return self._as_called(*self.resized(shapes)).graph if self._has_own_modes() else None

    def _has_own_modes(self) -> bool:
        return not self.module.training and any(one.training for one in self.module.modules())

    def _as_called(self, args: Any, kwargs: Any) -> Captured:
        from ._exporting import export

        program, names = export(self.module, args, kwargs, None, own_modes=True)
        return imported(program, names, self.module, self.name)

    def resized(self, shapes: Sequence[tuple[int, ...]]) -> tuple[Any, Any]:
        """The arguments of the example, their tensors in other shapes."""
        leaves = list(self.leaves)
        for n, shape in zip(self.positions, shapes, strict=True):
            if tuple(leaves[n].shape) != tuple(shape):
                leaves[n] = leaves[n].new_zeros(tuple(shape))
        args, kwargs = pytree.tree_unflatten(leaves, self.structure)
        return args, kwargs

    # -- weights --

    def weights(self) -> Mapping[str, Weight]:
        """The module's parameters and buffers as they are now."""
        assert self.state is not None
        return {name: tensor_of(tensor, name) for name, tensor in self.state.current().items()}

    def has_changed(self) -> bool:
        """Whether a weight has been written, replaced or moved."""
        assert self.state is not None
        return self.state.has_changed()

    def look(self) -> None:
        """See Source. TypeError where a module is another one, or a weight is two now."""
        assert self.state is not None
        self._check_modules()
        self.state.look()

    def _check_modules(self) -> None:
        """As `look`, which a further capture comes before, too: graphs of a model are of one set of
        modules, and `look` could not tell afterwards that the first ones had others."""
        if self.state is None:
            return
        with exporting:  # which has others in the positions of weights
            replaced, broken = self.state.replaced_module(), self.state.ties.broken()
        if replaced is not None:
            raise TypeError(
                f"{self.name}: {replaced!r} is new, another one or gone since the model was"
                " optimized: optimize it again"
            )
        if broken:
            raise TypeError(f"{self.name}: {broken}: optimize it again")

    # -- arguments --

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The tensors among the arguments; the others have to be as in the example."""
        leaves, structure = pytree.tree_flatten((tuple(args), dict(kwargs)))
        if structure != self.structure:
            leaves, structure = pytree.tree_flatten(self._as_example(args, kwargs))
        if structure != self.structure:
            raise TypeError(
                f"{self.name}: expected arguments in the structure of the example,"
                f" {_structure_text(self.structure)}, got {_structure_text(structure)}"
            )
        tensors = set(self.positions)
        for n, (leaf, told) in enumerate(zip(leaves, self.leaves, strict=True)):
            if n not in tensors and not _is_same(leaf, told):
                raise ValueError(
                    f"{self.name}: argument {self.paths[n]}: expected {told!r}, as in the example:"
                    f" only tensors may be others; got {leaf!r}"
                )
        return [leaves[n] for n in self.positions]

    def unflatten(self, outputs: Sequence[Any]) -> Any:
        """What forward returns."""
        assert self.outputs is not None
        return self.outputs.unflatten(outputs)

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._arguments(args, kwargs).arguments)

    def _arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        try:
            return inspect.signature(self.module.forward).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None

    def _by_name(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by their names, also those that `*args` and `**kwargs` of forward take."""
        bound, found = self._arguments(args, kwargs), dict[str, Any]()
        for name, value in bound.arguments.items():
            kind = bound.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                found.update((f"{name}[{n}]", one) for n, one in enumerate(value))
            elif kind is inspect.Parameter.VAR_KEYWORD:
                found.update(value)
            else:
                found[name] = value
        return found

    def _as_example(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Arguments by position where the example has them so, and by name where it does that."""
        if len(args) == len(self.args) and kwargs.keys() == self.kwargs.keys():
            return tuple(args), {name: kwargs[name] for name in self.kwargs}
        given, example = self._by_name(args, kwargs), self._by_name(self.args, self.kwargs)
        parameters = inspect.signature(self.module.forward).parameters
        defaults = {name: one.default for name, one in parameters.items()}
        for name, one in given.items():
            if name not in example and not _is_same(one, defaults.get(name, _NO_DEFAULT)):
                raise TypeError(
                    f"{self.name}: argument {name} is none of the example's: {', '.join(example)}"
                )
        for name, one in example.items():
            if name not in given and not _is_same(one, defaults.get(name, _NO_DEFAULT)):
                raise TypeError(f"{self.name}: argument {name} is missing, which the example has")
        # Who leaves an argument out says that it is the default, as the example's is.
        given = {name: given.get(name, one) for name, one in example.items()}
        named = set(self.kwargs)
        by_position = tuple(value for name, value in given.items() if name not in named)
        return by_position, {name: given[name] for name in self.kwargs}


class OtherType(TypeError):
    """A tensor is of another type than the example's."""


def check_tensor(name: str, tensor: Any, example: Any) -> None:
    """TypeError or ValueError for a tensor that is none of the CPU, or of another type."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"input {name!r}: expected a tensor, got {type(tensor).__name__}")
    check_argument(name, tensor)
    if tensor.dtype != example.dtype:
        raise OtherType(f"input {name!r}: expected {example.dtype}, got {tensor.dtype}")


_NO_DEFAULT = inspect.Parameter.empty


def _itself(x: Any) -> Any:
    return x


def _is_same(one: Any, other: Any) -> bool:
    if one is other or type(one) is not type(other) or isinstance(one, torch.Tensor):
        return one is other
    return bool(one == other) or (isinstance(one, float) and one != one and other != other)


def _path_text(path: Sequence[Any]) -> str:
    """x, x[0], x['key']: where a tensor is among the arguments."""
    first, *others = path
    return str(getattr(first, "key", first)) + "".join(map(str, others))


def _structure_text(structure: Any) -> str:
    args, kwargs = pytree.tree_unflatten(["*"] * structure.num_leaves, structure)
    named = [f"{name}={value}" for name, value in kwargs.items()]
    return "(" + ", ".join([*map(str, args), *named]) + ")"
