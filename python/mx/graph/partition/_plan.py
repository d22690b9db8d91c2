"""A graph, ready to be executed on an accelerator."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import numpy as np
from ..._acc.fallback import tell
from ...context import Context
from .._explanation import Explanation, row_of
from .._graph import Graph, check_graph
from .._spec import spec_of
from ..lowering._segment import Step
from ..plan import Plan
from ..profile import Profile, Recorder
from ._background import Loader, Loading, reset_after_fork
from ._compiled import Loaded, Saved
from ._device import Device
from ._maker import Maker, Options
from ._placement import Outdated, Placement
from ._starts import Start
from ._verify import Tolerance

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

    With `background` another thread loads models, and until they are there the CPU executes all of
    the graph, which may differ in the last bits from what the device computes; `wait` waits for the
    device. What the library fails with is told, or with the fallback "error" raised, by `wait` or
    the next run. Arrays that the graph has for weights are read until then.
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
        background: bool = False,
        saved: Saved | None = None,
    ) -> None:
        """ValueError for `background` with `verify`, which compares what the device computes.
        `saved` is what `mx.model.load_compiled` has read."""
        check_graph("PartitionedPlan", graph)
        if not isinstance(ctx, Context):
            raise TypeError(f"PartitionedPlan: ctx: expected a Context, got {type(ctx).__name__}")
        check_options("PartitionedPlan", fallback, options, verify, keep_nan, background)
        self._options = Options(
            optimize,
            fallback,
            os.environ.get("MXNET_ACC_COSTS") != "0" if costs is None else costs,
            Tolerance(*verify) if isinstance(verify, tuple) else verify,
            keep_nan,
        )
        self._device = Device(ctx, options or {}, cache, saved)
        uses_starts = cache and saved is None
        self._maker = Maker(graph, self._device, self._options, starts=uses_starts)
        self._set_inputs(self._maker.inputs)
        self._placements: OrderedDict[Any, Placement | Start | Loading] = OrderedDict()
        # With the weights of before, whose models are taken over.
        self._outdated: OrderedDict[Any, Placement] = OrderedDict()
        self._has_warned = False  # that nodes are on the CPU
        self._latest: Any = None  # the key of the placement of the latest run
        self._is_static = all(
            value.dtype is not None and value.shape is not None and value.shape.is_static()
            for value in self._inputs
        )
        self._untold: deque[tuple[str, type[Warning]]] = deque()  # warnings of other threads
        self._is_background = background
        self._make_locks()
        if background:
            reset_after_fork(self)
        if self._is_static:
            self._placement(())

    def _make_locks(self) -> None:
        self._placing = threading.Lock()  # held while the library compiles
        self._lock = threading.Lock()  # of the placements
        if self._is_background:
            self._loader = Loader(self._placing, _installing(weakref.ref(self)))
            # Not at the end of the process, which has all loads given up.
            weakref.finalize(self, self._loader.give_up).atexit = False

    def reset_after_fork(self) -> None:
        """In a child of fork, where nobody loads: has the next run begin to."""
        self._make_locks()
        self._maker.reset_after_fork()
        for key, placement in list(self._placements.items()):
            if isinstance(placement, Loading):
                del self._placements[key]

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the models are loaded for the inputs that came so far, or for so many
        seconds; whether they are. Without `background` they always are.

        Raises what a run would have raised as they could not be loaded; TypeError and ValueError
        for what is no number of seconds.
        """
        _check_timeout(timeout)
        end = None if timeout is None else time.monotonic() + timeout
        while loading := self._loading():
            if not loading[0].wait(None if end is None else max(0.0, end - time.monotonic())):
                return False
        self._tell()
        with self._lock:
            ended = [each for each in self._placements.values() if isinstance(each, Loading)]
        for each in ended:
            each.check()
        return True

    def _loading(self) -> list[Loading]:
        """What is being loaded."""
        with self._lock:
            found = [each for each in self._placements.values() if isinstance(each, Loading)]
        return [each for each in found if not each.is_over]

    def prepare(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Compiles for inputs of these shapes, by name, before some come; with `background`, begins
        to.

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
        maker = Maker(graph, self._device, self._options, starts=False)
        expected, given = ([spec_of(one) for one in each] for each in (self._inputs, maker.inputs))
        if given != expected:
            raise ValueError(
                f"update_weights: graph: expected the inputs {expected} of the plan, got {given}"
            )
        for loading in self._loading():
            loading.give_up()
        with self._placing:
            self._device.forget_weights()
            self._device.compiler.forget_kept()
            with self._lock:
                self._maker = maker
                self._inputs = maker.inputs  # those of before have the graph of before
                for key, placement in self._placements.items():
                    placement.retire()
                    if isinstance(placement, Loading):
                        previous = placement.take_previous()
                    else:
                        previous = placement if isinstance(placement, Placement) else None
                    if previous is not None:
                        self._outdated[key] = previous
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
        return self._now(key)

    def models(self) -> list[Loaded]:
        """The models of the device in all placements so far: how many nodes each has, how many
        seconds making it took, and whether it was "compiled", came from the "cache" or a "file", or
        is an earlier one that was "updated" with other weights.
        """
        return [model for each in self.placements().values() for model in each.models()]

    @property
    def graph(self) -> Graph:
        """The graph that is executed, after the passes."""
        return self._maker.graph

    @property
    def keep_nan(self) -> bool:
        """Whether what the CPU executes keeps NaN."""
        return self._options.keep_nan

    @property
    def device(self) -> Device:
        """Where its models are, and what they are compiled with."""
        return self._device

    def placements(self) -> dict[Any, Placement]:
        """Where the nodes run, by shapes and types of inputs, for those that came so far."""
        with self._lock:
            keys = list(self._placements)
        return {key: self._now(key) for key in keys}

    def _run_checked(self, inputs: Mapping[str, Any], key: Any) -> list[Any]:
        given = self._check(inputs)
        outputs, placement = self._run_placed(given)
        if not self._has_warned and isinstance(placement, Placement) and not placement.is_whole:
            # Where the user did not say that the CPU is to execute them.
            self._has_warned = self._options.mode() == "auto" and placement.warn()
        # Inputs of varying shapes have placements that go when others come.
        if self._is_static and key is not None and all(one[0] is np.ndarray for one in key):
            self._ready[key] = placement.single_model()
        return outputs

    def _run_placed(
        self, given: Any, recorder: Recorder | None = None
    ) -> tuple[list[Any], Placement | Start | Loading]:
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
        self.wait()
        recorder = Recorder()
        outputs, _ = self._run_placed(given, recorder)
        return Profile(tuple(recorder.steps), tuple(outputs))

    def steps(self) -> list[Step]:
        """Where each node that is on the CPU was executed, in the plans made so far."""
        return [step for each in self.placements().values() for step in each.steps()]

    def _placement(self, given: Any) -> Placement | Start | Loading:
        return self._placement_for(() if self._is_static else tuple(map(_spec_of, given)))

    def _placement_for(self, key: tuple[Any, ...]) -> Placement | Start | Loading:
        if self._untold:
            self._tell()
        found = self._kept(key)
        if found is None and self._is_background and self._options.mode() != "whole":
            found = self._begun(key)
        elif found is None:
            with self._placing:
                found = self._kept(key) or self._keep(key, self._started(key) or self._placed(key))
        elif isinstance(found, Loading):  # of an earlier call: those that begin loads never fail
            found.check()
        self._latest = key
        return found

    def _begun(self, key: tuple[Any, ...]) -> Placement | Start | Loading:
        """Has the models for inputs of a key be loaded, and gives what executes them until then."""
        with self._lock:
            found = self._placements.get(key)
            if found is not None:
                return found
            previous = self._outdated.pop(key, None)
            loading = Loading(self._maker, key, previous, self._wholes(key))
            self._add(key, loading)
        try:
            self._loader.submit(loading)
        except BaseException:  # as Ctrl-C: or it would be waited for without end
            loading.give_up()
            loading.end()
            raise
        return loading

    def _install(self, loading: Loading) -> None:
        """Puts what was loaded where its load was, which other threads may have dropped."""
        with self._lock:
            if loading.result is not None and self._placements.get(loading.key) is loading:
                self._placements[loading.key] = loading.result
        self._untold.extend(loading.told)

    def _tell(self) -> None:
        """Warns of what was found by other threads."""
        while self._untold:
            try:
                text, category = self._untold.popleft()
            except IndexError:  # another one has told it
                return
            tell(text, category)

    def _now(self, key: tuple[Any, ...]) -> Placement:
        """What executes inputs of a key now: on the CPU, while models are loaded."""
        found = self._kept(key)
        return found.placement() if isinstance(found, Loading) else self._whole(key)

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

    def _wholes(self, key: tuple[Any, ...]) -> Callable[[], Placement]:
        """What gives that, for those who run while the plan does, without a reference to it."""
        reference = weakref.ref(self)

        def whole() -> Placement:
            plan = reference()
            assert plan is not None
            return plan._whole(key)

        return whole

    def _started(self, key: tuple[Any, ...]) -> Start | None:
        return self._maker.started(key, self._wholes(key))

    def _placed(self, key: tuple[Any, ...]) -> Placement:
        graph = self._maker.inferred(key)
        return self._maker.placed(key, graph, self._outdated.pop(key, None))

    def _kept(self, key: Any) -> Placement | Start | Loading | None:
        with self._lock:
            found = self._placements.get(key)
            if isinstance(found, Loading) and found.is_given_up:
                del self._placements[key]
                return None
            if found is not None:
                self._placements.move_to_end(key)
            return found

    def _keep(self, key: Any, placement: Placement | Start) -> Placement | Start:
        with self._lock:
            self._add(key, placement)
        return placement

    def _add(self, key: Any, placement: Placement | Start | Loading) -> None:
        self._placements[key] = placement
        if len(self._placements) > _MOST_PLACEMENTS:
            _, dropped = self._placements.popitem(last=False)
            if isinstance(dropped, Loading):
                dropped.give_up()


def _installing(reference: weakref.ref[PartitionedPlan]) -> Callable[[Loading], None]:
    """What installs models in a plan, if that is still there."""

    def install(loading: Loading) -> None:
        plan = reference()
        if plan is not None:
            plan._install(loading)

    return install


def check_options(
    function: str,
    fallback: object,
    options: object,
    verify: object,
    keep_nan: object,
    background: object = False,
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
    if not isinstance(background, bool):
        raise TypeError(f"{function}: background: expected a bool, got {background!r}")
    if background and verify:
        raise ValueError(
            f"{function}: background: cannot be given with verify, which compares what the device "
            "computes, as the CPU computes until models are loaded"
        )
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


def _check_timeout(timeout: object) -> None:
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"PartitionedPlan.wait: timeout: expected a number, got {timeout!r}")
    if not 0 <= timeout <= threading.TIMEOUT_MAX:
        most = f"0 to {threading.TIMEOUT_MAX:g}"
        raise ValueError(f"PartitionedPlan.wait: timeout: expected {most} seconds, got {timeout!r}")
