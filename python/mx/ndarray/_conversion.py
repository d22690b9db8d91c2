"""An array as something else: a NumPy array, Python numbers, a pickle."""

from __future__ import annotations

from typing import Any

import numpy

import ffi
from ffi import data_type, views

from .._registry import front_end

BFLOAT16 = "bfloat16"
# Types that NumPy reads through the array itself; it has no counterpart of others, as complex32.
READ_BY_NUMPY = frozenset(
    name for name, known in data_type.BY_NAME.items() if known not in data_type.EXTENDED
)
MADE_BY = "ndarray objects are made by mx.np.array, mx.np.zeros and their like"

_array = front_end("array")
_astype = front_end("astype")
_copy = front_end("copy")
_in_context = ffi.get_global_func("runtime.copy_to_context")
_host_view = ffi.get_global_func("runtime.host_view")


def in_place(array: Any) -> Any:
    """An array of the CPU over the same memory; None where NumPy cannot read that.

    Waits for the work under way on an accelerator.
    """
    return array if on_cpu(array) else _host_view(array)


def on_cpu(array: Any) -> bool:
    """Whether the array is the CPU's, not one on an accelerator."""
    kind: str = array.ctx.device_type
    return kind == "cpu"


def numpy_view(array: Any) -> numpy.ndarray[Any, Any]:
    """A NumPy array over the same memory, which it keeps alive. bfloat16 and float8 need ml_dtypes.

    Where the CPU cannot read the memory of an accelerator it shows a copy.
    """
    return _view_of_type(array, dtype_name(array))


def _view_of_type(array: Any, name: str) -> numpy.ndarray[Any, Any]:
    """numpy_view of an array of the type of that name."""
    host = in_place(array)
    array = _in_context(array, "cpu") if host is None else host
    if name in READ_BY_NUMPY:
        return numpy.asarray(array)
    other: numpy.ndarray[Any, Any] = views.to_array(array, name)
    return other


def dtype_name(array: Any) -> str:
    """Name of the element type, also where NumPy has no such type."""
    name: str = ffi.NDArray.dtype.__get__(array)
    return name


def readable(array: Any) -> numpy.ndarray[Any, Any]:
    """The elements in a type that Python reads: float32 stands for bfloat16 and float8."""
    name = dtype_name(array)
    if name == BFLOAT16:
        return numpy_view(_astype(array, "float32"))
    view = _view_of_type(array, name)
    return view if name in READ_BY_NUMPY else view.astype("float32")


def asnumpy(self: Any, /) -> numpy.ndarray[Any, Any]:
    """A NumPy array with a copy of the elements; waits for them if they are being computed."""
    return numpy_view(self).copy() if on_cpu(self) else numpy_view(_in_context(self, "cpu"))


def to_array(self: Any, dtype: Any = None, /, *, copy: bool | None = None) -> Any:
    """numpy.asarray(self): shares the memory unless a copy or another dtype is asked for."""
    if copy is False and in_place(self) is None:
        raise ValueError(f"an array on {self.ctx} cannot be seen by NumPy without a copy")
    return numpy.array(numpy_view(self), dtype=dtype, copy=copy)


def item(self: Any, /, *args: Any) -> Any:
    """One element as a Python number: the only one, or that at an index."""
    return readable(self).item(*args)


def tolist(self: Any, /) -> Any:
    """The elements as nested lists of Python numbers; a number for an array without axes."""
    return readable(self).tolist()


def tobytes(self: Any, /, order: str = "C") -> bytes:
    """The bytes of the elements in row-major order, or another order as numpy.ndarray.tobytes."""
    content: bytes = numpy_view(self).tobytes(order)  # type: ignore[arg-type]
    return content


def scalar(self: Any) -> Any:
    """The element of an array without axes."""
    if self.ndim:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return item(self)


def truth(self: Any, /) -> bool:
    """bool(self), for an array of one element."""
    if self.size != 1:
        what = "an empty array" if not self.size else "an array with more than one element"
        hint = "`array.size > 0`" if not self.size else "a.any() or a.all()"
        raise ValueError(f"The truth value of {what} is ambiguous. Use {hint}")
    return bool(item(self))


def integer(self: Any, /) -> int:
    """int(self), for an array without axes."""
    return int(scalar(self))


def real_number(self: Any, /) -> float:
    """float(self), for an array without axes."""
    return float(scalar(self))


def rounded(self: Any, ndigits: int | None = None, /) -> Any:
    """round(self, ndigits) as a Python number, for an array without axes."""
    return round(scalar(self), ndigits)


def complex_number(self: Any, /) -> complex:
    """complex(self), for an array without axes."""
    return complex(scalar(self))


def index(self: Any, /) -> int:
    """operator.index(self), for an integer array without axes."""
    if self.ndim or self.dtype.kind not in "iu":
        raise TypeError("only integer scalar arrays can be converted to a scalar index")
    return int(item(self))


def shallow_copy(self: Any, /) -> Any:
    """copy.copy(self): elements are copied, as NumPy does."""
    return _copy(self)


def deep_copy(self: Any, memo: Any, /) -> Any:
    """copy.deepcopy(self)."""
    return _copy(self)


def rebuild(elements: Any, ctx: str) -> Any:
    """The array that a pickle describes."""
    return _array(elements, ctx=ctx)


def reduce(self: Any, /) -> Any:
    """What a pickle holds: the elements and the name of the context."""
    return rebuild, (asnumpy(self), str(self.ctx))


SPECIAL = {
    "asnumpy": asnumpy,
    "item": item,
    "tolist": tolist,
    "tobytes": tobytes,
    "__array__": to_array,
    "__bool__": truth,
    "__int__": integer,
    "__float__": real_number,
    "__complex__": complex_number,
    "__round__": rounded,
    "__index__": index,
    "__copy__": shallow_copy,
    "__deepcopy__": deep_copy,
    "__reduce__": reduce,
}
