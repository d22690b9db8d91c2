"""Element types: their names, and their counterparts in NumPy.

An element type is the triple (code, bits, lanes) of a DLDataType.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    DataType = tuple[int, int, int]

NAMES: dict[DataType, str] = {
    (6, 8, 1): "bool",
    (0, 8, 1): "int8",
    (0, 16, 1): "int16",
    (0, 32, 1): "int32",
    (0, 64, 1): "int64",
    (1, 8, 1): "uint8",
    (1, 16, 1): "uint16",
    (1, 32, 1): "uint32",
    (1, 64, 1): "uint64",
    (2, 16, 1): "float16",
    (2, 32, 1): "float32",
    (2, 64, 1): "float64",
    (5, 64, 1): "complex64",
    (5, 128, 1): "complex128",
}
# Types that NumPy has only through the package ml_dtypes.
EXTENDED: dict[DataType, str] = {
    (4, 16, 1): "bfloat16",
    (7, 8, 1): "float8_e3m4",
    (8, 8, 1): "float8_e4m3",
    (9, 8, 1): "float8_e4m3b11fnuz",
    (10, 8, 1): "float8_e4m3fn",
    (11, 8, 1): "float8_e4m3fnuz",
    (12, 8, 1): "float8_e5m2",
    (13, 8, 1): "float8_e5m2fnuz",
    (14, 8, 1): "float8_e8m0fnu",
}
NAMES.update(EXTENDED)
BY_NAME: dict[str, DataType] = {name: dtype for dtype, name in NAMES.items()}
BY_PYTHON_TYPE: dict[type, DataType] = {
    bool: BY_NAME["bool"],
    int: BY_NAME["int64"],
    float: BY_NAME["float64"],
    complex: BY_NAME["complex128"],
}
BFLOAT16 = BY_NAME["bfloat16"]
_NUMERIC_KINDS = "biufc"

# Kinds by the format character of a buffer, as in the module struct; the size is given apart.
_NATIVE_ORDERS = "@=<" if sys.byteorder == "little" else "@=>!"
_CODE_OF_FORMAT = {
    "?": 6,
    **dict.fromkeys(("b", "h", "i", "l", "q", "n"), 0),
    **dict.fromkeys(("c", "B", "H", "I", "L", "Q", "N"), 1),
    **dict.fromkeys(("e", "f", "d"), 2),
    **dict.fromkeys(("Zf", "Zd"), 5),
}


def name_of(dtype: DataType) -> str:
    """The name, "float32"; a type without one is written as code, bits and lanes."""
    code, bits, lanes = dtype
    return NAMES.get(dtype) or f"dtype(code={code}, bits={bits}, lanes={lanes})"


def to_numpy(dtype: DataType) -> Any:
    """The numpy.dtype of an element type.

    Raises ImportError where it is one of ml_dtypes, which is not installed, TypeError where NumPy
    has no counterpart.
    """
    import numpy

    if dtype in EXTENDED:
        return numpy.dtype(extended(EXTENDED[dtype]))
    if dtype not in NAMES:
        raise TypeError(f"{name_of(dtype)} has no counterpart in NumPy")
    return numpy.dtype(NAMES[dtype])


def extended(name: str) -> Any:
    """The scalar type of ml_dtypes with this name.

    Raises ImportError where ml_dtypes is not installed, TypeError where it is older than the type.
    """
    try:
        import ml_dtypes
    except ImportError as error:
        raise ImportError(
            f"NumPy has no {name} of its own; install ml_dtypes to exchange {name} with it"
        ) from error
    if not hasattr(ml_dtypes, name):
        raise TypeError(f"the ml_dtypes that is installed has no {name}")
    return getattr(ml_dtypes, name)


def bfloat16() -> Any:
    """The scalar type ml_dtypes.bfloat16; ImportError where ml_dtypes is not installed."""
    return extended("bfloat16")


def from_numpy(dtype: Any) -> DataType:
    """The element type of a numpy.dtype.

    Raises TypeError, worded to follow the name of an argument, where the byte order is not the
    machine's or there is no counterpart.
    """
    found = BY_NAME.get(dtype.name)
    if found is None or (dtype.kind not in _NUMERIC_KINDS and found not in EXTENDED):
        raise TypeError(foreign(dtype))
    if not dtype.isnative:
        raise TypeError(f"has data type {dtype!s}, whose byte order is not native")
    return found


def of_class(cls: type) -> DataType | None:
    """The element type that a class means, None where it means none.

    A class of another library means that of its attribute `dtype`, as jax.numpy.float32 does; one
    that has `__ffi_dtype__` means that triple, as mx.np.bfloat16 does.
    Raises TypeError, worded to follow the name of an argument, where NumPy's class has no
    counterpart.
    """
    known: DataType | None = getattr(cls, "__ffi_dtype__", None) or BY_PYTHON_TYPE.get(cls)
    numpy = numpy_if_loaded()
    if known is not None or numpy is None:
        return known
    if issubclass(cls, numpy.generic):
        try:
            dtype = numpy.dtype(cls)
        except TypeError:
            raise TypeError(f"has data type {cls!r}, which is abstract") from None
        return from_numpy(dtype)
    dtype = getattr(cls, "dtype", None)
    return BY_NAME.get(dtype.name) if isinstance(dtype, numpy.dtype) else None


def foreign(dtype: Any) -> str:
    """Why a numpy.dtype has no element type, worded to follow the name of an argument."""
    text = f"has data type {dtype!s}, which has no counterpart"
    if dtype.names is not None:
        return f"{text}; pass its fields one by one"
    if dtype.kind in "mM":
        return f"{text}; pass what astype('int64') makes of it"
    return text


def of_buffer(view: memoryview) -> DataType:
    """The element type of a buffer.

    Raises TypeError, worded to follow the name of an argument, where there is no counterpart.
    """
    kind = view.format.lstrip(_NATIVE_ORDERS)
    code = _CODE_OF_FORMAT.get(kind)
    if code is None or (code, 8 * view.itemsize, 1) not in NAMES:
        raise TypeError(f"has items of the format {view.format!r}, which has no counterpart")
    return code, 8 * view.itemsize, 1


def numpy_if_loaded() -> Any:
    """The module numpy where something imported it already, else None.

    An object can be NumPy's only then, and importing it takes longer than everything else here.
    """
    numpy = sys.modules.get("numpy")
    return numpy if hasattr(numpy, "ndarray") else None
