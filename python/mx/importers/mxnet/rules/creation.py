"""Arrays out of nothing but a shape."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from ..expansion import Expansion
from ..table import optional, register, required

SHAPE = optional("shape", "ints", ())
CTX = optional("ctx", "str", "")
DTYPE = optional("dtype", "dtype", "float32")


def _filled(x: Expansion, value: float, least: int) -> ir.Value:
    """A dimension of 0 was one to be found; 1 broadcasts to whatever it is found to be."""
    shape = [max(n, least) for n in x.p.shape]
    dtype = x.p.dtype or "float32"
    return x.op("Expand", x.constant(value, dtype), x.ints(*shape))


def _add(name: str, doc: str, value: float, of_numpy: str) -> None:
    register(name, doc, [SHAPE, CTX, DTYPE], "")(lambda x: _filled(x, value, 1))
    register(of_numpy, doc, [SHAPE, CTX, DTYPE], "")(lambda x: _filled(x, value, 0))


_add("_zeros", "Zeros.", 0, "_npi_zeros")
_add("_ones", "Ones.", 1, "_npi_ones")


@register("_full", "One value everywhere.", [SHAPE, CTX, DTYPE, required("value", "float")], "")
def full(x: Expansion) -> ir.Value:
    return _filled(x, x.p.value, 1)


@register(
    "_npi_full",
    "One value everywhere.",
    [SHAPE, CTX, DTYPE, required("fill_value", "float")],
    "",
)
def full_of_numpy(x: Expansion) -> ir.Value:
    return _filled(x, x.p.fill_value, 0)


def _filled_like(x: Expansion, value: float, dtype: str | None = None) -> ir.Value:
    (data,) = x.inputs
    number = x.constant(value, dtype) if dtype else x.number(value, data)
    return x.op("Expand", number, x.op("Shape", data))


@register("zeros_like", "Zeros in the shape of the data.")
def zeros_like(x: Expansion) -> ir.Value:
    return _filled_like(x, 0)


@register("ones_like", "Ones in the shape of the data.")
def ones_like(x: Expansion) -> ir.Value:
    return _filled_like(x, 1)


@register(
    "_npi_full_like",
    "One value in the shape of the data.",
    [required("fill_value", "float"), CTX, optional("dtype", "dtype")],
    "a",
)
def full_like(x: Expansion) -> ir.Value:
    return _filled_like(x, x.p.fill_value, x.p.dtype)


MOST_ELEMENTS = 1 << 24


def _counted(x: Expansion, n: int) -> int:
    if n > MOST_ELEMENTS:
        raise x.error(f"expected at most {MOST_ELEMENTS} elements, but {n} came")
    return n


def _number_of_steps(x: Expansion, start: float, stop: float) -> int:
    if not x.p.step:
        raise x.error("expected a step other than 0")
    return _counted(x, max(0, int(np.ceil((stop - start) / x.p.step))))


def _arange(x: Expansion, repeat: int) -> ir.Value:
    start, stop = x.p.start, x.p.stop
    if stop is None:
        start, stop = 0.0, start
    n = _number_of_steps(x, start, stop)
    _counted(x, n * repeat)
    return x.constant(np.repeat(start + np.arange(n) * x.p.step, repeat), x.p.dtype or "float32")


@register(
    "_arange",
    "Numbers from start to stop in steps, each repeated.",
    [
        required("start", "float"),
        optional("stop", "float"),
        optional("step", "float", 1.0),
        optional("repeat", "int", 1),
        optional("infer_range", "bool", False),
        CTX,
        DTYPE,
    ],
    "",
)
def arange(x: Expansion) -> ir.Value:
    return _arange(x, x.p.repeat)


@register(
    "_npi_arange",
    "Numbers from start to stop in steps.",
    [
        required("start", "float"),
        optional("stop", "float"),
        optional("step", "float", 1.0),
        CTX,
        DTYPE,
    ],
    "",
)
def arange_of_numpy(x: Expansion) -> ir.Value:
    return _arange(x, 1)


@register(
    "_contrib_arange_like",
    "As many numbers from start in steps as the data has elements, or elements along an axis.",
    [
        optional("start", "float", 0.0),
        optional("step", "float", 1.0),
        optional("repeat", "int", 1),
        CTX,
        optional("axis", "int"),
    ],
    aliases="_npx_arange_like",
)
def arange_like(x: Expansion) -> ir.Value:
    (data,) = x.inputs
    if x.p.repeat != 1:
        raise x.error(f"expected repeat 1, but {x.p.repeat} came")
    axis = x.p.axis
    n = x.op("Size", data) if axis is None else x.squeeze(x.size_along(data, axis), 0)
    zero, one = (x.constant(i, ir.DataType.INT64) for i in (0, 1))
    counted = x.cast(x.op("Range", zero, n, one), data.dtype)
    out = x.op("Add", x.op("Mul", counted, x.number(x.p.step, data)), x.number(x.p.start, data))
    return x.op("Reshape", out, x.op("Shape", data)) if axis is None else out


@register(
    "_linspace",
    "So many numbers from start to stop.",
    [
        required("start", "float"),
        optional("stop", "float"),
        required("num", "int"),
        optional("endpoint", "bool", True),
        optional("step", "float"),
        optional("repeat", "int", 1),
        optional("infer_range", "bool", False),
        CTX,
        DTYPE,
    ],
    "",
    aliases="_npi_linspace",
)
def linspace(x: Expansion) -> ir.Value:
    n = _counted(x, x.p.num)
    return x.constant(np.linspace(x.p.start, x.p.stop, n, endpoint=x.p.endpoint), x.p.dtype)


@register(
    "_eye",
    "Ones on a diagonal, zeros elsewhere.",
    [
        required("N", "int"),
        optional("M", "int", 0),
        optional("k", "int", 0),
        CTX,
        DTYPE,
    ],
    "",
    aliases="_npi_eye",
)
def eye(x: Expansion) -> ir.Value:
    _counted(x, x.p.N * (x.p.M or x.p.N))
    return x.constant(np.eye(x.p.N, x.p.M or None, x.p.k), x.p.dtype)
