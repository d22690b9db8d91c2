"""Functions of which TensorFlow executes a part: the operations that cannot be read."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow import nest
from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction
from tensorflow.python.ops.resource_variable_ops import variable_accessed

from ....importers.tensorflow._call import rule
from ....importers.tensorflow._origin import describe, has_own_gradient
from ....importers.tensorflow._trace import is_array
from ..._compiled import Compiled
from ..._errors import SolWarning
from .._cut import Kept, Step, failing, grouped, reason_of, tell
from ._module import OptimizedModule
from ._noting import REASONS
from ._source import TensorFlowSource

# A part is worth a call of a plan if it has one of these; TensorFlow executes all else as well.
_PRODUCTS = frozenset(
    (
        *("MatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "While", "StatelessWhile"),
        *("Conv2D", "Conv3D", "DepthwiseConv2dNative", "Conv2DBackpropInput"),
        *("PartitionedCall", "StatefulPartitionedCall"),
    )
)
# What each part has of its own, as it takes no time: weights and numbers.
_COPIED = ("Const", "ReadVariableOp")
_LEFT_OUT = ("Placeholder", "NoOp", "Assert")
# What reads variables, and nothing but that.
_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape")
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_GRADIENT = "_gradient_op_type"


def in_parts(
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    planned: Callable[..., Compiled],
    error: Exception,
) -> Any:
    """A function of which plans execute what they can between the operations that cannot be read,
    and TensorFlow those; the function itself where plans have nothing to do.

    A SolWarning says which parts, and why not all.
    """
    name = str(getattr(function, "__name__", "tensorflow"))
    try:
        parted = PartedFunction(_Cuts(function, planned, name), args, kwargs)
        names = [f"{n} ({one.count} operations)" for n, one in parted.example.planned()]
        reasons = parted.example.reasons
    except REASONS as other:
        names, reasons = [], [reason_of(error), reason_of(other)]
    tell(name, "TensorFlow", names, reasons or [reason_of(error)], stacklevel=4, kind="parts")
    return parted if names else function


class PartedFunction(tf.Module):  # type: ignore[misc]
    """A function in parts, called as the original.

    It takes arguments of any shapes: as TensorFlow does itself, it is traced for each anew.
    """

    def __init__(self, cuts: _Cuts, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        super().__init__()
        self._cuts, self.example = cuts, cuts.of(args, kwargs)
        # What tf.Module finds variables by.
        self.weights = list(self.example.variables)
        self._sol_parts = lambda: [(name, one.run._sol) for name, one in self.example.planned()]

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns."""
        arrays = [one for one in nest.flatten((args, kwargs)) if is_array(one)]
        if all(tf.TensorShape(one.shape).is_fully_defined() for one in arrays):
            return self._cuts.of(args, kwargs)(arrays)
        return self._cuts.whole(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<{self._cuts.name}, optimized in parts>"


class _Cuts:
    """A function in parts for each kind of arguments that it has been called with."""

    def __init__(self, function: Any, planned: Callable[..., Compiled], name: str) -> None:
        self.name = name
        self._function, self._planned = function, planned
        self._found: Kept[_Cut] = Kept()
        self._is_told = False

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> _Cut:
        """The function in parts for arguments of these shapes and types."""
        given = (tuple(args), dict(kwargs))
        specs = [_spec(one) if is_array(one) else repr(one) for one in nest.flatten(given)]
        key = str(nest.map_structure(lambda one: 0, given)), *specs
        found = self._found.get(key)
        if found is None:
            with tf.init_scope():
                found = _Cut(self._function, given, self._planned, self.name)
            self._found.add(key, found)
        return found

    def whole(self, *args: Any, **kwargs: Any) -> Any:
        """What TensorFlow gives where shapes are not known, which a SolWarning says once."""
        if not self._is_told:
            self._is_told = True
            why = "parts are made for arguments whose shapes are known"
            text = f"{self.name} is executed by TensorFlow: {why}"
            warnings.warn(text, SolWarning, stacklevel=3)
        return self._function(*args, **kwargs)


class _Cut:
    """A function in parts, for arguments of some shapes and types."""

    def __init__(
        self, function: Any, given: Any, planned: Callable[..., Compiled], name: str
    ) -> None:
        self._plan, self._name = planned, name
        self._outputs: Any = None
        self._traced = _traced(function, given, self._note)
        self._graph = self._traced.graph
        self.variables = self._graph.variables
        effect = next(_effects(self._graph), None)
        if effect is not None:
            raise NotImplementedError(f"{describe(effect)}: it has effects")
        definition = self._graph.as_graph_def()
        self._versions, self._library = definition.versions, definition.library
        self._nodes = {node.name: node for node in definition.node}
        self._captured = {inner.name: outer for outer, inner in self._graph.captures}
        operations = self._graph.get_operations()
        self._items = [one for one in operations if one.type not in (*_COPIED, *_LEFT_OUT)]
        self.reasons: list[str] = []
        self._steps = self._cut()

    def _note(self, outputs: Any) -> None:
        self._outputs = outputs

    def planned(self) -> list[tuple[str, Step]]:
        """What plans execute, by number."""
        steps = [one for one in self._steps if isinstance(one.run, OptimizedModule)]
        return [(str(number), one) for number, one in enumerate(steps)]

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """What the function returns for the arrays among its arguments."""
        inputs = self._graph.inputs[: len(arrays)]
        values = {
            tensor.ref(): tf.convert_to_tensor(one, tensor.dtype)
            for tensor, one in zip(inputs, arrays, strict=True)
        }
        for step in self._steps:
            made = step.run(*[values[one.ref()] for one in step.taken])
            values.update(zip([one.ref() for one in step.given], made, strict=True))
        results = iter([values[one.ref()] for one in self._graph.outputs])
        leaves = nest.flatten(self._outputs)
        return nest.pack_sequence_as(
            self._outputs, [next(results) if is_array(one) else one for one in leaves]
        )

    # -- cutting --

    def _cut(self) -> list[Step]:
        items = self._items
        numbers = {op.name: n for n, op in enumerate(items)}
        without = {op.type for op in items if rule.get(op.type) is None}

        def attempt(first: int, stop: int) -> str:
            some = items[first:stop]
            for op in some:
                if op.type in without:
                    return f"{describe(op)}: there is no rule for the operator"
                if _GRADIENT in op.node_def.attr and has_own_gradient(op):
                    return f"{describe(op)}: it has a gradient of its own"
            found = self._optimized(some)
            if not isinstance(found, str):
                return ""
            return f"{describe(some[0])}: {found}" if len(some) == 1 else found

        def blamed(why: str) -> int | None:
            """The number of the operation that a reason names."""
            named = re.search(r"\(node '(?:part/)?([^']*)'", why)
            return numbers.get(named.group(1)) if named else None

        why = attempt(0, len(items))
        bad = failing(len(items), why or "all are together", attempt, blamed) if why else {}
        self.reasons += list(bad.values())
        reads = [[one.ref() for one in op.inputs] for op in items]
        writes = [[one.ref() for one in op.outputs] for op in items]
        steps: list[Step] = []
        waiting: list[int] = []
        for is_apart, group in grouped(reads, writes, bad):
            some = [items[n] for n in group]
            found: Step | str = ""
            if not is_apart and any(op.type in _PRODUCTS for op in some):
                found = self._optimized(some)
            if isinstance(found, str):
                self.reasons += [found] if found else []
                waiting += group
                continue
            steps += self._in_tensorflow(waiting)
            waiting = []
            steps.append(found)
        return steps + self._in_tensorflow(waiting)

    def _in_tensorflow(self, numbers: Sequence[int]) -> list[Step]:
        """Operations as steps that are functions of TensorFlow. A call of a function is one, as
        the function has a gradient, and its definition in a graph has none."""
        steps: list[Step] = []
        some = [self._items[n] for n in sorted(numbers)]
        for is_call, group in itertools.groupby(some, lambda op: op.type in _CALLS):
            for every in [[one] for one in group] if is_call else [list(group)]:
                section = _Section(self, every, is_read=False)
                run = self._called(every[0]) if is_call else tf.function(section, autograph=False)
                steps.append(Step(run, section.taken, section.given, len(every)))
        return steps

    def _called(self, op: Any) -> Callable[..., Any]:
        """What gives what others read of a call of a function, of what it takes of others."""
        section = _Section(self, [op], is_read=False)
        inner = self._graph._get_function(op.get_attr("f").name)
        function = ConcreteFunction.from_func_graph(inner.graph, inner.function_type, {})
        numbers = [one.value_index for one in section.given]

        def run(*values: Any) -> list[Any]:
            every = section.values(values)
            taken = [every[x.name] if x.name in every else _constant(x.op) for x in op.inputs]
            made = function._call_flat(taken, [])
            found = [one for one in nest.flatten(made, expand_composites=True) if one is not None]
            return [found[n] for n in numbers]

        call: Callable[..., Any] = tf.function(run, autograph=False)
        return call

    def _optimized(self, some: Sequence[Any]) -> Step | str:
        """Operations as a step of a plan, or why they cannot be one."""
        section = _Section(self, some, is_read=True)
        if not section.taken or not section.given:
            return "it takes or gives nothing"
        for one in (*section.taken, *section.given):
            if not one.shape.is_fully_defined() or not _is_number(one.dtype):
                return (
                    f"{describe(one.op)}: what it gives has no shape that is known, or no numbers"
                )
        section.__name__ = self._name
        example = [tf.zeros(one.shape, one.dtype) for one in section.taken]
        try:
            source = TensorFlowSource(section, example, {}, is_part=True)
            run = OptimizedModule(self._plan(source, False), section)
        except REASONS as error:
            return reason_of(error)
        return Step(run, section.taken, section.given, len(some))

    def others(self, inside: Iterable[Any]) -> set[Any]:
        """The tensors that are read by operations that are not among these, or are results."""
        names = {op.name for op in inside}
        found = {one.ref() for one in self._graph.outputs}
        for op in self._items:
            if op.name not in names:
                found.update(one.ref() for one in op.inputs)
        return found

    def part(self, some: Sequence[Any], is_read: bool) -> tuple[Any, list[str]]:
        """The definition of a graph of operations and of the constants that they read, and the
        names of what these read of variables and of what was captured.

        Where the importer reads it, the gradients are left out that TensorFlow and Keras define for
        functions of their own: these are those of the formula, whose origin it cannot see.
        """
        found = tf.compat.v1.GraphDef(versions=self._versions)
        if not is_read:
            found.library.CopyFrom(self._library)
        captured: dict[str, None] = {}
        waiting, done = [*some], set[str]()
        while waiting:
            op = waiting.pop()
            if op.name in done:
                continue
            done.add(op.name)
            for tensor in op.inputs:
                if tensor.op.type == "Const":
                    waiting.append(tensor.op)
                elif tensor.op.type == "ReadVariableOp" or tensor.name in self._captured:
                    captured[tensor.name] = None
            node = found.node.add()
            node.CopyFrom(self._nodes[op.name])
            kept = [one for one in node.input if not one.startswith("^")]
            del node.input[:]
            node.input.extend(kept)
            if is_read and _GRADIENT in node.attr and not has_own_gradient(op):
                del node.attr[_GRADIENT]
        return found, list(captured)

    def add_functions(self, graph: Any) -> None:
        """Gives another graph the functions that operations call, with their own graphs."""
        for function in self._graph._functions.values():
            graph._add_function_recursive(function)

    def value_of(self, name: str, graph: Any) -> Any:
        """What was captured, or the elements of a variable that was, in another graph."""
        outer = self._captured.get(name)
        if outer is None:
            handle = self._graph.get_tensor_by_name(name).op.inputs[0]
            return self._variable_of(self._captured[handle.name]).read_value()
        if outer.dtype == tf.resource:
            variable_accessed(self._variable_of(outer))
        return graph.capture(outer)

    def _variable_of(self, handle: Any) -> Any:
        return next(one for one in self.variables if one.handle is handle)


class _Section:
    """Operations as a function of what they read of others, which gives what others read."""

    def __init__(self, cut: _Cut, some: Sequence[Any], is_read: bool) -> None:
        self.__name__ = "part"
        self._cut, self._is_read = cut, is_read
        self._definition, self._captured = cut.part(some, is_read)
        written = {one.ref(): one for op in some for one in op.outputs}
        read = {one.ref(): one for op in some for one in op.inputs}
        others, own = cut.others(some), {*self._captured}
        self.taken = [
            one
            for key, one in read.items()
            if key not in written and one.op.type != "Const" and one.name not in own
        ]
        self.given = [one for key, one in written.items() if key in others]

    def __call__(self, *values: Any) -> list[Any]:
        """The results, in a graph that somebody traces."""
        if self._is_read:
            self._cut.add_functions(tf.compat.v1.get_default_graph())
        found: list[Any] = tf.graph_util.import_graph_def(
            self._definition,
            input_map=self.values(values),
            return_elements=[one.name for one in self.given],
            name="part",
        )
        return found

    def values(self, values: Sequence[Any]) -> dict[str, Any]:
        """What the operations read, by the names that tensors have in the graph of all."""
        graph = tf.compat.v1.get_default_graph()
        every = {one.name: value for one, value in zip(self.taken, values, strict=True)}
        return every | {name: self._cut.value_of(name, graph) for name in self._captured}


def _traced(function: Any, given: Any, note: Callable[[Any], None]) -> Any:
    """The graph of a function of the arrays alone, and not one of a call of it."""
    leaves = nest.flatten(given)
    positions = [n for n, one in enumerate(leaves) if is_array(one)]
    call = getattr(function, "python_function", function)

    def flat(*tensors: Any) -> list[Any]:
        for n, tensor in zip(positions, tensors, strict=True):
            leaves[n] = tensor
        args, kwargs = nest.pack_sequence_as(given, leaves)
        outputs = call(*args, **kwargs)
        note(outputs)
        return [tf.identity(one) for one in nest.flatten(outputs) if is_array(one)]

    specs = [tf.TensorSpec(*_spec(leaves[n])) for n in positions]
    return tf.function(flat).get_concrete_function(*specs)


def _constant(op: Any) -> Any:
    return tf.constant(tf.make_ndarray(op.get_attr("value")))


def _spec(array: Any) -> tuple[tuple[int, ...], Any]:
    shape = tuple(tf.TensorShape(array.shape).as_list())
    return shape, tf.as_dtype(getattr(array.dtype, "name", array.dtype))


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)


def _effects(graph: Any) -> Iterator[Any]:
    """The operations that do more than give something, also in functions."""
    for op in graph.get_operations():
        inner = [
            name
            for one in op.node_def.attr.values()
            for name in (one.func.name, *(each.name for each in one.list.func))
            if name
        ]
        if inner:
            graphs = [getattr(graph._get_function(name), "graph", None) for name in inner]
            if any(one is None or any(_effects(one)) for one in graphs):
                yield op
        elif op.op_def.is_stateful and op.type not in (*_READS, *_LEFT_OUT):
            yield op
