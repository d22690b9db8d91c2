"""Makes placements of one graph with its weights, for whatever shapes the inputs have."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import onnx_ir

import ffi

from .._errors import GraphError
from .._graph import Graph
from .._spec import dims_of
from ..passes import PASSES
from ._device import Answer, Device
from ._groups import CPU
from ._kept import KeptPlan
from ._placement import Placement, warn
from ._starts import Start, Starts
from ._verify import Tolerance

_fallback = ffi.get_global_func("mx.acc.fallback")

# Why the CPU executes nodes until their models are there.
_LOADING = "its model is being loaded"


@dataclass(frozen=True)
class Options:
    """Those of a plan that decide where nodes run."""

    optimize: bool
    fallback: str | None
    costs: bool
    verify: Tolerance | bool
    keep_nan: bool

    def of_starts(self) -> tuple[bool, ...]:
        """Those that decide what the device executes."""
        return self.optimize, self.costs

    def mode(self) -> str:
        """What happens to nodes that the library does not execute, as it is now."""
        return self.fallback or str(_fallback(""))

    def prepared(self, graph: Graph) -> Graph:
        """A graph, after the passes."""
        for one in PASSES if self.optimize else ():
            one.run(graph.model)
        return graph


class Maker:
    """A graph with its weights, of which placements on a device are made. Any thread may call."""

    def __init__(self, graph: Graph, device: Device, options: Options, *, starts: bool) -> None:
        """`starts` says whether what the cache has of the graph's file may be used, and kept."""
        self._device = device
        self._options = options
        self._file = graph.file
        self._reading = threading.Lock()
        self.source = graph.unread() if starts else None
        self._graph: Graph | None = None
        interface = None if self.source is None else self.source.interface
        self._has_interface = interface is not None  # which was kept with a start
        if interface is None:
            self._graph = options.prepared(graph.copy())
            values = self._graph.model.graph.inputs
            self.inputs = [value for value in values if not value.is_initializer()]
        else:
            self.inputs = interface.input_values()
        self._starts: Starts | None = None
        if self.source is not None:
            self._starts = Starts(self.source, device, options.of_starts(), options.keep_nan)

    @property
    def graph(self) -> Graph:
        """The graph after the passes, which is read when it is first asked for."""
        with self._reading:  # of several threads one does it
            if self._graph is None and self.source is not None:
                model = self.source.read()
                self._graph = self._options.prepared(Graph(model, self._file))
        return cast(Graph, self._graph)

    @property
    def is_read(self) -> bool:
        """Whether anything of the graph but its inputs was read."""
        return self._graph is not None

    def started(self, specs: Sequence[Any], whole: Callable[[], Placement]) -> Start | None:
        """What a second start needs of a placement, where the cache has it; `whole` makes all of
        it."""
        if self._options.verify or self._options.mode() == "whole":
            return None
        if self._starts is None or not self._has_interface:
            return None
        return self._starts.find(specs, self.inputs, whole)

    def cpu_is_sooner(self, specs: Sequence[Any]) -> bool:
        """Whether the CPU's first answer comes before such a start could give one."""
        return (
            self._has_interface and self._starts is not None and self._starts.cpu_is_sooner(specs)
        )

    def kept_plan(self, specs: Sequence[Any]) -> KeptPlan | None:
        """What gives the CPU's first answer before such a start could give one, if it is kept."""
        if not self._has_interface or self._starts is None or self._options.mode() == "whole":
            return None
        return self._starts.kept_plan(specs, _LOADING)

    def keep_plan(self, specs: Sequence[Any], placement: Placement, on_cpu: Placement) -> None:
        """Keeps what that gives: of what executed the graph on the CPU until the placement was
        there."""
        if self._starts is not None:
            self._starts.keep_plan(specs, placement, on_cpu)

    def placed(
        self,
        specs: Sequence[Any],
        graph: Graph,
        previous: Placement | None = None,
        answer_seconds: float = 0.0,
    ) -> Placement:
        """Where the nodes run for inputs of these shapes and types, for which `graph` is inferred.
        `previous` is that of the graph with other weights. The CPU took so many seconds for the
        first answer, 0 where it gave none."""
        mode = self._options.mode()
        saved = self._device.compiler.saved_answers(specs) if mode != "whole" else None
        answers = None if saved is None else [Answer(*answer) for answer in saved]
        if previous is not None and mode != "whole":
            answers = previous.answers_for(graph) or answers
        options = self._options
        placement = Placement(
            graph,
            self._device,
            mode,
            options.costs,
            options.verify,
            answers,
            options.keep_nan,
            previous=previous,
        )
        if self._starts is not None and not options.verify and mode != "whole":
            self._starts.keep(specs, placement, self.graph.model.graph, answer_seconds)
        return placement

    def on_cpu(self, graph: Graph) -> Placement:
        """What executes all nodes of an inferred graph on the CPU while models are loaded."""
        answer = Answer(CPU, _LOADING)
        return Placement(graph, self._device, "whole", False, False, answer, self._options.keep_nan)

    def inferred(self, specs: Sequence[Any]) -> Graph:
        """A copy of the graph with the types of all values for inputs of these shapes."""
        graph = self.graph.copy()
        inputs = {value.name: value for value in graph.model.graph.inputs}
        known: dict[str, tuple[int, ...]] = {}
        for declared, (shape, dtype) in zip(self.inputs, specs, strict=False):
            value = inputs[declared.name]
            if shape is not None and dims_of(value.shape) is not None:
                known[value.name or ""] = shape
            if value.dtype is None and dtype is not None:
                value.dtype = onnx_ir.DataType.from_numpy(dtype)
        try:
            graph.infer(known or None)
        except GraphError as error:
            # Some of what onnx executes it cannot infer. Without shapes nodes are on the CPU.
            warn(f"{error}. Nodes whose shapes that leaves unknown run on the CPU")
        return graph

    def reset_after_fork(self) -> None:
        """In a child of fork: a thread that held the lock is not there."""
        self._reading = threading.Lock()
