"""Second starts: plans whose model of the device is kept, made without reading the graph's nodes.

Where a device executes a whole graph as one model that the cache has, all that a run needs is that
model and the graph's inputs. Under a key of the file's bytes, the options and the library the cache
knows which model that is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import onnx_ir

import ffi

from ...cache._file import PieceWriter
from ...cache._use import Cache, warn
from .. import _interfaces
from .._latest import Attempt
from .._unread import Interface, Unread
from ..plan import own_arrays
from ..profile import Recorder
from . import _kept
from ._compiled import FAILURES, Loaded, specs_key
from ._describe import dtype_of, extents_of
from ._device import Device
from ._placement import Outdated, Placement
from ._wiring import Part

_ModelGraph = ffi.get_class("mx.acc.ModelGraph")

# Where the CPU's first answer took fewer seconds, and a smaller part of those that the library has
# compiled for, it is there sooner than the model can be loaded: of OpenVINO that takes 0.4 to 0.55
# of them for small models. Reading the graph takes as long again as what was measured.
_FEW_SECONDS = 0.03
_SMALL_PART = 0.3


class Start:
    """A graph that is one model of the device, of which nothing else is known."""

    def __init__(
        self,
        device: Device,
        inputs: Sequence[onnx_ir.Value],
        loaded: Loaded,
        placement: Callable[[], Placement],
    ) -> None:
        """`placement` makes the whole placement, which knows what to do after a failure."""
        self._device = device
        self._loaded = loaded
        self._placement = placement
        self._is_outdated = False
        self.inputs = list(inputs)
        self._attempt = Attempt(loaded.model.try_infer, self._instead, FAILURES)

    def run(
        self, given: Mapping[onnx_ir.Value, Any], recorder: Recorder | None = None
    ) -> list[Any]:
        """The graph's outputs for its inputs."""
        if self._is_outdated:
            raise Outdated
        contents = list(given.values())
        try:
            outputs = self._loaded.model.infer([self._device.array(each) for each in contents])
        except FAILURES:
            return self._run_placed(contents, recorder)
        return own_arrays(list(outputs), contents)

    def retire(self) -> None:
        """Has the plan make a placement from now on."""
        self._is_outdated = True
        self._attempt.end()

    def single_model(self) -> Attempt:
        """What executes the graph for its inputs in order, of arrays; it gives None for arrays that
        do not fit, and where the weights are others now."""
        return self._attempt

    def _instead(self, arrays: Sequence[Any], _: Exception) -> list[Any] | None:
        return None if self._is_outdated else self._run_placed(arrays)

    def _run_placed(self, contents: Sequence[Any], recorder: Recorder | None = None) -> list[Any]:
        """The outputs of the placement, which knows what to do after a failure."""
        placement = self._placement()
        return placement.run(dict(zip(placement.inputs, contents, strict=True)), recorder)


class Starts:
    """The starts of one plan that the cache has."""

    def __init__(
        self, unread: Unread, device: Device, plan_options: Sequence[Any], keep_nan: bool
    ) -> None:
        """`plan_options` are those of the plan that decide what the device executes, `keep_nan`
        decides what the CPU does."""
        self._unread = unread
        self._device = device
        self._hashes: list[str] | None = None
        self._plan_options = list(plan_options)
        self._keep_nan = keep_nan

    def cpu_is_sooner(self, specs: Sequence[Any]) -> bool:
        """Whether the CPU gives its first answer before the model could be loaded, as it was seen
        of a graph that differs in weights at most: they are not looked at."""
        about = self._about("answer", specs)
        if about is None:
            return False
        try:
            return _is_sooner(float(about["answer"]), float(about["seconds"]))
        except (KeyError, TypeError, ValueError):
            return False

    def find(
        self,
        specs: Sequence[Any],
        inputs: Sequence[onnx_ir.Value],
        placement: Callable[[], Placement],
    ) -> Start | None:
        """For inputs of these shapes and types; None where the cache has none."""
        about = self._about("start", specs)
        if about is None:
            return None
        try:
            graph = _ModelGraph("", int(about["nodes"]), b"")
            for add, rows in ((graph.add_input, "inputs"), (graph.add_output, "outputs")):
                for name, dtype, shape, symbols in about[rows]:
                    add(name, dtype, shape, symbols)
            digest, nodes = str(about["digest"]), int(about["nodes"])
        except (KeyError, *FAILURES):
            return None
        loaded = self._device.compiler.load_kept(graph, digest, nodes)
        return None if loaded is None else Start(self._device, inputs, loaded, placement)

    def keep(
        self,
        specs: Sequence[Any],
        placement: Placement,
        graph: onnx_ir.Graph,
        answer_seconds: float,
    ) -> None:
        """Keeps what `find` gives, where the placement is one model that the cache has whole. The
        CPU took so many seconds for the first answer of the graph, 0 where it gave none."""
        models = placement.models()
        interface = self._unread.interface or Interface.of(graph)
        if len(models) != 1 or placement.single_model() is None or interface is None:
            return
        (loaded,) = models
        cache, key = self._entry("start", specs)
        if cache is None or not self._device.compiler.has_whole(loaded.digest):
            return
        name = graph.name or "graph"
        if not Cache.has(key):
            about = {
                "accelerator": self._device.name,
                "graph": f"{name}: start",
                "nodes": loaded.nodes,
                "seconds": loaded.seconds,
                "digest": loaded.digest,
                **_rows_of(placement.pieces[0].part),
            }
            _write(cache, key, about)
        _, key = self._entry("answer", specs)
        if answer_seconds and not Cache.has(key):
            about = {
                "accelerator": self._device.name,
                "graph": f"{name}: first answer of the CPU",
                "seconds": loaded.seconds,
                "answer": answer_seconds,
            }
            _write(cache, key, about)
        _interfaces.keep(cache, self._unread.structure, interface, name)

    def keep_plan(self, specs: Sequence[Any], placement: Placement, on_cpu: Placement) -> None:
        """Keeps what executed the graph on the CPU, if `keep` has kept what the placement is of,
        and its first answer comes before that could be loaded."""
        recipe = on_cpu.recipe()
        cache, start = self._entry("start", specs)
        _, key = self._entry("plan", specs)
        if cache is None or recipe is None or Cache.has(key) or not Cache.has(start):
            return
        load_seconds = sum(model.seconds for model in placement.models())
        seconds = _kept.seconds_of(recipe)
        if seconds is not None and seconds >= _SMALL_PART * load_seconds:
            seconds = _kept.seconds_of(recipe)  # something else may have had the processor
        if seconds is None or seconds >= _SMALL_PART * load_seconds:
            return

        def write(writer: PieceWriter) -> dict[str, Any]:
            return {
                "accelerator": self._device.name,
                "graph": f"{on_cpu.name}: plan of the CPU",
                "seconds": seconds,
                "plan": _kept.write(writer, recipe, on_cpu.operators()),
            }

        with cache.locked(key):
            cache.write(key, write)

    def kept_plan(self, specs: Sequence[Any], why: str) -> _kept.KeptPlan | None:
        """What gives the CPU's first answers for inputs of these shapes and types, sooner than the
        model could be loaded; None where the cache has none. `why` says why the CPU does."""
        cache, key = self._entry("plan", specs)
        file = cache.open(key) if cache is not None and Cache.has(key) else None
        if cache is None or file is None:
            return None
        with file:
            try:
                return _kept.read(file, file.about["plan"], self._device, why)
            except (KeyError, *FAILURES) as error:
                cache.remove(key)
                warn(f"a plan that was kept is made anew: {error}")
                return None

    def _about(self, what: str, specs: Sequence[Any]) -> dict[str, Any] | None:
        """What the cache has of an entry; None where it has none."""
        cache, key = self._entry(what, specs)
        file = cache.open(key) if cache is not None and Cache.has(key) else None
        if file is None:
            return None
        with file:
            return file.about

    def _entry(self, what: str, specs: Sequence[Any]) -> tuple[Cache | None, str]:
        """The cache, and the key there; None where it cannot be used. A "start" and a "plan"
        depend on the weights, an "answer" does not."""
        cache, identity = self._device.compiler.cache()
        if cache is None:
            return None, ""
        if what != "answer" and self._hashes is None:
            self._hashes = self._unread.elements.hashes(self._device.hash_key)
        parts = [
            what,
            self._unread.structure,
            self._hashes if what != "answer" else None,
            [self._keep_nan, *_kept.stamp()] if what == "plan" else None,
            identity,
            sorted(self._device.options.items()),
            self._plan_options,
            specs_key(specs),
        ]
        text = json.dumps(parts, default=repr)
        return cache, sha256(text.encode()).hexdigest()[:40]


def _is_sooner(answer: float, load: float) -> bool:
    """Whether the CPU's answer comes before a model could be loaded that took so many seconds to
    compile."""
    return answer < min(_FEW_SECONDS, _SMALL_PART * load)


def _write(cache: Cache, key: str, about: dict[str, Any]) -> None:
    with cache.locked(key):
        cache.write(key, lambda writer: about)


def _rows_of(part: Part) -> dict[str, list[Any]]:
    """Inputs and outputs of a model, as mx.acc.ModelGraph takes them."""
    return {
        name: [[value.name or "", dtype_of(value), *extents_of(value)] for value in values]
        for name, values in (("inputs", part.inputs), ("outputs", part.outputs))
    }
