"""A model as a graph of ONNX's operators."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any, cast

import onnx_ir

from . import _bind, _inference, _picture, _saving, _summary
from ._inference import Inference
from ._opset import OPSET
from ._spec import Dim, ValueSpec, spec_of
from ._unread import Unread
from ._weights import Weights

_reading = threading.Lock()


def check_graph(function: str, graph: object) -> None:
    """TypeError where it is none."""
    if not isinstance(graph, Graph):
        raise TypeError(f"{function}: graph: expected a Graph, got {type(graph).__name__}")


def _check_mapping(function: str, parameter: str, given: object) -> None:
    if given is not None and not isinstance(given, Mapping):
        kind = type(given).__name__
        raise TypeError(f"Graph.{function}: {parameter}: expected a mapping, got {kind}")


class _Own:
    """A model that nobody has but the graph that read it.

    Its nodes and values refer to one another, so that they wait for the garbage collector when the
    graph goes; weights go with the graph.
    """

    def __init__(self, model: onnx_ir.Model) -> None:
        self.model: onnx_ir.Model | None = model

    def __del__(self) -> None:
        if self.model is not None:
            for value in self.model.graph.initializers.values():
                value.const_value = None


class Graph:
    """A model: the nodes between its inputs and its outputs, with its weights.

    It stands for the `onnx_ir.Model` that is its attribute `model`, and keeps nothing else of it:
    who changes the model changes the graph. `file` says in messages where it came from.
    """

    def __init__(self, model: onnx_ir.Model, file: str | None = None) -> None:
        if not isinstance(model, onnx_ir.Model):
            raise TypeError(f"Graph: model: expected an onnx_ir.Model, got {type(model).__name__}")
        self._model: onnx_ir.Model | None = model
        self._own: _Own | None = None
        self._unread: Unread | None = None
        self.file = file if file is not None else model.graph.name or "graph"

    @classmethod
    def _of_file(cls, unread: Unread, model: onnx_ir.Model | None, file: str) -> Graph:
        """What a file has; without a model it is read when somebody asks for it."""
        graph = cls.__new__(cls)
        graph._model, graph._unread, graph.file = model, unread, file
        graph._own = None if model is None else _Own(model)
        return graph

    @property
    def model(self) -> onnx_ir.Model:
        """The model itself."""
        model = self._read()
        self._unread = None  # as whoever has the model may change it
        own, self._own = self._own, None
        if own is not None:
            own.model = None  # as whoever has it may keep it
        return model

    @model.setter
    def model(self, model: onnx_ir.Model) -> None:
        self._model, self._own, self._unread = model, None, None

    def unread(self) -> Unread | None:
        """The file that it is of, as long as nobody was given the model who may have changed it."""
        return self._unread

    def _read(self) -> onnx_ir.Model:
        """The model, for those who do not change it."""
        model, unread = self._model, self._unread
        if model is None and unread is not None:
            model = unread.read()
            with _reading:  # of several threads that have read it all get the same
                if self._model is None:
                    self._model, self._own = model, _Own(model)
                model = self._model
        return cast(onnx_ir.Model, model)

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._read().graph.name or "graph"

    @property
    def inputs(self) -> tuple[ValueSpec, ...]:
        """Name, dtype and shape of what a call has to give; weights are none of it."""
        values = self._read().graph.inputs
        return tuple(spec_of(value) for value in values if not value.is_initializer())

    @property
    def outputs(self) -> tuple[ValueSpec, ...]:
        """Name, dtype and shape of what a call gives."""
        return tuple(spec_of(value) for value in self._read().graph.outputs)

    @property
    def weights(self) -> Weights:
        """The weights by name; see there for how they are read and replaced."""
        return Weights(self.model.graph, self.file)

    @property
    def nodes(self) -> tuple[onnx_ir.Node, ...]:
        """The nodes of the main graph, each after those whose outputs it uses."""
        return tuple(self.model.graph)

    @property
    def opset(self) -> int:
        """The version of ONNX's operators that the nodes are of."""
        return self._read().opset_imports.get("", OPSET)

    def infer(self, shapes: Mapping[str, Sequence[Dim]] | None = None) -> Inference:
        """Finds dtype and shape of all values from those of the inputs, in place.

        `shapes` has those of inputs by name: numbers, or names for extents that vary. An extent
        given for one that has a name is that of all with this name.

        Raises GraphError, which names the node, where types or shapes do not fit, KeyError for a
        name that is no input.
        """
        _check_mapping("infer", "shapes", shapes)
        if shapes:
            _bind.give_shapes(self.model, shapes, self.file)
        return _inference.infer(self.model, self.file)

    def bind(self, dims: Mapping[str, Dim]) -> None:
        """Gives extents that vary, by name, an extent or another name, in place.

        What is known of other values afterwards is what `infer` finds. Raises KeyError for a name
        that no input has, GraphError for an extent below zero.
        """
        _check_mapping("bind", "dims", dims)
        _bind.bind(self.model, dims, self.file)

    def copy(self) -> Graph:
        """A graph that can be changed without this one; they share the elements of the weights."""
        return Graph(self._read().clone(), self.file)

    def __copy__(self) -> Graph:
        """As `copy`."""
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        """As `copy`."""
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """The model with its weights. GraphError where these are more than one file may have."""
        return _of_bytes, (_saving.to_bytes(self._read(), self.file), self.file)

    def save(self, path: str | os.PathLike[str], external_data: bool | str | None = None) -> None:
        """Writes the graph as an ONNX file, of the oldest operator set that has what its nodes are,
        21 or newer, so that older runtimes read it, too.

        `external_data` says whether the weights go into a file of their own beside it, or what that
        is called; by default they do where one file would be too large for the format (2 GB).
        """
        _saving.save(self._read(), path, external_data, self.file)

    def summary(self, placement: Mapping[str, str] | None = None) -> str:
        """A table of the nodes with their outputs' shapes and numbers of parameters, and totals.

        `placement` has a label for nodes, by name, which makes a column.
        """
        _check_mapping("summary", "placement", placement)
        return _summary.summary(self, placement)

    def picture(self, placement: Mapping[str, str] | None = None) -> str:
        """The graph as an SVG image, from inputs above to outputs below.

        Nodes with the same label in `placement`, which has labels by the names of nodes, have the
        same color.
        """
        _check_mapping("picture", "placement", placement)
        return _picture.picture(self._read().graph, placement)

    def _repr_svg_(self) -> str:
        """What notebooks show."""
        return self.picture()

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(map(str, self.outputs))
        return f"<Graph {self.name!r}: {len(self._read().graph)} nodes, ({inputs}) -> ({outputs})>"


def _of_bytes(data: bytes, file: str) -> Graph:
    return Graph(_saving.of_bytes(data), file)
