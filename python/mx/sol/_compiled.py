"""A model of any framework, planned for a device."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy

from .. import numpy as np
from ..context import Context, cpu
from ..graph import Graph, GraphError, PartitionedPlan, Plan, ValueSpec
from ..graph.lowering._contents import to_numpy
from ..graph.passes import Pass
from ._config import config
from ._plans import plan_of, plan_on
from ._precision import LESS_EXACT
from ._starts import Start, start_of
from ._version import KeptPlan, Version
from .dims import Dimensions, VDims, choose
from .frameworks import Holder, Source
from .frameworks._framework import Weight
from .frameworks._weights import weights_of
from .passes import PASSES, Removed, run
from .schedule import Memory, memory_of
from .tuning import Choices, Tuner, Tuning, tune

Shapes = tuple[tuple[int, ...], ...]
Run = Callable[[Sequence[Any]], Sequence[Any]]

# Shapes, and versions of their own, that are kept; of more the oldest go.
_MOST = 64


class Compiled:
    """Executes a model: a graph, and a plan of it, for the shapes that its inputs have.

    Several threads may call one.
    """

    def __init__(
        self, source: Source, vdims: VDims, context: Context, passes: Sequence[Pass]
    ) -> None:
        self.source = source
        # What has the weights: the source, or a model that is made of it in another framework.
        self.holder: Holder = source
        self.context = context
        self.vdims = vdims
        self.passes = tuple(passes)
        # Whether the framework trains what cannot be trained here.
        self.fallback = False
        # Whether it is one in a model that its framework executes, which then does what this does
        # not, as what it calls it with is not up to the user.
        self.is_part = False
        # The bytes that a step of training may take.
        self.memory_limit: int | None = None
        self.choice = None if self._is_as_example(vdims) else choose(source.dimensions(), vdims)
        self._parsed = source.parse(self.choice)
        self.inputs = list(self._parsed.graph.inputs)
        self._versions: dict[Shapes | None, Version] = {}
        # Plans of accelerators that have the weights of before.
        self._outdated: dict[Shapes | None, PartitionedPlan] = {}
        self._lock = threading.RLock()
        # What shapes are executed by: their own version where the one of all does not hold.
        self._keys: dict[Shapes, Shapes | None] = {}
        self._apart: dict[Shapes, Graph] = {}
        # Whether the plan for the example may be kept: weights are what they were, and nobody has
        # looked yet; and where it is to be kept then.
        self._looks_for_start = self._may_have_start
        self._start: Start | None = None
        # What was measured of each version, for as long as the model is there.
        self._tunings: dict[Shapes | None, Tuning] = {}
        # What measures the layers of plans of training.
        self._tuner: Tuner | None = None

    @classmethod
    def with_options(
        cls,
        source: Source,
        vdims: VDims,
        context: Context,
        passes: Sequence[str],
        fallback: bool,
        memory_limit: int | None,
        is_part: bool = False,
    ) -> Compiled:
        """A model with the `options` of another one, of the passes those that there are."""
        made = cls(source, vdims, context, [one for one in PASSES if one.name in passes])
        made.fallback, made.memory_limit, made.is_part = fallback, memory_limit, is_part
        return made

    def options(self) -> tuple[Any, ...]:
        """How it was optimized, as `with_options` takes it and as pickles have it."""
        names = [one.name for one in self.passes]
        return self.vdims, self.context, names, self.fallback, self.memory_limit, self.is_part

    def _is_as_example(self, vdims: VDims) -> bool:
        return self.source.example is not None and (vdims is None or vdims is False)

    # -- execution --

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for these inputs, on the CPU; errors name the input that does not fit."""
        return [on_host(output) for output in self.run_there(arrays)]

    def run_there(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The same on the context that the model is optimized for."""
        version = self.version(_shapes_of(arrays))
        outputs: Sequence[Any] = version.plan.run(self.named(arrays))
        self._write_start(version)
        return outputs

    def runner(self, arrays: Sequence[Any]) -> Run:
        """What executes the model for inputs of the shapes and types of these, unchecked ones."""
        compiled = self.compiled_plan(arrays)
        if compiled is not None:
            run: Run = compiled.run
            return run
        return self.run

    def version(self, shapes: Shapes) -> Version:
        """The graph and the plan for shapes of inputs. ValueError for shapes that are outside."""
        with self._lock:
            key = self._key(shapes)
            if key not in self._versions:
                is_tuned = key in self._tunings
                if not config["autotune"] and not is_tuned:
                    self._read_start(key)
                elif not is_tuned:
                    arrays = [_zeros(*one) for one in zip(self.inputs, shapes, strict=True)]
                    self._tune(key, arrays, config["tuning_seconds"])
                if key not in self._versions:
                    _make_room(self._versions)
                    self._versions[key] = self._make(key)
            return self._versions[key]

    def tune(
        self, seconds: float, progress: bool | None = None, again: bool = False
    ) -> Tuning | None:
        """Measures backends for each layer, for the shapes of the example, and has the plan of
        those that were best. None on other devices than the CPU."""
        arrays = self.example_arrays()
        with self._lock:
            key = self._key(_shapes_of(arrays))
            # Whoever tunes waits anyway: weights that were written since are looked at once more.
            self._looks_for_start = self._may_have_start
            self._tune(key, arrays, seconds, progress, again)
            return self._tunings.get(key)

    def training_tuner(self) -> Tuner | None:
        """What measures the layers of plans of training; None where they are not measured."""
        if self.context.device_type != "cpu":
            return None
        with self._lock:
            if self._tuner is None:
                self._tuner = Tuner.by_config()
            return self._tuner

    def tune_training(self, tuner: Tuner | None) -> None:
        """Has plans of training that are made from now on be made by this, if it is one."""
        with self._lock:
            self._tuner = tuner

    def tuning(self, arrays: Sequence[Any]) -> Tuning | None:
        """What was measured for inputs of these shapes, if anything was."""
        with self._lock:
            return self._tunings.get(self._key(_shapes_of(arrays)))

    def _key(self, shapes: Shapes) -> Shapes | None:
        """What the version for these shapes is kept under."""
        if shapes not in self._keys:
            self.check(shapes)
            _make_room(self._keys)
            self._keys[shapes] = None if self._parsed.holds(shapes) else shapes
        return self._keys[shapes]

    def _tune(
        self,
        key: Shapes | None,
        arrays: Sequence[Any],
        seconds: float,
        progress: bool | None = None,
        again: bool = False,
    ) -> None:
        if self.context.device_type != "cpu":
            return
        if again:
            self._forget_start(key)
        elif self._read_start(key, seconds):
            return
        graph, removed = self._optimized(key)
        records = self._has_start(key)
        name = self.source.name
        found = tune(graph, self.named(arrays), name, seconds, progress, again, records)
        for kept in (self._tunings, self._versions):
            _make_room(kept)
        self._tunings[key], plan = found
        self._versions[key] = Version(self._graph_of(key), plan, (graph, removed))

    def refresh(self) -> None:
        """Has all plans take the weights as they are now, when the next call comes, or be made anew
        of them."""
        with self._lock:
            self.holder.look()
            for key, version in self._versions.items():
                if isinstance(version.plan, PartitionedPlan):
                    _make_room(self._outdated)
                    self._outdated[key] = version.plan
            self._versions.clear()
            self._start, self._looks_for_start = None, False

    def sized(self, arrays: Sequence[Any]) -> tuple[Version, Graph, Graph]:
        """What executes the model for inputs of these shapes, and its graphs before and after the
        passes with all shapes that follow from these."""
        shapes = _shapes_of(arrays)
        version = self.version(shapes)
        told = {spec.name: shape for spec, shape in zip(self.inputs, shapes, strict=True)}
        graphs = version.parsed.copy(), version.graph.copy()
        for graph in graphs:
            graph.infer(told)
        return version, *graphs

    def compiled_plan(self, arrays: Sequence[Any]) -> Any | None:
        """The one compiled plan for such inputs on the CPU, planned but not run; None where the
        model takes several, or another device."""
        version = self.version(_shapes_of(arrays))
        if isinstance(version.plan, PartitionedPlan):
            return None
        compiled = version.plan.compiled(self.named(arrays))
        self._write_start(version)
        return compiled

    def named(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """Inputs as plans take them."""
        names = [spec.name for spec in self.inputs]
        return dict(zip(names, map(as_array, arrays), strict=True))

    def example_arrays(self) -> list[Any]:
        """Inputs to measure with: those of the example, zeros where there is none."""
        if self.source.example is not None:
            shapes = self._example_shapes()
            given = zip(self.source.example, shapes, strict=True)
            return [
                array if tuple(array.shape) == shape else _zeros(spec, shape)
                for (array, shape), spec in zip(given, self.inputs, strict=True)
            ]
        return [_zeros(spec, _all_known(spec.name, spec.shape)) for spec in self.inputs]

    def _example_shapes(self) -> list[tuple[int, ...]]:
        assert self.source.example is not None
        own = [tuple(array.shape) for array in self.source.example]
        if self.choice is None:
            return own
        dimensions = self.source.dimensions()
        numbers = {f"#{n}": length for n, length in enumerate(self.choice.lengths)}
        return [
            tuple(
                length if (chosen := numbers.get(str(extent))) is None else chosen
                for length, extent in zip(shape, template, strict=True)
            )
            for shape, template in zip(own, dimensions.inputs.values(), strict=True)
        ]

    def with_batch(self) -> Compiled:
        """The same model with the first dimension of its first input as one that varies.

        ValueError, with the reason, where that is fixed.
        """
        dimensions = self.dimensions()
        name, extents = next(iter(dimensions.inputs.items()), ("", ()))
        if not extents:
            raise ValueError(f"{self.source.name} has no input with a batch")
        if not isinstance(extents[0], str) or not extents[0][1:].isdigit():
            raise ValueError(f"input {name!r}: axis 0 is fixed: {dimensions.reason(name, 0)}")
        number = int(extents[0][1:])
        given = [False] * len(dimensions.lengths) if self.choice is None else self.choice.lengths
        vdims = [True if n == number else one or False for n, one in enumerate(given)]
        made = Compiled.with_options(self.source, vdims, *self.options()[1:])
        made.holder = self.holder
        return made

    def shapes_of_batch(self, batch: int) -> Shapes:
        """The shapes of inputs with another length of the dimension that varies."""
        assert self.choice is not None
        varying = {f"#{n}" for n, length in enumerate(self.choice.lengths) if length is None}
        templates = self.source.dimensions().inputs.values()
        has_example = self.source.example is not None
        own: Sequence[Sequence[int | str]]
        own = self._example_shapes() if has_example else list(templates)
        shapes = [
            [
                batch if str(extent) in varying else length
                for length, extent in zip(shape, template, strict=True)
            ]
            for shape, template in zip(own, templates, strict=True)
        ]
        names = [spec.name for spec in self.inputs]
        return tuple(_all_known(*one) for one in zip(names, shapes, strict=True))

    def memory(self, arrays: Sequence[Any]) -> Memory | None:
        """The memory of a run for such inputs, which is planned and not run; None where the model
        takes several plans, or another device."""
        compiled = self.compiled_plan(arrays)
        if compiled is None:
            return None
        plan = self.version(_shapes_of(arrays)).plan
        found = memory_of(self.sized(arrays)[2], compiled)
        return replace(found, parameters=plan.weight_bytes(compiled))

    def memory_of_shapes(self, shapes: Shapes) -> Memory | None:
        """The same for inputs of these shapes."""
        return self.memory([_zeros(*one) for one in zip(self.inputs, shapes, strict=True)])

    def error(self, arrays: Sequence[Any]) -> float | None:
        """By how much outputs for these inputs differ from those of the model's own precision, as a
        part of the largest element; None where it has that."""
        exact = [one for one in self.passes if one.name not in LESS_EXACT]
        if len(exact) == len(self.passes):
            return None
        key = self._key(_shapes_of(arrays))
        graph, _ = self._optimized(key, exact)
        expected = plan_of(graph, Choices()).run(self.named(arrays))
        errors = [0.0]
        for one, other in zip(self.run(arrays), expected, strict=True):
            told, right = (numpy.asarray(to_numpy(x), "float64") for x in (one, other))
            most = float(abs(right).max(initial=0.0))
            difference = float(abs(told - right).max(initial=0.0))
            errors.append(difference / most if most else difference)
        return max(errors)

    def graph(self) -> Graph:
        """What is executed, as ONNX: the graph behind the passes, with the weights of now."""
        graph, _ = self._optimized(None)
        graph.infer()
        return graph

    def smaller(self, graph: Graph) -> Graph:
        """A copy of a graph behind the passes."""
        copy = graph.copy()
        run(self.passes, copy)
        copy.infer()
        return copy

    def _graph_of(self, key: Shapes | None) -> Graph:
        if key is None:
            return self._parsed.graph
        if key not in self._apart:
            _make_room(self._apart)
            try:
                self._apart[key] = self.source.parse_for(key)
            except GraphError as error:  # which knows of no call
                pairs = zip(self.inputs, key, strict=True)
                told = ", ".join(f"{spec.name!r} of shape {shape}" for spec, shape in pairs)
                raise GraphError(f"for inputs {told}: {error}") from error
        return self._apart[key]

    def _make(self, key: Shapes | None) -> Version:
        graph, removed = self._optimized(key)
        plan: Plan | PartitionedPlan
        if self.context.device_type == "cpu":
            plan = self._plan_of(graph, key)
        else:
            plan = plan_on(graph, self.context, self._outdated.pop(key, None))
        return Version(self._graph_of(key), plan, (graph, removed))

    def _plan_of(self, graph: Graph, key: Shapes | None) -> Plan:
        tuning = self._tunings.get(key)
        chosen = None if tuning is None else tuning.chosen
        return plan_of(graph, Choices(chosen, self._has_start(key)))

    # -- the next start --

    @property
    def _may_have_start(self) -> bool:
        return self.choice is None and self.context.device_type == "cpu"

    def _has_start(self, key: Shapes | None) -> bool:
        return self._start is not None and key is None

    def _read_start(self, key: Shapes | None, seconds: float | None = None) -> bool:
        """Has the plan that is kept for the example, and says whether there is one; that which was
        tuned, where somebody would tune for so many seconds."""
        start = self._find_start(key, seconds is not None)
        found = None if start is None else start.read(seconds or 0.0)
        if found is None:
            return False
        self._start = None  # which has all that could be kept
        compiled, tuning = found
        if tuning is not None:
            self._tunings[key] = tuning
        # These refer to no `self`, which would keep the mapped weights until the circle is found.
        graph, holder, passes = self._graph_of(key), self.holder, self.passes
        optimized = cache(lambda: _behind(graph, holder, passes))
        chosen = None if tuning is None else tuning.chosen

        def make() -> Plan:
            return plan_of(optimized()[0], Choices(chosen))

        plan = KeptPlan(compiled, [spec.name for spec in self.inputs], make)
        self._versions[key] = Version(graph, plan, optimized)
        return True

    def _forget_start(self, key: Shapes | None) -> None:
        """Has the plan that was tuned for the example kept anew."""
        start = self._find_start(key, is_tuned=True)
        if start is not None:
            start.forget()

    def _find_start(self, key: Shapes | None, is_tuned: bool) -> Start | None:
        """Where the plan of the example is kept, which is looked for once."""
        if not self._looks_for_start or key is not None or self.holder is not self.source:
            return None
        self._looks_for_start = False
        self._start = start_of(self.source, self.passes, is_tuned)
        return self._start

    def _write_start(self, version: Version) -> None:
        """Keeps the plan of the example for the next start, once it is made."""
        if self._start is None:
            return
        with self._lock:
            start = self._start
            if start is None or version is not self._versions.get(None):
                return
            self._start, recipe = None, None
            if isinstance(version.plan, Plan):
                recipe = version.plan.take_recipe(start.most_bytes)
            if recipe is not None:
                start.write(recipe, self._tunings.get(None))

    def _optimized(
        self, key: Shapes | None, passes: Sequence[Pass] | None = None
    ) -> tuple[Graph, tuple[Removed, ...]]:
        """A graph with the weights as they are now, behind the passes, and what those removed."""
        return _behind(self._graph_of(key), self.holder, self.passes if passes is None else passes)

    # -- weights --

    @property
    def outputs(self) -> tuple[ValueSpec, ...]:
        """What a call gives, as the graph says it before any shape is known."""
        return self._parsed.graph.outputs

    def outputs_for(self, shapes: Sequence[tuple[int, ...]]) -> tuple[ValueSpec, ...]:
        """The same for inputs of these shapes, with all shapes that follow."""
        graph = self.version(tuple(shapes)).parsed.copy()
        graph.infer({spec.name: shape for spec, shape in zip(self.inputs, shapes, strict=True)})
        return graph.outputs

    def weights(self) -> dict[str, tuple[Weight, bool]]:
        """The weights that the model has now, by name, and whether each is one to be trained.

        Constants that were part of the model's code are none, and neither are numbers that graphs
        depend on, as positions in sequences.
        """
        now, frozen = self.holder.weights() or {}, self.source.frozen()
        found = {}
        for name, value in weights_of(self._parsed.graph).items():
            role = value.metadata_props.get("mx.role")
            tensor = now.get(name, value.const_value)
            if tensor is None:
                continue
            is_number = tensor.dtype.is_floating_point() and tensor.shape.rank()
            found[name] = (tensor, bool(role is None and is_number and name not in frozen))
        return found

    # -- shapes --

    def chosen(self) -> tuple[bool | int, ...]:
        """What `vdims` came to: True for each dimension that varies, the length of each other."""
        if self.choice is None:
            told = self.dimensions().lengths
            return tuple(False if length is None else length for length in told)
        return tuple(True if length is None else length for length in self.choice.lengths)

    def dimensions(self) -> Dimensions:
        """Which dimensions may vary."""
        return self.source.dimensions()

    def check(self, shapes: Shapes) -> None:
        """ValueError for shapes that the model is not optimized for; names the dimension."""
        if self.choice is None:
            assert self.source.example is not None
            wanted = [tuple(array.shape) for array in self.source.example]
            if list(shapes) == wanted:
                return
            templates: Sequence[Sequence[int | str]] = wanted
        else:
            templates = list(self.source.dimensions().inputs.values())
        found: dict[str, int] = {}
        for number, (shape, template) in enumerate(zip(shapes, templates, strict=True)):
            if len(shape) != len(template):
                raise ValueError(
                    f"input {self.inputs[number].name!r}: expected {len(template)} axes,"
                    f" got shape {shape}"
                )
            for axis, (length, extent) in enumerate(zip(shape, template, strict=True)):
                self._check_axis(number, axis, length, extent, found)

    def _check_axis(
        self, number: int, axis: int, length: int, extent: int | str, found: dict[str, int]
    ) -> None:
        if isinstance(extent, str):
            if not extent[1:].isdigit():
                return  # computed from others, which the plan checks
            assert self.choice is not None
            chosen = self.choice.lengths[int(extent[1:])]
            expected = found.setdefault(extent, length) if chosen is None else chosen
        else:
            expected = extent
        if length == expected:
            return
        why = self._why(number, axis, expected if extent in found else None)
        name = self.inputs[number].name
        raise ValueError(f"input {name!r}: axis {axis}: expected {expected}, got {length}: {why}")

    def _why(self, number: int, axis: int, before: int | None) -> str:
        """Why an axis of an input has one length; `before` is one that another axis has told."""
        try:
            dimensions = self.source.dimensions()
        except GraphError as error:
            return f"what may vary cannot be found out: {str(error).splitlines()[0]}"
        # These call an input of a list or of a dictionary what Python does, graphs by a name of C.
        name, template = list(dimensions.inputs.items())[number]
        numbered = template[axis]
        if isinstance(numbered, int):
            return dimensions.reason(name, axis)
        if before is not None and self.choice is not None:
            return f"{numbered} is {before} in an axis before"
        return f"{numbered} may vary, if `vdims` of sol.optimize says so"


def _make_room(kept: dict[Any, Any]) -> None:
    while len(kept) >= _MOST:
        del kept[next(iter(kept))]


def as_array(array: Any) -> Any:
    """An array of any framework as one that plans take, without a copy."""
    if isinstance(array, numpy.generic):  # as TensorFlow gives arrays without axes
        array = numpy.asarray(array)
    # Of NumPy's, those of texts and of types of numbers that NumPy itself lacks have no other way.
    is_special = isinstance(array, numpy.ndarray) and (
        array.dtype.isbuiltin != 1 or array.dtype.kind not in "biufc"
    )
    return array if is_special or isinstance(array, np.ndarray) else np.from_dlpack(array)


def _behind(
    parsed: Graph, holder: Holder, passes: Sequence[Pass]
) -> tuple[Graph, tuple[Removed, ...]]:
    """A copy of a graph with the weights of now, behind passes, and what those removed."""
    graph = parsed.copy()
    for name, tensor in (holder.weights() or {}).items():
        value = graph.model.graph.initializers.get(name)
        if value is not None:
            value.const_value = tensor
    return graph, run(passes, graph)


def _shapes_of(arrays: Sequence[Any]) -> Shapes:
    return tuple(tuple(array.shape) for array in arrays)


def on_host(output: Any) -> Any:
    """An output on the CPU: itself, or a copy of one that is on another device."""
    is_elsewhere = isinstance(output, np.ndarray) and output.ctx.device_type != "cpu"
    return output.as_in_ctx(cpu()) if is_elsewhere else output


def _zeros(spec: ValueSpec, shape: tuple[int, ...]) -> Any:
    return np.zeros(shape, dtype=spec.dtype or "float32")


def _all_known(name: str, shape: Sequence[Any] | None) -> tuple[int, ...]:
    if shape is None or not all(isinstance(extent, int) for extent in shape):
        raise ValueError(f"input {name!r} has dimensions that vary: give sol.optimize an example")
    return tuple(shape)
