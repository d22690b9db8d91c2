"""The plan that is being made: kernels, views and constants are added to it by rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Sequence
from typing import Any, Protocol

import numpy

import ffi

from ... import numpy as np
from ...op import Parameters, TensorSpec
from ._constant import Constant
from ._value import Followers, NeedsElements, Value
from .recipes import RecordingBuilder

_operator_kernel = ffi.get_global_func("mx.graph.operator_kernel")
_view_layouts = ffi.get_global_func("mx.graph.view_layouts")
_function_kernel = ffi.get_global_func("mx.graph.function_kernel")
_PlanBuilder: Any = ffi.get_class("mx.graph.PlanBuilder")

# What arrays of mx may be of; values of other types stay in NumPy, and never get into plans.
ARRAY_DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128".split()
)


class Finisher(Protocol):
    """What a backend has to do when all steps of a plan are there, before it is built."""

    def finish(self) -> None:
        """BackendFailed where its kernels cannot be made after all."""


class Lowering:
    """Collects the steps of one plan. Rules get it first, as `to`."""

    def __init__(self, keep_nan: bool = False, records: bool = False) -> None:
        """`records` says whether to remember of what the plan is made."""
        self.keep_nan = keep_nan  # whether kernels that make numbers of NaN are declined
        # Which writes down of what the plan is made; None where nobody asks.
        self.recording = RecordingBuilder() if records else None
        self._builder: Any = self.recording or _PlanBuilder()
        self._plain: dict[Value, Value] = {}
        self.node_name = ""  # of the node that is being lowered
        self.num_outputs = 1  # of that node
        # "bfloat16" where its kernel may round what it multiplies to that, "" where it may not.
        self.precision = ""
        # Nodes behind the one that is being lowered, which its rule may compute at once: the first
        # of them, as many as it sets `taken` to.
        self.followers = Followers()
        self.taken = 0
        self.reordered: dict[Any, Value] = {}  # what backends have brought to other layouts
        self.finishers: dict[Any, Finisher] = {}  # by backend

    def input(self, shape: Sequence[int], dtype: str, layout: Any = None) -> Value:
        """A value that each run of the plan is given. No layout makes it larger."""
        number = self._builder.add_input(tuple(shape), dtype)
        return Value(tuple(shape), dtype, number, layout=layout)

    def constant(self, elements: Any) -> Value:
        """A value whose elements are known."""
        known = elements if isinstance(elements, Constant) else Constant(numpy.asarray(elements))
        return Value(known.shape, known.dtype, known=known)

    def like(self, value: Value | None) -> Value | None:
        """A value of the same spec, or of the same elements where they are known."""
        if value is None:
            return None
        if value.known is not None:
            return self.constant(value.known)
        return self.input(value.shape, value.dtype)

    def elements(self, value: Value) -> numpy.ndarray[Any, Any]:
        """The elements of a value. NeedsElements where they are not known yet."""
        if value.known is None:
            raise NeedsElements(value)
        return value.known.elements

    def ints(self, value: Value) -> list[int]:
        """The elements of a value of integers, as a list."""
        return [int(item) for item in self.elements(value).reshape(-1)]

    def call(self, operator: Any, /, *args: Any, **kwargs: Any) -> Any:
        """What an operator of mx gives: a Value, or a list of them where it has several outputs.

        Where it gives views they are views of the same memory.
        """
        given = [_changed(argument, self.plain) for argument in _bind(operator, args, kwargs)]
        values = [value for value in _flat(given) if isinstance(value, Value)]
        if values and all(value.known is not None for value in values):
            return self._computed(operator, args, kwargs)
        specs = [_changed(argument, _spec) for argument in given]
        if given and isinstance(given[0], Value):
            strides = self._builder.strides(self.number(given[0]))
            layouts = _view_layouts(operator, strides, *specs)
            if layouts:
                return _one_or_all([self._view(given[0], *layout) for layout in layouts])
        outputs = self.step(self.kernel(_operator_kernel, operator, *specs), values)
        return _one_or_all(outputs)

    def _computed(self, operator: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """What an operator gives for constants."""
        results = operator(
            *(_changed(argument, _array) for argument in args),
            **{name: _changed(argument, _array) for name, argument in kwargs.items()},
        )
        many = results if isinstance(results, (list, tuple)) else [results]
        return _one_or_all([self.constant(numpy.asarray(result)) for result in many])

    def function(
        self,
        name: str,
        function: Callable[..., Any],
        inputs: Sequence[Value | None],
        outputs: Sequence[tuple[Sequence[int], str]],
    ) -> list[Value]:
        """A step that calls a Python function with arrays; it returns as many as outputs has."""
        shapes = [tuple(shape) for shape, _ in outputs]
        kernel = _function_kernel(
            name, ffi.convert(function), shapes, [dtype for _, dtype in outputs]
        )
        return self.step(kernel, [None if value is None else self.plain(value) for value in inputs])

    def kernel(self, maker: Any, *args: Any) -> Any:
        """The kernel that a function of mx makes of these arguments."""
        made = maker(*args)
        if self.recording is not None:
            self.recording.note(made, maker, args)
        return made

    def step(
        self, kernel: Any, inputs: Sequence[Value | None], layouts: Sequence[Any] = ()
    ) -> list[Value]:
        """Adds a kernel. `layouts` are those of its outputs where they are blocked."""
        numbers = [-1 if value is None else self.number(value) for value in inputs]
        first = self._builder.add_step(kernel, numbers, self.node_name)
        return [
            Value(
                tuple(shape),
                _name_of(dtype),
                first + index,
                layout=layouts[index] if index < len(layouts) else None,
            )
            for index, (shape, dtype) in enumerate(zip(kernel.shapes, kernel.dtypes, strict=True))
        ]

    def plain(self, value: Value) -> Value:
        """The value without a blocked layout: itself, or a copy that is made once."""
        if value.layout is None:
            return value
        if value not in self._plain:
            self._plain[value] = value.layout.to_rows(self, value)
        return self._plain[value]

    def number(self, value: Value) -> int:
        """The number of a value in the plan, of which it becomes a constant if need be."""
        if value.number is None:
            assert value.known is not None
            value.number = self._builder.add_constant(value.known.array)
        return value.number

    def is_row_major(self, value: Value) -> bool:
        """Whether its elements are in row-major order without gaps."""
        if value.layout is not None:
            return False
        expected = 1
        strides = self._builder.strides(self.number(value))
        for extent, stride in zip(reversed(value.shape), reversed(strides), strict=True):
            if extent != 1 and stride != expected:
                return value.size == 0
            expected *= extent
        return True

    def strides(self, value: Value) -> list[int]:
        """Strides in elements, of a value without a blocked layout."""
        return list(self._builder.strides(self.number(value)))

    def has_its_size(self, value: Value) -> bool:
        """Whether it takes as much memory as a row-major array: no layout adds elements."""
        dense = value.size * _item_size(value.dtype)
        return value.layout is None or bool(value.layout.bytes == dense)

    def row_major(self, value: Value) -> Value:
        """The value, or a copy of it that is row-major."""
        value = self.plain(value)
        if self.is_row_major(value):
            return value
        copying = _bind(np.copy, [_spec(value)], {})
        (copy,) = self.step(self.kernel(_operator_kernel, np.copy, *copying), [value])
        return copy

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        """The same elements in another shape, which is known."""
        made: Value = self.call(np.reshape, value, tuple(shape))
        return made

    def seen(self, value: Value, shape: Sequence[int]) -> Value:
        """The memory of a value, which has no gaps, as a row-major array, whatever its layout."""
        strides = [int(numpy.prod(shape[axis + 1 :])) for axis in range(len(shape))]
        return self._view(value, shape, strides, 0)

    def strided_input(self, shape: Sequence[int], dtype: str, strides: Sequence[int]) -> Value:
        """A view of these strides, in elements, of a row of elements that runs are given."""
        count = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        return self._view(self.input((count,), dtype), shape, strides, 0)

    def slices(self, value: Value, index: Sequence[slice]) -> Value:
        """A view of every so many elements along each axis, as Python's slices choose them."""
        if value.known is not None:
            return self.constant(value.known.elements[tuple(index)])
        value = self.plain(value)
        shape, strides, offset = [], [], 0
        own = self._builder.strides(self.number(value))
        for part, extent, stride in zip(index, value.shape, own, strict=True):
            taken = range(*part.indices(extent))
            shape.append(len(taken))
            strides.append(stride * taken.step)
            offset += stride * taken.start if len(taken) else 0
        return self._view(value, shape, strides, offset * _item_size(value.dtype))

    def build(
        self,
        outputs: Sequence[Value],
        stores: Sequence[tuple[Value, int]] = (),
        as_they_are: Container[Value] = (),
        slices: int = 1,
    ) -> Any:
        """The plan that gives these values; nothing can be added afterwards.

        It does all for so many slices of its inputs and outputs along their first axis, of which
        the values of the plan are one.

        `stores` are values that a run writes to the memory of inputs, with the numbers of those.
        Outputs are row-major, but for those `as_they_are`, which keep their layouts.
        BackendFailed where a backend cannot make its kernels after all.
        """
        for finisher in self.finishers.values():
            finisher.finish()
        given = [
            self.number(value if value in as_they_are else self.plain(value)) for value in outputs
        ]
        if slices != 1:
            return self._builder.build_sliced(given, slices)
        if not stores:
            return self._builder.build(given)
        pairs = [(self.number(self.plain(value)), index) for value, index in stores]
        return self._builder.build_storing(given, pairs)

    def _view(
        self, of: Value, shape: Sequence[int], strides: Sequence[int], byte_offset: int
    ) -> Value:
        number = self._builder.add_view(self.number(of), shape, strides, byte_offset)
        made = Value(tuple(shape), of.dtype, number)
        if not self.is_row_major(made):
            made.strides = tuple(strides)
        return made


def row_major_plan(shape: Sequence[int], dtype: str, layout: Any) -> Any:
    """A compiled plan that gives the row-major array of one in another layout."""
    to = Lowering()
    return to.build([to.input(shape, dtype, layout)])


# NumPy takes longer to name a type than all else of a step takes.
_name_of = functools.cache(str)
# Planning asks for the same operators again and again.
_parameters = functools.cache(Parameters.of)


def _bind(operator: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """All arguments of an operator's body, in order."""
    return _parameters(operator).bind(args, kwargs)


def _changed(argument: Any, change: Callable[[Value], Any]) -> Any:
    """An argument, or a sequence of such, with what `change` makes of each Value."""
    if isinstance(argument, (list, tuple)):
        return type(argument)(_changed(item, change) for item in argument)
    return change(argument) if isinstance(argument, Value) else argument


def _flat(arguments: Sequence[Any]) -> list[Any]:
    """Arguments, the items of sequences among them one by one."""
    flat: list[Any] = []
    for argument in arguments:
        flat += argument if isinstance(argument, (list, tuple)) else [argument]
    return flat


def _spec(value: Value) -> Any:
    return TensorSpec(value.shape, value.dtype)


def _array(value: Value) -> Any:
    assert value.known is not None
    return value.known.array


def _item_size(dtype: str) -> int:
    return int(numpy.dtype(dtype).itemsize)


def _one_or_all(values: list[Value]) -> Any:
    return values[0] if len(values) == 1 else values
