"""An NDArray of ffi as an array of NumPy, and as text."""

from __future__ import annotations

from . import data_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CPU = "cpu"


class _InPlace:
    """Presents elements to NumPy in place, those of ml_dtypes as integers of their size."""

    def __init__(self, array: Any, dtype: data_type.DataType) -> None:
        # NumPy keeps this object alive, and so the array that owns the memory.
        self.array = array
        is_known = dtype not in data_type.EXTENDED
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "strides": array.strides,
            "typestr": data_type.to_numpy(dtype).str if is_known else f"=u{array.itemsize}",
            "data": (array.data_ptr, array.read_only),
        }


def to_array(array: Any, name: str, dtype: Any = None, copy: bool | None = None) -> Any:
    """numpy.asarray(array), also for the element types of ml_dtypes, which no protocol can say.

    name is that of the element type. Shares the memory unless a copy or another dtype is asked for.
    Raises TypeError where NumPy has no counterpart, ImportError where ml_dtypes is not installed,
    BufferError where the elements are not in memory of the CPU.
    """
    import numpy

    found = data_type.BY_NAME.get(name)
    if found is None:
        raise TypeError(f"an array of {name} has no counterpart in NumPy")
    if array.ctx.device_type != _CPU:
        raise BufferError(f"an array on {array.ctx} has no memory that the CPU can read")
    view = numpy.asarray(_InPlace(array, found)).view(data_type.to_numpy(found))
    return numpy.array(view, dtype=dtype, copy=copy)


def text_of(array: Any, name: str) -> str:
    """Shape and element type of an array, whose elements cannot be shown without NumPy."""
    shown = [f"shape={array.shape}", f"dtype={name}", f"ctx={array.ctx}"]
    if array.read_only:
        shown.append("read_only=True")
    return f"<{type(array).__name__} {' '.join(shown)}>"
