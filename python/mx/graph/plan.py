"""A graph, ready to be executed on the CPU."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy
import onnx_ir

from .. import numpy as np
from . import _told
from ._explanation import Explanation, row_of
from ._graph import Graph, check_graph
from ._latest import Latest
from ._spec import spec_of
from .lowering import BACKENDS, Chooser
from .lowering._lowering import ARRAY_DTYPES
from .lowering._program import Program
from .lowering._segment import Step
from .lowering.recipes import Recipe
from .passes import CPU_PASSES
from .profile import Profile, Recorder

# What compiled plans take.
_ARRAYS = (np.ndarray, numpy.ndarray)
# Types of NumPy's arrays that arrays of mx have, too; not all of them.
_PLAIN = frozenset(map(numpy.dtype, "?bBhHiIqQefd"))
# Shapes of inputs for which it is known at once what executes them.
_MOST_READY = 32
# Elements of weights that are worth a look for a graph that nobody has any more.
_MANY = 1 << 23


class Plan:
    """Executes a graph on the CPU: kernels in a fixed order, in memory that is planned before.

    What depends on the shapes of the inputs is done when the first inputs of those shapes come,
    and kept. Several threads may execute one plan at once.

    A batch whose items do not depend on one another is cut into slices, if it is large enough, each
    of which goes through all nodes on one thread; steps have the shapes of one slice then.
    """

    def __init__(
        self,
        graph: Graph,
        optimize: bool = True,
        keep_nan: bool = False,
        chooser: Chooser | None = None,
        stores: Mapping[str, str] | None = None,
        any_layout: Sequence[str] = (),
        layouts: Mapping[str, Any] | None = None,
    ) -> None:
        """Plans a copy of the graph, which passes make smaller unless `optimize` is false.

        The fastest kernels of Relu, Clip, MaxPool, Softmax and a few others make a number of a
        NaN; with `keep_nan` others are taken. `chooser` says which backends are asked for which
        nodes, by default all in a fixed order.

        `stores` has names of outputs with those of inputs of the same shape and type: a run does
        not return these outputs, but writes them to the arrays that it is given for the inputs.

        The outputs `any_layout` need not be row-major: they may have their elements in the order of
        the kernels that give them, which `output_layouts` tells. Plans of other graphs take such
        arrays for inputs that have the same in `layouts`; those have to be single compiled plans.
        """
        check_graph("Plan", graph)
        # A graph whose model nobody was given has no weights when it is gone.
        has_own = graph.unread() is not None
        origin, graph = weakref.ref(graph), graph.copy()
        for one in CPU_PASSES if optimize else ():
            one.run(graph.model)
        self._program = Program(
            graph.model.graph,
            dict(graph.model.opset_imports),
            chooser or Chooser(BACKENDS),
            keep_nan=keep_nan,
            stores=_stores(graph, stores or {}),
            any_layout=frozenset(_named(graph.model.graph.outputs, any_layout, "any_layout")),
            layouts=_named(graph.model.graph.inputs, layouts or {}, "layouts"),
        )
        for value in graph.model.graph.initializers.values():
            value.const_value = None  # which the program has, as long as it needs it
        self._set_inputs(self._program.inputs)
        held = sum(math.prod(weight.shape) for weight in self._program.weights.values())
        # The graph that this one is a copy of, until it is known whether somebody still has it.
        self._origin = origin if held > _MANY and not has_own else None
        self._lock = Lock()  # of what is ready

    def _set_inputs(self, inputs: Sequence[onnx_ir.Value]) -> None:
        """What all plans have: the values that a run is given."""
        self._inputs = inputs
        self._names = [value.name or "" for value in inputs]
        # What executes the graph for inputs of a shape and type, or gives None for other arrays;
        # None where that is several plans.
        self._ready: dict[Any, Any] = {}
        self._quick = Latest(tuple(self._names), *_ARRAYS, _PLAIN)

    def __call__(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The outputs in order, for inputs by position or by name.

        Inputs are arrays of mx or NumPy, or what `mx.np.asarray` takes; of a sequence a list of
        arrays, of an optional None. Outputs are arrays of mx, of types that those do not have
        NumPy's. TypeError where an input is missing, or of another element type than the graph
        says; ValueError where its shape is none of the graph's.
        """
        if not kwargs and len(args) == len(self._names):
            outputs = self._quick.in_order(args)
            if outputs is None:
                outputs = self._run_ready(_key_of(args), args)
            if outputs is not None:
                return outputs
        if len(args) > len(self._inputs):
            raise TypeError(f"the graph has {len(self._inputs)} inputs, got {len(args)}")
        given = dict(zip(self._names, args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise TypeError(f"input {name!r} is given by position and by name")
            given[name] = value
        return self.run(given)

    def run(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The outputs in order, for inputs by their names; as a call."""
        outputs = self._quick.by_name(inputs)
        if outputs is not None:
            return outputs
        names = self._names
        key = None
        if type(inputs) is not dict:
            _check_mapping(inputs)
        if len(inputs) == len(names) and all(name in inputs for name in names):
            arrays = [inputs[name] for name in names]
            key = _key_of(arrays)
            outputs = self._run_ready(key, arrays)
            if outputs is not None:
                return outputs
        return self._run_checked(inputs, key)

    def _run_checked(self, inputs: Mapping[str, Any], key: Any) -> list[Any]:
        """What `run` does where nothing is ready for the inputs; `key` is what it would be under,
        None where that is not known."""
        given = self._check(inputs)
        origin, self._origin = self._origin, None
        if origin is not None and origin() is None:
            gc.collect()  # of its nodes and values, which refer to one another and to weights
        try:
            outputs = own_arrays(self._program.run(given), given)
        except MemoryError as error:
            name = self._program.graph.name
            raise MemoryError(
                f"the graph {name!r} takes more memory than there is: {error}"
            ) from error
        if key is not None and all(one[0] in _ARRAYS for one in key) and key not in self._ready:
            compiled = self._program.single_plan(given)
            with self._lock:
                while len(self._ready) >= _MOST_READY:
                    del self._ready[next(iter(self._ready))]
                self._ready[key] = None if compiled is None else compiled.try_run
        return outputs

    def _run_ready(self, key: Any, arrays: Sequence[Any]) -> list[Any] | None:
        """The outputs for inputs of shapes and types that came before; None for others."""
        try:
            run = self._ready.get(key)
        except TypeError:  # no shape or type that could have come before
            return None
        if run is None:
            return None
        self._quick.run = run
        outputs = run(arrays)
        return None if outputs is None else list(outputs)

    def profile(self, inputs: Mapping[str, Any]) -> Profile:
        """Executes the graph as `run` does, and tells how long each step took."""
        self.run(inputs)  # so that nothing is planned while time is taken
        given = self._check(inputs)
        recorder = Recorder()
        outputs = self._program.run(given, record=recorder)
        return Profile(tuple(recorder.steps), tuple(own_arrays(outputs, given)))

    def compiled(self, inputs: Mapping[str, Any]) -> Any | None:
        """The one compiled plan that gives all outputs for such inputs, which it plans for if need
        be; None where there are several, or Python between them.

        It has `run`, which takes a list of arrays, `steps` and `arena_bytes`. TypeError and
        ValueError as of a call.
        """
        arrays = [_as_array(array) for array in self._check(inputs)]
        return self._program.single_plan(arrays)

    def take_recipe(self, most_bytes: int) -> Recipe | None:
        """What its one compiled plan was made of, the first time that it is asked for; None where
        there are several, its weights take more bytes, its chooser had it not recorded, or it
        cannot be kept."""
        return self._program.take_recipe(most_bytes)

    def weight_bytes(self, compiled: Any) -> int:
        """The bytes of weights that one of its compiled plans reads, as they are or packed, and of
        those that are kept beside them."""
        beside = sum(one.bytes_beside for one in self._program.weights.values())
        return int(compiled.constant_bytes) + beside

    def may_be_sliced(self, inputs: Mapping[str, Any]) -> bool:
        """Whether a plan of the graph may cut a batch of such inputs into slices."""
        return self._program.may_be_sliced([_as_array(array) for array in self._check(inputs)])

    def output_layouts(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The layouts of outputs that are not row-major for such inputs, by name; see __init__."""
        arrays = [_as_array(array) for array in self._check(inputs)]
        return self._program.output_layouts(arrays)

    def _check(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The inputs in order, if they are those of the graph."""
        names = self._names
        _check_mapping(inputs)
        unknown = [name for name in inputs if name not in names]
        if unknown:
            raise TypeError(f"the graph has no input {unknown[0]!r}; its inputs: {names}")
        symbols: dict[str, int] = {}
        return [_checked(value, inputs, symbols) for value in self._inputs]

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs that a run has to be given."""
        return list(self._names)

    def steps(self) -> list[Step]:
        """Where each node was executed, in the plans made so far."""
        return [step for segment in self._program.segments() for step in segment.steps]

    def summary(self) -> str:
        """How many nodes are executed by which backend; the operators of those by reference."""
        steps = self.steps()
        return f"cpu: {_told.backends_of(steps)}{_told.in_python(steps)}"

    def explain(self) -> Explanation:
        """Which backend executes each node, and why those before it do not.

        Of the shapes that came last, in the plans made so far: there is none before the first run.
        A backend is a source of kernels; "body" means those of what the operator is short for,
        "constant" that nothing is left to compute, "reference" and "alone" that Python executes it.
        Nodes are those that the passes have left.
        """
        steps = {step.node: step for step in self.steps()}.values()
        return Explanation(
            (row_of(step.node, step.backend, step.why) for step in steps),
            self.summary(),
            ("node", "operator", "backend", "why none before it"),
        )


def _stores(graph: Graph, stores: Mapping[str, str]) -> dict[onnx_ir.Value, onnx_ir.Value]:
    """Outputs with the inputs that they are written to. ValueError where they do not fit."""
    inner = graph.model.graph
    outputs = {value.name: value for value in inner.outputs}
    inputs = {value.name: value for value in inner.inputs if not value.is_initializer()}
    for output, name in stores.items():
        if output not in outputs or name not in inputs:
            raise ValueError(f"Plan: stores: the graph has no output {output!r} or input {name!r}")
        told = spec_of(outputs[output]), spec_of(inputs[name])
        if (told[0].dtype, told[0].shape) != (told[1].dtype, told[1].shape):
            raise ValueError(f"Plan: stores: expected the type of {told[1]}, got {told[0]}")
    if len(set(stores.values())) < len(stores):
        raise ValueError("Plan: stores: two outputs are written to one input")
    return {outputs[output]: inputs[name] for output, name in stores.items()}


def _named(
    values: Sequence[onnx_ir.Value], names: Iterable[str], argument: str
) -> dict[onnx_ir.Value, Any]:
    """Values by their names, with what `names` maps these to. ValueError for a name of none."""
    by_name = {value.name: value for value in values}
    for name in names:
        if name not in by_name:
            raise ValueError(f"Plan: {argument}: the graph has no such value as {name!r}")
    get = names.get if isinstance(names, Mapping) else lambda name: None
    return {by_name[name]: get(name) for name in names}


def _key_of(arrays: Sequence[Any]) -> Any | None:
    """What is known of arrays without a look at them; None where one is no array."""
    try:
        return tuple([(type(array), array.shape, array.dtype) for array in arrays])
    except AttributeError:
        return None


def _check_mapping(inputs: object) -> None:
    if not isinstance(inputs, Mapping):
        kind = type(inputs).__name__
        raise TypeError(f"inputs: expected a mapping of names to arrays, got {kind}")


def own_arrays(outputs: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """Outputs as a plan returns them: arrays of mx where these have the type, none the caller's."""
    given_ids = set(map(id, given))
    return [
        _as_array(output.copy() if _is_array(output) and id(output) in given_ids else output)
        for output in outputs
    ]


def _is_array(output: Any) -> bool:
    return isinstance(output, (np.ndarray, numpy.ndarray))


def _checked(value: onnx_ir.Value, inputs: Mapping[str, Any], symbols: dict[str, int]) -> Any:
    """An input as the program takes it."""
    name = value.name or ""
    if name not in inputs:
        raise TypeError(f"input {name!r} is missing")
    content = inputs[name]
    if content is None and isinstance(value.type, onnx_ir.TensorType):
        raise TypeError(f"input {name!r} is missing: it is None")
    if content is None or not isinstance(value.type, (onnx_ir.TensorType, type(None))):
        return [numpy.asarray(item) for item in content] if isinstance(content, list) else content
    if not isinstance(content, (np.ndarray, numpy.ndarray, numpy.generic)):
        content = numpy.asarray(content)
    if value.dtype is not None:
        expected = value.dtype.numpy()
        if expected.kind == "O" and content.dtype.kind in "UT":
            content = content.astype(object)
        if content.dtype != expected:
            raise TypeError(f"input {name!r}: expected {expected}, got {content.dtype}")
    if value.shape is not None:
        _check_shape(name, tuple(content.shape), value.shape, symbols)
    return content


def _check_shape(
    name: str, came: tuple[int, ...], expected: onnx_ir.Shape, symbols: dict[str, int]
) -> None:
    def text() -> str:
        return "(" + ", ".join(str(extent) for extent in expected) + ")"

    if len(came) != len(expected):
        raise ValueError(f"input {name!r}: expected shape {text()}, got {came}")
    for extent, dimension in zip(came, expected, strict=True):
        symbol = None if isinstance(dimension, int) else dimension.value
        wanted = dimension if isinstance(dimension, int) else None
        if symbol is not None:
            wanted = symbols.setdefault(symbol, extent)
        if wanted is not None and wanted != extent:
            also = f", where {symbol} is {wanted}" if symbol else ""
            raise ValueError(f"input {name!r}: expected shape {text()}{also}, got {came}")


def _as_array(output: Any) -> Any:
    if isinstance(output, (numpy.ndarray, numpy.generic)) and str(output.dtype) in ARRAY_DTYPES:
        return np.asarray(output)
    return output
