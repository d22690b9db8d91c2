"""How types that the boundary does not know say what they convert to.

A class defines `__ffi_convert__`, or sets `__ffi_opaque__ = True`; for a class of somebody else
there is register_converter.
"""

from __future__ import annotations

import operator
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Converter = Callable[[Any], Any]

CONVERTERS: dict[type, Converter] = {}

# Types that are converted without looking at the table of converters.
_FIXED = (bool, int, float, complex, str, bytes, tuple, list, dict, type, type(None))
_EXPECTED = (
    "None, bool, int, float, complex, str, bytes, a dtype, a Context, an array, a callable, "
    "an ffi object, or a tuple, list or dict of these"
)
_INSTEAD = {
    "datetime.datetime": "its timestamp() or isoformat()",
    "datetime.date": "its toordinal() or isoformat()",
    "datetime.time": "its isoformat()",
    "datetime.timedelta": "its total_seconds()",
    "datetime.tzinfo": "its name",
    "decimal.Decimal": "float() or str() of it",
    "fractions.Fraction": "float() of it, or its numerator and denominator",
    "uuid.UUID": "its hex or bytes",
}


def opaque_marker(value: Any) -> Any:
    """In the table of converters: instances of the class travel unchanged."""
    return value


def _call_convert(value: Any) -> Any:
    return value.__ffi_convert__()


def converter_of(cls: type) -> Converter | None:
    """The converter of instances of cls, opaque_marker, or None.

    Of several rules that of the nearest base counts, and a registered one before the class's own.
    """
    for base in cls.__mro__:
        if base in CONVERTERS:
            return CONVERTERS[base]
        if "__ffi_convert__" in base.__dict__:
            return _call_convert if base.__dict__["__ffi_convert__"] is not None else None
        if "__ffi_opaque__" in base.__dict__:
            return opaque_marker if base.__dict__["__ffi_opaque__"] else None
    return None


def check_converter(cls: object, function: object, fixed: tuple[type, ...]) -> None:
    """Raises TypeError where function cannot become the converter of cls."""
    if not isinstance(cls, type):
        raise TypeError(
            f"register_converter: argument 0 ('cls') expected a class, got {type(cls).__name__}"
        )
    if cls in _FIXED or cls is object or issubclass(cls, fixed):
        raise TypeError(
            f"register_converter: argument 0 ('cls') is {type_name(cls)}, whose conversion is fixed"
        )
    if not callable(function):
        raise TypeError(
            "register_converter: argument 1 ('function') expected a callable, "
            f"got {type(function).__name__}"
        )


def check_registration(type_index: object, cls: object, base: type) -> None:
    """Raises TypeError or ValueError for a type index or class that cannot be registered."""
    if not isinstance(type_index, int):
        raise TypeError(
            "register_object: argument 0 ('type_index') expected int, "
            f"got {type(type_index).__name__}"
        )
    if not 0 <= type_index < 2**32:
        raise ValueError(f"no object type has index {type_index}")
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise TypeError(
            "register_object: argument 1 ('cls') expected a subclass of ffi.ObjectBase, "
            f"got {cls!r}"
        )


def denies_writing(array: Any) -> bool:
    """Whether an array exports its memory for reading only, by the buffer protocol.

    For JAX's arrays, which never change: DLPack before version 1 has no way to say so.
    """
    try:
        return memoryview(array).readonly
    except TypeError:
        return False
    except BufferError:
        # Unknown for bfloat16, which has no format in the buffer protocol.
        return True


def cannot_borrow(array: Any, error: Exception, where: str) -> Exception:
    """The error for an array that does not export its memory, given what its producer raised.

    It quotes the first line only: torch appends a traceback of C++.
    """
    if isinstance(error, RecursionError):
        return error
    reason = str(error).partition("\n")[0]
    return BufferError(f"{where} is a {type_name(type(array))} that cannot be borrowed: {reason}")


# The newest version of DLPack whose tensors are read.
DLPACK_MAJOR = 1


def unknown_version(major: int, minor: int, where: str) -> Exception:
    """The error for a tensor in an unknown version of DLPack."""
    return BufferError(
        f"{where} has version {major}.{minor} of DLPack, expected version {DLPACK_MAJOR}"
    )


def no_tensor(returned: object, where: str) -> Exception:
    """The error for a __dlpack__ that returned no capsule with a tensor."""
    if type(returned).__name__ != "PyCapsule":
        given = type_name(type(returned))
        return TypeError(f"{where} has a __dlpack__() that returned {given}, expected a capsule")
    return BufferError(
        f"{where} has a __dlpack__() that returned a capsule without a tensor: somebody took it "
        "already, or it is not DLPack's"
    )


def device_of(array: Any, where: str) -> tuple[int, int]:
    """The __dlpack_device__ of an array, (type, id); TypeError where it is not such a pair."""
    given = array.__dlpack_device__()
    try:
        kind, number = given
        return int(kind), int(number)
    except (TypeError, ValueError):
        raise TypeError(
            f"{where} has {given!r} as its __dlpack_device__(), expected (device type, device id)"
        ) from None


def device_asked(dl_device: Any) -> tuple[int, int] | None:
    """The device that a consumer of DLPack asks for; TypeError for what is none."""
    if dl_device is None:
        return None
    try:
        kind, number = dl_device
        return operator.index(kind), operator.index(number)
    except (TypeError, ValueError):
        raise TypeError(
            "__dlpack__: argument 'dl_device' expected None or (device type, device id), "
            f"got {dl_device!r}"
        ) from None


def array_of(value: Any) -> Any:
    """The NumPy array that an object makes by __array__ or __array_interface__; None without them.

    Columns of pandas and images have them.
    """
    # Objects that answer to every attribute have no dict under this name.
    interface = getattr(value, "__array_interface__", None)
    if not (hasattr(type(value), "__array__") or isinstance(interface, dict)):
        return None
    import numpy

    return numpy.asarray(value)


def check_consumer(array: Any, copy: Any) -> bool | None:
    """Checks that a consumer of DLPack may share the array; returns what it says of copies.

    BufferError for a negative stride, unless the consumer speaks of copies, as NumPy does. torch
    does not, so that copy is an Ellipsis, and it ends the process over such a stride.
    """
    if copy is not ...:
        return copy  # type: ignore[no-any-return]
    if any(
        stride < 0 < extent - 1 for stride, extent in zip(array.strides, array.shape, strict=True)
    ):
        raise BufferError(
            "__dlpack__: the array has negative strides, which few consumers know; pass a copy of "
            "it, array.copy()"
        )
    return None


def is_versioned(max_version: Any) -> bool:
    """Whether a consumer of DLPack knows its versioned form; TypeError for what is no version."""
    if max_version is None:
        return False
    try:
        major, minor = max_version
        return operator.index(major) >= 1 and operator.index(minor) >= 0
    except (TypeError, ValueError):
        raise TypeError(
            "__dlpack__: argument 'max_version' expected None or (major, minor), "
            f"got {max_version!r}"
        ) from None


def array_maker(cls: Any, own: type) -> Converter | None:
    """What makes an array of class cls of one of class own; None where it is one already.

    Raises TypeError where cls is not the array class of a package that is known here.
    """
    if isinstance(cls, type) and issubclass(cls, own):
        return None
    if isinstance(cls, type):
        package = sys.modules.get(cls.__module__.partition(".")[0])
        if cls is getattr(package, "ndarray", None) and hasattr(package, "asarray"):
            return package.asarray  # type: ignore[no-any-return, union-attr]
        for module in (package, getattr(package, "dlpack", None)):
            if hasattr(cls, "__dlpack__") and hasattr(module, "from_dlpack"):
                return module.from_dlpack  # type: ignore[no-any-return, union-attr]
    given = type_name(cls) if isinstance(cls, type) else type(cls).__name__
    raise TypeError(
        "returning: argument 0 ('cls') expected numpy.ndarray, torch.Tensor, ffi.NDArray or "
        f"another class of arrays, got {given}"
    )


def fields_of(instance: Any) -> dict[str, Any]:
    """The fields of an instance of a dataclass by name, in the order of their declaration."""
    from dataclasses import fields

    return {field.name: getattr(instance, field.name) for field in fields(instance)}


def callable_name(callback: Any) -> str:
    """Its __name__, which may be a property that fails; then that of its class."""
    try:
        return str(getattr(callback, "__name__", type(callback).__name__))
    except Exception:
        return type(callback).__name__


def callable_kind(callback: Any) -> str:
    """What it is, for messages: "the class str", or a function of any kind."""
    return f"the class {type_name(callback)}" if isinstance(callback, type) else "function"


def type_name(cls: type) -> str:
    """The name for messages: with the module, but for what is built in."""
    if cls.__module__ == "builtins":
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


def unsupported(cls: type) -> str:
    """Why a type does not convert, worded to follow the name of an argument."""
    text = f"has unsupported type {type_name(cls)}"
    for base in cls.__mro__:
        instead = _INSTEAD.get(type_name(base))
        if instead is not None:
            return f"{text}; pass {instead}"
    return f"{text}; expected {_EXPECTED}"
