"""Small computations of graphs by NumPy's own functions.

The reference implementations of the onnx package give the same, but take 12 MB and as long to
import as all else of a small model takes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy
import onnx_ir

from ._slices import python_slice

Array: TypeAlias = numpy.ndarray[Any, Any]
Attributes: TypeAlias = Mapping[str, Any]
_Function: TypeAlias = Callable[..., Any]

# The versions of operators from which on what is below holds for all of them.
_SINCE = 18
# NumPy numbers its own types below this, and those of other packages above it.
_FIRST_OF_OTHERS = 256
# What a Constant may have, with the type of its elements.
_NUMBERS = {"value_float": "float32", "value_floats": "float32"}
_NUMBERS |= {"value_int": "int64", "value_ints": "int64"}


class _Other(Exception):
    """What NumPy gives is not known to be what the operator means."""


def by_numpy(
    op_type: str, attributes: Attributes, arrays: Sequence[Any], outputs: int, version: int
) -> list[Array] | None:
    """What a node of ONNX's own operators gives; None where the reference has to tell.

    `arrays` has None for an input that is not given.
    """
    function, named = _FUNCTIONS.get(op_type, (None, frozenset()))
    if function is None or version < _SINCE or not named.issuperset(attributes):
        return None
    if not all(one is None or _is_plain(one) for one in arrays):
        return None
    while arrays and arrays[-1] is None:
        arrays = arrays[:-1]
    options = dict(attributes)
    if op_type == "Split":
        options["outputs"] = outputs
    try:
        with numpy.errstate(all="ignore"):
            made = function(*arrays, **options)
    except (_Other, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return None
    return list(made) if isinstance(made, list) else [numpy.asarray(made)]


def attributes_by_name(node: onnx_ir.Node) -> dict[str, Any] | None:
    """The attributes of a node as Python has them; None where one is a graph, or of a function."""
    found = {}
    for name, attribute in node.attributes.items():
        if attribute.ref_attr_name is not None or isinstance(attribute.value, onnx_ir.Graph):
            return None
        found[name] = attribute.value
    return found


def _is_plain(array: Any) -> bool:
    return isinstance(array, (numpy.ndarray, numpy.generic)) and _is_own(array.dtype)


def _is_own(dtype: numpy.dtype[Any]) -> bool:
    """Whether it is a type of numbers that NumPy itself has, in the order of bytes that it uses."""
    return dtype.num < _FIRST_OF_OTHERS and dtype.isnative and dtype.kind in "biuf"


def _require(holds: bool) -> None:
    if not holds:
        raise _Other


def _of_two(compute: _Function) -> _Function:
    def run(a: Array, b: Array) -> Any:
        _require(a.dtype == b.dtype and a.dtype.kind in "iuf")
        return compute(a, b)

    return run


def _of_bools(compute: _Function) -> _Function:
    def run(*arrays: Array) -> Any:
        _require(all(one.dtype == bool for one in arrays))
        return compute(*arrays)

    return run


def _divide(a: Array, b: Array) -> Any:
    if a.dtype.kind == "f":
        return numpy.divide(a, b)
    _require(bool((a >= 0).all() and (b > 0).all()))  # others are rounded towards zero
    return a // b


def _mod(a: Array, b: Array, fmod: int = 0) -> Any:
    _require(a.dtype == b.dtype and a.dtype.kind in "iu" and not fmod and bool((b != 0).all()))
    return numpy.mod(a, b)


def _sqrt(a: Array) -> Any:
    _require(a.dtype.kind == "f")
    return numpy.sqrt(a)


def _cast(x: Array, to: int, **_: Any) -> Any:
    dtype = onnx_ir.DataType(to).numpy()
    _require(_is_own(dtype))
    return x.astype(dtype)


def _cast_like(x: Array, y: Array, **_: Any) -> Any:
    return x.astype(y.dtype)


def _concat(*arrays: Array, axis: int) -> Any:
    _require(all(one.ndim and one.dtype == arrays[0].dtype for one in arrays))
    return numpy.concatenate(arrays, axis)


def _constant(**value: Any) -> Any:
    ((name, content),) = value.items()
    return numpy.array(content, _NUMBERS[name])


def _constant_of_shape(shape: Array, value: Any = None) -> Any:
    element = numpy.zeros(1, "float32") if value is None else value.numpy()
    _require(element.size == 1 and _is_plain(element))
    return numpy.full(tuple(shape), element.reshape(())[()], element.dtype)


def _gather(x: Array, indices: Array, axis: int = 0) -> Any:
    return numpy.take(x, indices, axis=axis)


def _range(start: Array, limit: Array, delta: Array) -> Any:
    _require(start.dtype.kind in "iu")
    return numpy.arange(start.item(), limit.item(), delta.item()).astype(start.dtype)


def _reduce_with(function: Any) -> _Function:
    def run(x: Array, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        _require(x.size > 0 and axes is not None and axes.size > 0 and x.dtype.kind in "iuf")
        return function.reduce(x, axis=tuple(axes), keepdims=keepdims != 0)

    return run


def _reshape(x: Array, shape: Array, allowzero: int = 0) -> Any:
    _require(bool((shape != 0).all()))
    return x.reshape(tuple(shape))


def _slice(x: Array, starts: Array, ends: Array, axes: Any = None, steps: Any = None) -> Any:
    _require(starts.ndim == 1 and ends.ndim == 1)
    chosen = range(len(starts)) if axes is None else axes
    taken = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, chosen, taken, strict=True):
        index[axis] = python_slice(int(start), int(end), int(step), x.shape[axis])
    return x[tuple(index)]


def _split(
    x: Array, parts: Any = None, axis: int = 0, num_outputs: int = 0, outputs: int = 1
) -> Any:
    length, count = x.shape[axis], num_outputs or outputs
    _require(count == outputs and (parts is None or len(parts) == count))
    if parts is None:
        each = -(-length // count)
        parts = [each] * (count - 1) + [length - each * (count - 1)]
    ends = numpy.cumsum(parts)
    _require(min(parts) >= 0 and ends[-1] == length)
    return numpy.split(x, ends[:-1], axis)


def _squeeze(x: Array, axes: Any = None) -> Any:
    return numpy.squeeze(x, None if axes is None else tuple(axes))


def _transpose(x: Array, perm: Any = None) -> Any:
    _require(perm is None or len(perm) == x.ndim)
    return numpy.transpose(x, perm)


def _unsqueeze(x: Array, axes: Array) -> Any:
    return numpy.expand_dims(x, tuple(axes))


def _where(condition: Array, x: Array, y: Array) -> Any:
    _require(condition.dtype == bool and x.dtype == y.dtype)
    return numpy.where(condition, x, y)


# By operators, with the attributes that the function knows.
_FUNCTIONS: dict[str, tuple[_Function | None, frozenset[str]]] = {
    name: (function, frozenset(named.split()))
    for name, function, named in (
        ("Add", _of_two(operator.add), ""),
        ("And", _of_bools(numpy.logical_and), ""),
        ("Cast", _cast, "to saturate round_mode"),
        ("CastLike", _cast_like, "saturate round_mode"),
        ("Concat", _concat, "axis"),
        ("Constant", _constant, " ".join(_NUMBERS)),
        ("ConstantOfShape", _constant_of_shape, "value"),
        ("Div", _of_two(_divide), ""),
        ("Equal", _of_two(numpy.equal), ""),
        ("Gather", _gather, "axis"),
        ("Greater", _of_two(numpy.greater), ""),
        ("Identity", lambda x: x.copy(), ""),
        ("Less", _of_two(numpy.less), ""),
        ("Mod", _mod, "fmod"),
        ("Mul", _of_two(operator.mul), ""),
        ("Not", _of_bools(numpy.logical_not), ""),
        ("Or", _of_bools(numpy.logical_or), ""),
        ("Range", _range, ""),
        ("ReduceMax", _reduce_with(numpy.maximum), "keepdims noop_with_empty_axes"),
        ("ReduceMin", _reduce_with(numpy.minimum), "keepdims noop_with_empty_axes"),
        ("Reshape", _reshape, "allowzero"),
        ("Slice", _slice, ""),
        ("Split", _split, "axis num_outputs"),
        ("Sqrt", _sqrt, ""),
        ("Squeeze", _squeeze, ""),
        ("Sub", _of_two(operator.sub), ""),
        ("Transpose", _transpose, "perm"),
        ("Unsqueeze", _unsqueeze, ""),
        ("Where", _where, ""),
    )
}
