"""Models that a thread loads while the CPU executes the graph.

A plan has a Loading where it otherwise has a placement, and a Loader whose thread makes the
placements, one after another. Neither refers to the plan, so that a plan that is dropped gives its
loads up. No thread outlives the interpreter: the end of a process gives all loads up, and waits for
them, as a library must not go while it compiles.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any
from weakref import WeakSet

import onnx_ir

from ..._acc.fallback import collected
from ...cache._use import warn
from .._graph import Graph
from ..profile import Recorder
from ._compiled import FAILURES
from ._kept import KeptPlan
from ._load import GivenUp, Load, under_way
from ._maker import Maker
from ._placement import Outdated, Placement
from ._starts import Start

# What is kept of a whole model is loaded sooner than the CPU has planned, unless the model is small
# or the library slow. The first run waits for it for so many seconds.
_PATIENCE = 1.0
# Others wait for the first answer, which takes up to 1.4 times as long beside a load on two cores:
# for so many seconds where nobody has asked yet, for _PATIENCE where somebody has.
_PAUSE = 0.02


class Loading:
    """What executes a graph for inputs of some shapes and types while its models are loaded."""

    def __init__(
        self,
        maker: Maker,
        key: tuple[Any, ...],
        previous: Placement | None,
        whole: Callable[[], Placement],
    ) -> None:
        """`key` has the shapes and types; `previous` is the placement of the graph with other
        weights, and `whole` makes all of the placement for a start."""
        self.key = key
        self.load = Load()
        self.told: list[tuple[str, type[Warning]]] = []  # warnings of the load
        self._error: BaseException | None = None
        self._traceback: TracebackType | None = None
        self.result: Placement | Start | None = None
        self._maker = maker
        self._previous = previous
        self._whole = whole
        self._graph: Graph | None = None  # as long as somebody needs it
        self._on_cpu: Placement | None = None
        self._making = threading.Lock()  # of these two
        self._has_begun = False  # to answer
        self._has_answered = threading.Event()
        self._answer_seconds = 0.0
        self._kept: KeptPlan | None = None  # what the CPU answers with, in place of the graph
        self._is_cpu_first = False  # although the cache has the model
        self._takes_long = threading.Event()  # or has ended
        self._ended = threading.Event()
        self._is_outdated = False

    @property
    def inputs(self) -> list[onnx_ir.Value]:
        """What `run` is given."""
        return self._maker.inputs

    @property
    def is_over(self) -> bool:
        """Whether the load has ended, in whatever way."""
        return self._ended.is_set()

    def wait(self, seconds: float | None) -> bool:
        """Waits until the load has ended; whether it has."""
        self._has_answered.set()  # as nobody waits for that
        return self._ended.wait(seconds)

    def placement(self) -> Placement:
        """What executes the nodes now: on the CPU, until the load has ended."""
        result = self.result
        if isinstance(result, Placement):
            return result
        with self._making:
            if self._on_cpu is None:
                self._on_cpu = self._maker.on_cpu(self._inferred())
                if self._is_outdated:
                    self._on_cpu.retire()
            return self._on_cpu

    def run(
        self, given: Mapping[onnx_ir.Value, Any], recorder: Recorder | None = None
    ) -> list[Any]:
        """The graph's outputs. Raises Outdated where there is something else for its inputs now,
        and what the load has failed with."""
        if not self._takes_long.wait(_PATIENCE):
            self._takes_long.set()
        if self.is_over:
            self.check()
        if self._is_outdated or self.is_over and self.result is not None:
            raise Outdated
        self._has_begun = True
        kept = self._kept
        begin = time.perf_counter()
        try:
            if kept is not None and recorder is None:
                try:
                    return kept.run(given)
                except FAILURES:  # the graph tells which of its nodes
                    self._kept = None
            placement = self.placement()
            contents = dict(zip(placement.inputs, given.values(), strict=True))
            outputs = placement.run(contents, recorder)
            if not self._has_answered.is_set():
                self._answer_seconds = time.perf_counter() - begin
            return outputs
        finally:
            self._has_answered.set()

    def expect_long(self) -> None:
        """Has nobody wait for the load before the CPU answers."""
        self._takes_long.set()

    def give_up(self) -> None:
        """Has the load end soon."""
        self.load.give_up()
        self._has_answered.set()

    def retire(self) -> None:
        """Has `run` raise Outdated from now on."""
        self._is_outdated = True
        self._has_answered.set()
        on_cpu = self._on_cpu
        if on_cpu is not None:
            on_cpu.retire()

    def single_model(self) -> None:
        """None, as several things may execute the graph one after another."""

    def take_previous(self) -> Placement | None:
        """The placement of the graph with other weights, where the load has not begun with it."""
        previous, self._previous = self._previous, None
        return previous

    def start(self) -> bool:
        """Loads what the cache has of a whole model, unless the CPU's answer comes first; whether
        there is more to do."""
        self._make(self._started)
        is_to_do = self.result is None and self._error is None
        if is_to_do:
            self._takes_long.set()
        return is_to_do

    def pause(self) -> None:
        """Leaves the processor to the first answer."""
        if not self._has_answered.wait(_PAUSE) and self._has_begun:
            self._has_answered.wait(_PATIENCE)

    def compile(self) -> None:
        """Loads or compiles all models."""
        self._make(self._placed)
        self._graph = None  # but the placement before, if it is given up, is the next load's

    def _make(self, make: Callable[[], Placement | Start | None]) -> None:
        """Keeps what is made, and what is raised."""
        try:
            with collected(self.told), under_way(self.load):
                if not self.load.is_given_up:
                    self.result = make()
        except GivenUp:
            pass
        except BaseException as error:  # for who waits, or runs the plan next
            traceback.clear_frames(error.__traceback__)
            self._error, self._traceback = error, error.__traceback__

    def check(self) -> None:
        """Raises what the load has failed with."""
        if self._error is not None:
            raise self._error.with_traceback(self._traceback)

    def keep(self) -> None:
        """Keeps for the next start what has answered, once the device does."""
        result, on_cpu = self.result, self._on_cpu
        self.told.clear()
        if not isinstance(result, Placement) or on_cpu is None or not self._answer_seconds:
            return
        if self.load.is_given_up:
            return
        with collected(self.told):
            try:
                self._maker.keep_plan(self.key, result, on_cpu)
            except Exception as error:  # which nobody needs
                warn(f"a plan of the CPU is not kept: {error}")

    @property
    def is_given_up(self) -> bool:
        """Whether the load has ended with nothing."""
        return self.is_over and self.result is None and self._error is None

    def end(self) -> None:
        """Tells those who wait."""
        self._ended.set()
        self._takes_long.set()

    def _started(self) -> Start | None:
        self._kept = self._maker.kept_plan(self.key)
        self._is_cpu_first = self._kept is not None or self._maker.cpu_is_sooner(self.key)
        return None if self._is_cpu_first else self._maker.started(self.key, self._whole)

    def _placed(self) -> Placement | Start:
        if self._is_cpu_first:
            started = self._maker.started(self.key, self._whole)
            if started is not None:
                return started
        with self._making:
            graph = self._inferred()
        return self._maker.placed(self.key, graph, self.take_previous(), self._answer_seconds)

    def _inferred(self) -> Graph:
        """The graph with all types. What executes it on the CPU and what is loaded share it, as
        neither changes it."""
        if self._graph is None:
            self._graph = self._maker.inferred(self.key)
        return self._graph


class Loader:
    """Makes the placements of one plan, on a thread that is there as long as there are some."""

    def __init__(self, device_lock: Any, install: Callable[[Loading], None]) -> None:
        """`device_lock` is held while the library compiles; `install` gets what was loaded, and
        must not refer to the plan."""
        self._device_lock = device_lock
        self._install = install
        self._queue: deque[Loading] = deque()
        self._under_way: Loading | None = None
        self._is_given_up = False
        self._lock = threading.Lock()  # of whether there is a thread
        self._thread: threading.Thread | None = None

    def submit(self, loading: Loading) -> None:
        """Has a load done: by this thread where there cannot be another one."""
        if self._under_way is not None:
            loading.expect_long()
        self._queue.append(loading)
        with self._lock:
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._work, name="mx loads models", daemon=True)
            _working.add(self)
            try:
                if _is_ending:
                    raise RuntimeError("the interpreter ends")
                self._thread.start()
                return
            except RuntimeError:  # there are too many, too
                self._thread = None
                _working.discard(self)
                self._is_given_up = False
        self._work_queue()

    def give_up(self) -> None:
        """Gives up what is under way, and what waits.

        The garbage collector calls this, in any thread: there is no lock.
        """
        self._is_given_up = True
        current = self._under_way
        if current is not None:
            current.load.give_up()

    def join(self) -> None:
        """Waits until nothing is loaded any more."""
        thread = self._thread
        while thread is not None and thread.is_alive():
            # Whoever is in a hurry can end the process by a signal that Python does not handle.
            with contextlib.suppress(KeyboardInterrupt):
                thread.join()

    def _work(self) -> None:
        while True:
            if _is_ending:
                self.give_up()
            self._work_queue()
            with self._lock:
                if not self._queue:
                    self._thread = None
                    _working.discard(self)
                    return

    def _work_queue(self) -> None:
        while True:
            with self._device_lock:
                if not self._queue:
                    return
                loading = self._under_way = self._queue.popleft()
                if self._is_given_up:  # after `give_up` could find it
                    loading.load.give_up()
                is_to_do = loading.start()
                if not is_to_do:
                    self._install(loading)
            if is_to_do:
                loading.pause()
                with self._device_lock:
                    loading.compile()
                    self._install(loading)
                loading.keep()
                self._install(loading)  # for what there is to tell
            self._under_way = None
            loading.end()
            del loading  # and its models, where nobody wants them


_working: set[Loader] = set()
_is_ending = False


@atexit.register
def _end() -> None:
    global _is_ending
    _is_ending = True
    for loader in list(_working):
        loader.give_up()
    for loader in list(_working):
        loader.join()


# Whose loads a child of fork does not have.
_plans: WeakSet[Any] = WeakSet()


def reset_after_fork(plan: Any) -> None:
    """Has `plan.reset_after_fork` be called in each child of fork."""
    _plans.add(plan)


def _reset() -> None:
    _working.clear()
    for plan in list(_plans):
        plan.reset_after_fork()


os.register_at_fork(after_in_child=_reset)
