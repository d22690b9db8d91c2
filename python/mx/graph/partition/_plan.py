"""A graph, ready to be executed on an accelerator."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, cast

import onnx_ir

import ffi

from ... import numpy as np
from ...context import Context
from .._errors import GraphError
from .._explanation import Explanation, row_of
from .._graph import Graph, check_graph
from .._spec import dims_of, spec_of
from ..lowering._segment import Step
from ..passes import PASSES
from ..plan import Plan
from ..profile import Profile, Recorder
from ._compiled import Loaded, Saved
from ._device import Answer, Device
from ._placement import Outdated, Placement, warn
from ._starts import Start, Starts
from ._verify import Tolerance

_fallback = ffi.get_global_func("mx.acc.fallback")

MODES = ("auto", "whole", "error")
# Kept for the latest shapes and types of inputs: each has models that take memory of the device.
_MOST_PLACEMENTS = 32


class PartitionedPlan(Plan):
    """Executes a graph on a device of an accelerator, and on the CPU what that does not execute.

    The library is asked about all nodes, and compiles groups of them, for the shapes that the
    inputs have: those of further shapes are compiled when they come, and kept for the latest 32
    shapes. Outputs are arrays on the device. Several threads may execute one plan at once.

    `fallback` is "auto", "whole" or "error", as of `mx.acc_fallback`, whose mode it is by default:
    with "error" a node that would run on the CPU is NotImplementedError, which names all of those,
    and so is what fails there. In the other modes a library's failure is an AccFallbackWarning
    with its reason, and the CPU executes that group of nodes; `summary` tells so, and after some
    runs, twice as many each time, the library is tried again. With "auto" one AccPlacementWarning
    a plan tells how many nodes of which operators the CPU executes, and why; `mx.acc_stats` counts
    those of each run. `options` are what the library compiles with; `costs` says whether groups
    stay on the CPU that are slower on the device, as copies between the two take longer than they
    save or the library tells so: by default they do, unless the variable MXNET_ACC_COSTS is 0.
    `optimize` says whether passes make the graph smaller before.

    What a library has compiled and exports is kept in `mx.cache`, where the next plan of the same
    takes it from, also in another process; not with `cache` False.

    With `verify` the CPU executes everything, too, and a group's result that differs is a
    MismatchError, which names the first node that does, with both values: by more than a tolerance
    for its type, or than the pair of a relative one and one of the largest element.

    `keep_nan` is that of Plan, for what the CPU executes. A device may make a number of a NaN in
    operators of which kernels of the CPU may; with `verify` and `keep_nan` that is a difference.
    """

    def __init__(
        self,
        graph: Graph,
        ctx: Context,
        *,
        optimize: bool = True,
        fallback: str | None = None,
        options: Mapping[str, Any] | None = None,
        costs: bool | None = None,
        verify: bool | tuple[float, float] = False,
        keep_nan: bool = False,
        cache: bool = True,
        saved: Saved | None = None,
    ) -> None:
        """`saved` is what `mx.model.load_compiled` has read."""
        check_graph("PartitionedPlan", graph)
        if not isinstance(ctx, Context):
            raise TypeError(f"PartitionedPlan: ctx: expected a Context, got {type(ctx).__name__}")
        check_options("PartitionedPlan", fallback, options, verify, keep_nan)
        self._optimize = optimize
        self._source = graph.unread()
        self._graph: Graph | None = None
        if self._source is None or self._source.interface is None:
            self._graph = self._prepared(graph.copy())
            inputs = self._graph.model.graph.inputs
            self._set_inputs([value for value in inputs if not value.is_initializer()])
        else:
            self._file = graph.file
            self._set_inputs(self._source.interface.input_values())
        self._fallback = fallback
        self._costs = os.environ.get("MXNET_ACC_COSTS") != "0" if costs is None else costs
        self._verify = Tolerance(*verify) if isinstance(verify, tuple) else verify
        self._keep_nan = keep_nan
        self._device = Device(ctx, options or {}, cache, saved)
        self._starts: Starts | None = None
        if self._source is not None and cache and saved is None:
            self._starts = Starts(self._source, self._device, (optimize, self._costs))
        self._placements: OrderedDict[Any, Placement | Start] = OrderedDict()
        self._placing = threading.Lock()  # held while the library compiles
        self._lock = threading.Lock()  # of the placements
        # With the weights of before, whose models are taken over.
        self._outdated: OrderedDict[Any, Placement] = OrderedDict()
        self._has_warned = False  # that nodes are on the CPU
        self._latest: Any = None  # the key of the placement of the latest run
        self._is_static = all(
            value.dtype is not None and value.shape is not None and value.shape.is_static()
            for value in self._inputs
        )
        if self._is_static:
            self._placement(())

    def prepare(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Compiles for inputs of these shapes, by name, before some come.

        ValueError where an input is not among them, or the graph does not know its type.
        """
        specs = []
        for name, value in zip(self._names, self._inputs, strict=True):
            if name not in shapes or value.dtype is None:
                what = "shape" if value.dtype is not None else "type in the graph"
                raise ValueError(f"prepare: shapes: the input {name!r} has no {what}")
            specs.append((tuple(shapes[name]), value.dtype.numpy()))
        self._placement_for(() if self._is_static else tuple(specs))

    def update_weights(self, graph: Graph) -> None:
        """Takes the weights of a graph, which differs from that of the plan in nothing else.

        Models are given those that have changed where their library updates weights, and are loaded
        again where it does not, or fails to: now, or when inputs of varying shapes come. Nodes need
        not be the same ones, as what passes do may depend on weights; what differs is compiled
        anew. A call that is under way in another thread gives what the weights of before or the new
        ones give, no mixture, and one that begins later what the new ones do.

        ValueError where the inputs are not those of the plan.
        """
        check_graph("update_weights", graph)
        prepared = self._prepared(graph.copy())
        values = prepared.model.graph.inputs
        inputs = [value for value in values if not value.is_initializer()]
        expected, given = ([spec_of(one) for one in each] for each in (self._inputs, inputs))
        if given != expected:
            raise ValueError(
                f"update_weights: graph: expected the inputs {expected} of the plan, got {given}"
            )
        with self._placing:
            self._graph, self._source, self._starts = prepared, None, None
            self._device.forget_weights()
            self._device.compiler.forget_kept()
            with self._lock:
                self._inputs = inputs  # those of before have the graph of before
                for key, placement in self._placements.items():
                    placement.retire()
                    if isinstance(placement, Placement):
                        self._outdated[key] = placement
                self._placements.clear()
                while len(self._outdated) > _MOST_PLACEMENTS:
                    self._outdated.popitem(last=False)
                self._ready.clear()
        if self._is_static:
            self._placement(())

    def summary(self) -> str:
        """How many nodes the device executes, and the operators of the others."""
        return self.placement().summary()

    def explain(self) -> Explanation:
        """Where each node runs, and why not on the device: for shapes as of `placement`."""
        placement = self.placement()
        return Explanation(
            (
                row_of(node, placement.where(position), placement.why(position))
                for position, node in enumerate(placement.nodes)
            ),
            placement.summary(),
        )

    def placement(self) -> Placement:
        """Where the nodes run: for the latest shapes, or for any before there were some."""
        key = self._latest
        if key is None:
            with self._placing:
                return self._placed(())
        return self._whole(key)

    def models(self) -> list[Loaded]:
        """The models of the device in all placements so far: how many nodes each has, how many
        seconds making it took, and whether it was "compiled", came from the "cache" or a "file", or
        is an earlier one that was "updated" with other weights.
        """
        return [model for each in self.placements().values() for model in each.models()]

    @property
    def graph(self) -> Graph:
        """The graph that is executed, after the passes."""
        source = self._source
        if self._graph is None and source is not None:
            graph = self._prepared(Graph(source.read(), self._file))
            with self._lock:  # of several threads that have made it all get the same
                self._graph = self._graph or graph
        return cast(Graph, self._graph)

    def _prepared(self, graph: Graph) -> Graph:
        for one in PASSES if self._optimize else ():
            one.run(graph.model)
        return graph

    @property
    def keep_nan(self) -> bool:
        """Whether what the CPU executes keeps NaN."""
        return self._keep_nan

    @property
    def device(self) -> Device:
        """Where its models are, and what they are compiled with."""
        return self._device

    def placements(self) -> dict[Any, Placement]:
        """Where the nodes run, by shapes and types of inputs, for those that came so far."""
        with self._lock:
            keys = list(self._placements)
        return {key: self._whole(key) for key in keys}

    def _mode(self) -> str:
        return self._fallback or str(_fallback(""))

    def _run_checked(self, inputs: Mapping[str, Any], key: Any) -> list[Any]:
        given = self._check(inputs)
        outputs, placement = self._run_placed(given)
        if not self._has_warned and isinstance(placement, Placement) and not placement.is_whole:
            # Where the user did not say that the CPU is to execute them.
            self._has_warned = self._mode() == "auto" and placement.warn()
        # Inputs of varying shapes have placements that go when others come.
        if self._is_static and key is not None and all(one[0] is np.ndarray for one in key):
            self._ready[key] = placement.single_model()
        return outputs

    def _run_placed(
        self, given: Any, recorder: Recorder | None = None
    ) -> tuple[list[Any], Placement | Start]:
        """The outputs, and what has given them."""
        while True:
            placement = self._placement(given) if recorder is None else self.placement()
            try:
                contents = dict(zip(placement.inputs, given, strict=True))
                return placement.run(contents, recorder), placement
            except Outdated:
                pass  # by another thread, which has dropped it before

    def profile(self, inputs: Mapping[str, Any]) -> Profile:
        """Executes the graph as `run` does, and tells how long each step took.

        Steps are groups of nodes that are one model of the device, each until it was done, copies
        between device and host, and what the CPU executed.
        """
        self.run(inputs)  # so that nothing is compiled while time is taken
        given = self._check(inputs)
        self._placement(given)
        recorder = Recorder()
        outputs, _ = self._run_placed(given, recorder)
        return Profile(tuple(recorder.steps), tuple(outputs))

    def steps(self) -> list[Step]:
        """Where each node that is on the CPU was executed, in the plans made so far."""
        return [step for each in self.placements().values() for step in each.steps()]

    def _placement(self, given: Any) -> Placement | Start:
        return self._placement_for(() if self._is_static else tuple(map(_spec_of, given)))

    def _placement_for(self, key: tuple[Any, ...]) -> Placement | Start:
        found = self._kept(key)
        if found is None:
            with self._placing:
                found = self._kept(key) or self._keep(key, self._started(key) or self._placed(key))
        self._latest = key
        return found

    def _whole(self, key: tuple[Any, ...]) -> Placement:
        """The placement of inputs of a key, with all that can be asked of one."""
        found = self._kept(key)
        if not isinstance(found, Placement):
            with self._placing:
                found = self._kept(key)
                if not isinstance(found, Placement):
                    found = self._placed(key)
                    self._keep(key, found)
        return found

    def _started(self, key: tuple[Any, ...]) -> Start | None:
        """What a second start needs of a placement, where the cache has it."""
        if self._starts is None or self._verify or self._mode() == "whole":
            return None
        if self._source is None or self._source.interface is None:
            return None
        return self._starts.find(key, self._inputs, lambda: self._whole(key))

    def _kept(self, key: Any) -> Placement | Start | None:
        with self._lock:
            if key in self._placements:
                self._placements.move_to_end(key)
            return self._placements.get(key)

    def _keep(self, key: Any, placement: Placement | Start) -> Placement | Start:
        with self._lock:
            self._placements[key] = placement
            if len(self._placements) > _MOST_PLACEMENTS:
                self._placements.popitem(last=False)
        return placement

    def _placed(self, specs: tuple[Any, ...]) -> Placement:
        graph = self.graph.copy()
        inputs = {value.name: value for value in graph.model.graph.inputs}
        known: dict[str, tuple[int, ...]] = {}
        for name, (shape, dtype) in zip(self._names, specs, strict=False):
            value = inputs[name]
            if shape is not None and dims_of(value.shape) is not None:
                known[name] = shape
            if value.dtype is None and dtype is not None:
                value.dtype = onnx_ir.DataType.from_numpy(dtype)
        try:
            graph.infer(known or None)
        except GraphError as error:
            # Some of what onnx executes it cannot infer. Without shapes nodes are on the CPU.
            warn(f"{error}. Nodes whose shapes that leaves unknown run on the CPU")
        saved = self._device.compiler.saved_answers(specs)
        answers = None if saved is None else [Answer(*answer) for answer in saved]
        previous = self._outdated.pop(specs, None)
        if previous is not None:
            answers = previous.answers_for(graph) or answers
        mode = self._mode()
        placement = Placement(
            graph,
            self._device,
            mode,
            self._costs,
            self._verify,
            answers,
            self._keep_nan,
            previous=previous,
        )
        if self._starts is not None and not self._verify and mode != "whole":
            self._starts.keep(specs, placement, self.graph.model.graph)
        return placement


def check_options(
    function: str, fallback: object, options: object, verify: object, keep_nan: object
) -> None:
    """TypeError or ValueError, of a function, for what plans do not take."""
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"{function}: options: expected a mapping, got {type(options).__name__}")
    if not isinstance(verify, bool) and not _is_tolerance(verify):
        raise TypeError(
            f"{function}: verify: expected a bool, or a pair of a relative tolerance and one of "
            f"the largest element, got {verify!r}"
        )
    if not isinstance(keep_nan, bool):
        raise TypeError(f"{function}: keep_nan: expected a bool, got {keep_nan!r}")
    if fallback is not None and fallback not in MODES:
        raise ValueError(f"{function}: fallback: expected one of {MODES}, got {fallback!r}")


def _is_tolerance(verify: object) -> bool:
    return (
        isinstance(verify, tuple)
        and len(verify) == 2
        and all(isinstance(number, (int, float)) for number in verify)
    )


def _spec_of(content: Any) -> tuple[tuple[int, ...] | None, Any]:
    """Shape and type of an array; None for what is none."""
    shape = getattr(content, "shape", None)
    return None if shape is None else tuple(shape), getattr(content, "dtype", None)
