"""Methods and properties of an array: functions of the registry, or a few lines over them."""

from __future__ import annotations

from typing import Any

import numpy

import ffi

from .._registry import FUNCTIONS as PUBLIC
from .._registry import front_end
from ..context import Context
from ._conversion import dtype_name, in_place, numpy_view
from ._operators import is_plain

# Methods that are registered functions, with the array as their first argument.
FUNCTIONS = (
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "astype",
    "clip",
    "copy",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "flatten",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "ravel",
    "repeat",
    "round",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "take",
    "trace",
    "var",
    "view",
)

_array = front_end("array")
_in_context = ffi.get_global_func("runtime.copy_to_context")
_reshape = front_end("reshape")
_transpose = front_end("transpose")
_swapaxes = front_end("swapaxes")
_conjugate = front_end("conjugate")
_sort = front_end("sort")
_sort_in_place = ffi.get_global_func("mx.sort_in_place")
_real = front_end("real")
_imag = front_end("imag")


def unpack(arguments: tuple[Any, ...]) -> Any:
    """The one tuple, list or None of `reshape((2, 3))`, or the numbers of `reshape(2, 3)`."""
    if len(arguments) == 1 and not hasattr(arguments[0], "__index__"):
        return arguments[0]
    return arguments


def reshape(self: Any, /, *shape: Any, order: str = "C") -> Any:
    """The elements in another shape, given as one tuple or as integers; a view where possible."""
    return _reshape(self, unpack(shape), order=order)


def transpose(self: Any, /, *axes: Any) -> Any:
    """A view with the axes permuted, given as one tuple or as integers; reversed without them."""
    return _transpose(self, unpack(axes) if axes else None)


def conjugate(self: Any, /) -> Any:
    """The complex conjugates; of other elements the array itself."""
    return _conjugate(self) if dtype_name(self).startswith("complex") else self


def sort(self: Any, /, axis: int = -1, kind: str | None = None) -> None:
    """Sorts the elements along an axis, in place; the sort is stable, NaN comes last."""
    # An axis that no array has is told of as by the function.
    is_plain_call = kind is None and type(axis) is int and -64 <= axis < 64
    if not is_plain_call or not _sort_in_place(self, axis):
        self[...] = _sort(self, axis, kind)


def fill(self: Any, value: Any, /) -> None:
    """Sets every element to value."""
    self[...] = value


def as_in_ctx(self: Any, ctx: Context | str, /) -> Any:
    """The array itself if it is in ctx, else a copy there."""
    return _in_context(self, ctx)


def copyto(self: Any, other: Any, /) -> Any:
    """Copies the elements into the array `other`, or to a new array in the context `other`."""
    if isinstance(other, (Context, str)):
        return _array(self, ctx=other)
    other[...] = self
    return other


def array_ufunc(self: Any, ufunc: Any, method: str, /, *inputs: Any, **options: Any) -> Any:
    """Lets NumPy's own functions take arrays of this class: `numpy.exp(x)`, `numpy_array + x`.

    What `mx.np` has is computed by it. NumPy does the rest, on the same memory: ufuncs of others,
    and those with operands of a class that gives arrays a meaning of its own. A class that has its
    own way with ufuncs is left to it.
    """
    out = options.pop("out", None)
    operands = inputs if out is None else inputs + out
    if any(map(_has_own_ufuncs, operands)):
        return NotImplemented
    is_numpys = getattr(numpy, ufunc.__name__, None) is ufunc
    function = PUBLIC.get(ufunc.__name__) if is_numpys and all(map(is_plain, inputs)) else None
    if method == "__call__" and function is not None and out is None and not options:
        return function(*inputs)
    if out is not None:
        options["out"] = tuple(map(_as_numpy, out))
    result = getattr(ufunc, method)(*map(_as_numpy, inputs), **options)
    if out is not None:
        for target, written in zip(out, options["out"], strict=True):
            if target is not written and in_place(target) is None:
                target[...] = written
        return out[0] if len(out) == 1 else out
    if result is None:
        return None
    return tuple(map(_own, result)) if isinstance(result, tuple) else _own(result)


def _own(result: Any) -> Any:
    """Arrays and scalars of NumPy as arrays of this class; results of other classes as they are."""
    return (
        _array(result)
        if isinstance(result, numpy.generic | numpy.ndarray) and is_plain(result)
        else result
    )


def _has_own_ufuncs(value: Any) -> bool:
    handler = getattr(type(value), "__array_ufunc__", None)
    return handler is not None and handler not in (array_ufunc, numpy.ndarray.__array_ufunc__)


def _as_numpy(value: Any) -> Any:
    return numpy.asarray(value) if isinstance(value, ffi.NDArray) else value


def transposed(self: Any) -> Any:
    """View with the axes reversed."""
    return _transpose(self)


def matrix_transposed(self: Any) -> Any:
    """View with the last two axes exchanged. ValueError for fewer than two."""
    if self.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return _swapaxes(self, -1, -2)


def real(self: Any) -> Any:
    """The real parts: a view of complex elements, else the array itself."""
    return _real(self)


def imag(self: Any) -> Any:
    """The imaginary parts: a view of complex elements, else zeros."""
    return _imag(self)


def set_real(self: Any, value: Any) -> None:
    """Sets the real parts."""
    _real(self)[...] = value


def set_imag(self: Any, value: Any) -> None:
    """Sets the imaginary parts. TypeError where there are none."""
    if self.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    _imag(self)[...] = value


def flat(self: Any) -> Any:
    """NumPy's iterator over the elements in row-major order, on the same memory; it can be indexed
    and assigned to. Where the CPU cannot read the memory of an accelerator it reads a copy."""
    view = numpy_view(self)
    if in_place(self) is None:
        view.flags.writeable = False
    return view.flat


def set_flat(self: Any, value: Any) -> None:
    """Sets the elements in row-major order; a shorter value is repeated."""
    view = numpy_view(self)
    view.flat[:] = value
    if in_place(self) is None:
        self[...] = view


def flags(self: Any) -> Any:
    """NumPy's description of the memory: whether it is contiguous, aligned, writable."""
    return numpy_view(self).flags


def context(self: Any) -> Any:
    """Where the elements are; the same as ctx."""
    return self.ctx


METHODS: dict[str, Any] = {name: front_end(name) for name in FUNCTIONS}
METHODS |= {
    "reshape": reshape,
    "transpose": transpose,
    "conj": conjugate,
    "conjugate": conjugate,
    "sort": sort,
    "fill": fill,
    "as_in_ctx": as_in_ctx,
    "as_in_context": as_in_ctx,
    "to_device": as_in_ctx,
    "copyto": copyto,
    "__array_ufunc__": array_ufunc,
}

PROPERTIES = {
    "T": property(transposed),
    "mT": property(matrix_transposed),
    "real": property(real, set_real),
    "imag": property(imag, set_imag),
    "flat": property(flat, set_flat),
    "flags": property(flags),
    "context": property(context),
    "device": property(context),
}
