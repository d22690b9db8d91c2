"""Python values as tagged C values, borrowed for the duration of one call."""

from __future__ import annotations

import operator
import os
import sys
from ctypes import (
    POINTER,
    addressof,
    byref,
    c_int64,
    c_ssize_t,
    c_void_p,
    py_object,
    pythonapi,
)

from .. import data_type, protocols
from . import abi
from .context import Context
from .errors import new_opaque
from .objects import ObjectBase, wrap
from .tensors import (
    OWNER_FUNCTIONS,
    check_tensor,
    completed,
    dlpack_capsule,
    fault_of,
    lazy_mark,
    tensor_in,
    tensor_of_buffer,
    tensor_of_numpy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

MAX_DEPTH = 64
# Messages name a position inside an argument down to this depth.
_MAX_PATH = 4
_utf8 = pythonapi.PyUnicode_AsUTF8AndSize
_utf8.restype, _utf8.argtypes = c_void_p, (py_object, POINTER(c_ssize_t))
_bytes_data = pythonapi.PyBytes_AsString
_bytes_data.restype, _bytes_data.argtypes = c_void_p, (py_object,)


class _Missing:
    """The type of MISSING, which stands for an argument that was not given."""

    __slots__ = ()


MISSING = _Missing()


class Keyword:
    """The name of the argument behind it, in a call of an overloaded function."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Rejected(Exception):
    """A value has no counterpart; `path` collects where in the argument it is, innermost first.

    error(where) makes the exception for the caller, once the whole path is known.
    """

    def __init__(self, error: Callable[[str], BaseException], whole: bool = False) -> None:
        super().__init__()
        self.error = error
        self.whole = whole
        self.path: list[str] = []

    def located(self, where: str) -> BaseException:
        """The exception, for an argument called `where`."""
        return self.error(
            where if self.whole else where + "".join(self.path[: -_MAX_PATH - 1 : -1])
        )


_share_function: Callable[[Callable[..., Any]], ObjectBase]


def share_functions(share: Callable[[Callable[..., Any]], ObjectBase]) -> None:
    """Has `share` make the functions of callables that are arguments: callbacks need arguments."""
    global _share_function
    _share_function = share


def _rejected(cls: type[Exception], text: str) -> Rejected:
    return Rejected(lambda where: cls(f"{where} {text}"))


class Frame:
    """Memory that the values of one call point into, and the bytes of the tensors among them."""

    __slots__ = ("keep", "tensor_bytes")

    def __init__(self) -> None:
        self.keep: list[Any] = []
        self.tensor_bytes = 0

    def write(self, x: Any, slot: Any, depth: int = 0) -> int:
        """Writes x into an MXNetValue and returns its type code; raises Rejected."""
        writer = _EXACT.get(type(x))
        if writer is not None:
            return writer(self, x, slot, depth)
        return self._other(x, slot, depth)

    def _none(self, x: None, slot: Any, depth: int) -> int:
        slot.v_handle = None
        return abi.NULL

    def _missing(self, x: _Missing, slot: Any, depth: int) -> int:
        return abi.MISSING

    def _keyword(self, x: Keyword, slot: Any, depth: int) -> int:
        self._str(x.name, slot, depth)
        return abi.KEYWORD

    def _bool(self, x: bool, slot: Any, depth: int) -> int:
        slot.v_int64 = x
        return abi.BOOL

    def _int(self, x: int, slot: Any, depth: int) -> int:
        if -(2**63) <= x < 2**63:
            slot.v_int64 = x
            return abi.INT
        if 0 < x < 2**64:
            slot.v_uint64 = x
            return abi.UINT
        # Python does not print integers of thousands of digits.
        text = str(x) if abs(x) < 10**40 else f"an integer of {x.bit_length()} bits"
        raise _rejected(OverflowError, f"expected an integer from -2**63 to 2**64-1, got {text}")

    def _float(self, x: float, slot: Any, depth: int) -> int:
        slot.v_float64 = x
        return abi.FLOAT

    def _complex(self, x: complex, slot: Any, depth: int) -> int:
        slot.v_complex[:] = (x.real, x.imag)
        return abi.COMPLEX

    def _str(self, x: str, slot: Any, depth: int) -> int:
        size = c_ssize_t()
        try:
            slot.v_str.data = _utf8(x, byref(size))
        except UnicodeEncodeError as failure:
            position = (failure.encoding, failure.object, failure.start, failure.end)
            raise Rejected(
                lambda where: UnicodeEncodeError(*position, f"surrogates not allowed in {where}")
            ) from None
        slot.v_str.size = size.value
        return abi.STR

    def _bytes(self, x: bytes, slot: Any, depth: int) -> int:
        slot.v_str.data, slot.v_str.size = _bytes_data(x), bytes.__len__(x)
        return abi.BYTES

    def _tuple(self, x: tuple[Any, ...], slot: Any, depth: int) -> int:
        return self._run(tuple.__iter__(x), slot, depth, abi.INT_TUPLE, abi.TUPLE)

    def _list(self, x: list[Any], slot: Any, depth: int) -> int:
        return self._run(list.__iter__(x), slot, depth, abi.INT_LIST, abi.LIST)

    def _dict(self, x: dict[Any, Any], slot: Any, depth: int) -> int:
        # A copy: another thread may change the dict meanwhile.
        flat = [part for entry in dict.copy(x).items() for part in entry]
        names = (" key", " value")
        return self._values(flat, slot, depth, lambda i: names[i % 2], abi.DICT)

    def _run(self, x: Iterable[Any], slot: Any, depth: int, ints: int, values: int) -> int:
        # A copy: the list may change while the call runs without the GIL.
        items = tuple(x)
        if all(type(item) is int and -(2**63) <= item < 2**63 for item in items):
            self._write_ints(items, slot)
            return ints
        return self._values(items, slot, depth, lambda i: f" item {i}", values, ints)

    def _write_ints(self, items: tuple[int, ...], slot: Any) -> None:
        numbers = (c_int64 * abi.capacity(len(items)))(*items)
        self.keep.append(numbers)
        slot.v_ints.data, slot.v_ints.size = addressof(numbers), len(items)

    def _values(
        self,
        items: Any,
        slot: Any,
        depth: int,
        name: Callable[[int], str],
        code: int,
        code_of_ints: int | None = None,
    ) -> int:
        self._enter(depth)
        run = (abi.MXNetAny * abi.capacity(len(items)))()
        self.keep += (run, items)
        only_ints = code_of_ints is not None
        for index, item in enumerate(items):
            try:
                item_code = run[index].type_code = self.write(item, run[index].value, depth + 1)
            except Rejected as rejection:
                rejection.path.append(name(index))
                raise
            only_ints = only_ints and item_code == abi.INT
        if only_ints and code_of_ints is not None:
            # Items may be of other classes, such as integers of NumPy.
            self._write_ints(tuple(run[i].value.v_int64 for i in range(len(items))), slot)
            return code_of_ints
        slot.v_seq.data, slot.v_seq.size = addressof(run), len(items)
        return code

    def _enter(self, depth: int) -> None:
        if depth >= MAX_DEPTH:
            text = f"is nested more than {MAX_DEPTH} levels deep or contains itself"
            raise Rejected(lambda where: ValueError(f"{where} {text}"), whole=True)

    def _context(self, x: Context, slot: Any, depth: int) -> int:
        slot.v_ctx.device_type, slot.v_ctx.device_id = x._number, x.device_id
        return abi.CONTEXT

    def _object(self, x: ObjectBase, slot: Any, depth: int) -> int:
        slot.v_handle = x.handle
        index = x.type_index
        if not x.handle:
            raise _rejected(ValueError, f"is a {protocols.type_name(type(x))} that holds no object")
        if index == abi.OBJECT_FUNCTION:
            return abi.FUNC_HANDLE
        if index == abi.OBJECT_NDARRAY:
            self.tensor_bytes += abi.nbytes(abi.MXNetNDArrayObject.from_address(x.handle).tensor)
            return abi.NDARRAY_HANDLE
        return abi.OBJECT_HANDLE

    def _callable(self, x: Callable[..., Any], slot: Any) -> int:
        function = _share_function(x)
        self.keep.append(function)
        return self._object(function, slot, 0)

    def _data_type(self, dtype: data_type.DataType, slot: Any) -> int:
        slot.v_type.code, slot.v_type.bits, slot.v_type.lanes = dtype
        return abi.TYPE

    def _numpy_data_type(self, dtype: Any, slot: Any) -> int:
        try:
            return self._data_type(data_type.from_numpy(dtype), slot)
        except TypeError as failure:
            raise _rejected(TypeError, str(failure)) from None

    def _type(self, x: type, slot: Any, depth: int) -> int:
        try:
            dtype = data_type.of_class(x)
        except TypeError as failure:
            raise _rejected(TypeError, str(failure)) from None
        return self._callable(x, slot) if dtype is None else self._data_type(dtype, slot)

    def _tensor(
        self, tensor: abi.DLTensor, read_only: bool, memory: Any, peer: Any, slot: Any
    ) -> int:
        """Passes a borrowed tensor of peer, whose elements lie in memory or in peer itself."""
        owner = (peer, memory)
        flags = abi.NDARRAY_READ_ONLY if read_only else 0
        borrowed = abi.MXNetBorrowedTensor(tensor, flags, id(peer), id(owner), OWNER_FUNCTIONS)
        self.keep += (borrowed, owner)
        self.tensor_bytes += abi.nbytes(tensor)
        slot.v_handle = addressof(borrowed)
        return abi.BORROWED_ARRAY

    def _other(self, x: Any, slot: Any, depth: int) -> int:
        """Values whose class is not in the table: subclasses, NumPy's, protocols."""
        if isinstance(x, ObjectBase):
            return self._object(x, slot, depth)
        converter = protocols.converter_of(type(x))
        if converter is protocols.opaque_marker:
            return self._kept(make_opaque(x), slot, depth)
        if converter is not None:
            return self._converted(converter, x, slot, depth)
        enum_index = getattr(type(x), "__ffi_enum__", None)
        if enum_index is not None and isinstance(x, int):
            slot.v_enum.value, slot.v_enum.type_index = int(x), enum_index
            return abi.ENUM
        for base, writer in _BASES:
            if isinstance(x, base):
                return writer(self, x, slot, depth)
        numpy = data_type.numpy_if_loaded()
        if numpy is not None:
            if isinstance(x, numpy.ndarray):
                return self._numpy_array(x, slot)
            if isinstance(x, numpy.generic):
                return self._numpy_scalar(x, slot, depth)
            if isinstance(x, numpy.dtype):
                return self._numpy_data_type(x, slot)
        return self._protocol(x, slot, depth)

    def _numpy_array(self, x: Any, slot: Any) -> int:
        try:
            tensor, dims = tensor_of_numpy(x)
        except (TypeError, ValueError) as failure:
            raise _rejected(type(failure), str(failure)) from None
        return self._tensor(tensor, not x.flags.writeable, dims, x, slot)

    def _numpy_scalar(self, x: Any, slot: Any, depth: int) -> int:
        dtype = x.dtype
        if dtype.kind in "US":
            return self._kept(x.item(), slot, depth)
        if dtype.name == "bfloat16":
            return self._float(float(x), slot, depth)
        if dtype.name not in data_type.BY_NAME:
            raise _rejected(TypeError, data_type.foreign(dtype))
        return self.write(x.item(), slot, depth)

    def _protocol(self, x: Any, slot: Any, depth: int) -> int:
        cls = type(x)
        enum = sys.modules.get("enum")
        if enum is not None and isinstance(x, enum.Enum):
            return self._converted(operator.attrgetter("value"), x, slot, depth)
        if hasattr(cls, "__dlpack__"):
            return self._dlpack(x, slot)
        if isinstance(x, bytearray) or (isinstance(x, memoryview) and _is_bytes(x)):
            return self._kept(bytes(x), slot, depth)
        if isinstance(x, memoryview):
            return self._buffer(x, x, slot)
        if hasattr(cls, "__index__"):
            return self._int(operator.index(x), slot, depth)
        if hasattr(cls, "__fspath__"):
            return self._kept(os.fspath(x), slot, depth)
        if cls is range:
            return self._run(x, slot, depth, abi.INT_LIST, abi.LIST)
        if callable(x):
            return self._callable(x, slot)
        if hasattr(cls, "__dataclass_fields__"):
            return self._kept(protocols.fields_of(x), slot, depth)
        try:
            view = memoryview(x)
        except TypeError:
            made = protocols.array_of(x)
            if made is None:
                raise _rejected(TypeError, protocols.unsupported(cls)) from None
            return self._kept(made, slot, depth)
        return self._buffer(view, x, slot)

    def _converted(self, converter: Callable[[Any], Any], x: Any, slot: Any, depth: int) -> int:
        """What a converter makes of x, which may again be something with a converter."""
        self._enter(depth)
        return self._kept(converter(x), slot, depth + 1)

    def _buffer(self, view: memoryview, peer: Any, slot: Any) -> int:
        try:
            # A new view, since the caller could release the one that was passed.
            tensor, owner = tensor_of_buffer(memoryview(view))
        except (TypeError, ValueError, BufferError) as failure:
            raise _rejected(type(failure), str(failure)) from None
        return self._tensor(tensor, view.readonly, owner, peer, slot)

    def _dlpack(self, x: Any, slot: Any) -> int:
        borrowed, mark = x, lazy_mark(x)
        if mark is not None:
            raise _rejected(BufferError, mark)
        if hasattr(type(x), "__dlpack_c_exchange_api__") and getattr(x, "requires_grad", False):
            # torch does not export a tensor that records gradients; borrowing it records none.
            borrowed = x.detach()
        try:
            capsule = dlpack_capsule(borrowed)
        except (BufferError, RuntimeError) as error:
            failure = error
            raise Rejected(lambda where: protocols.cannot_borrow(x, failure, where)) from error
        rejection = fault_of(capsule)
        if rejection is not None:
            raise Rejected(rejection)
        tensor, read_only = tensor_in(capsule, borrowed)
        try:
            check_tensor(tensor, "")
        except (TypeError, ValueError) as fault:
            raise _rejected(type(fault), str(fault).lstrip()) from None
        if tensor.device.device_type != abi.DL_CPU:
            raise _rejected(
                ValueError,
                f"is a tensor on device type {tensor.device.device_type}; "
                "expected memory of the CPU",
            )
        tensor, strides = completed(tensor)
        return self._tensor(tensor, read_only, (capsule, strides), x, slot)

    def _kept(self, made: Any, slot: Any, depth: int) -> int:
        """Writes what stands for the argument, and keeps it for the call."""
        self.keep.append(made)
        return self.write(made, slot, depth)


def _is_bytes(view: memoryview) -> bool:
    return view.format in ("B", "b", "c") and view.ndim == 1 and view.c_contiguous


if TYPE_CHECKING:
    Writer = Callable[[Frame, Any, Any, int], int]

# Types that are found by identity; subclasses are not in it.
_EXACT: dict[type, Writer] = {
    type(None): Frame._none,
    bool: Frame._bool,
    int: Frame._int,
    float: Frame._float,
    complex: Frame._complex,
    str: Frame._str,
    bytes: Frame._bytes,
    tuple: Frame._tuple,
    list: Frame._list,
    dict: Frame._dict,
    type: Frame._type,
    Context: Frame._context,
    _Missing: Frame._missing,
    Keyword: Frame._keyword,
}

# Subclasses convert like these bases, whatever methods they override.
_BASES: tuple[tuple[type, Writer], ...] = (
    (int, lambda frame, x, slot, depth: frame._int(int.__index__(x), slot, depth)),
    (float, lambda frame, x, slot, depth: frame._float(float.__float__(x), slot, depth)),
    (complex, lambda frame, x, slot, depth: frame._complex(complex.__pos__(x), slot, depth)),
    (str, Frame._str),
    (bytes, Frame._bytes),
    (tuple, Frame._tuple),
    (list, Frame._list),
    (dict, Frame._dict),
    (type, Frame._type),
)


def register_converter(cls: type, function: Callable[[Any], Any]) -> None:
    """Makes instances of cls convert as what function makes of them."""
    protocols.check_converter(cls, function, (ObjectBase, Context))
    protocols.CONVERTERS[cls] = function


def make_opaque(value: Any) -> ObjectBase:
    """An object of the runtime that carries value unchanged: where it comes out, it is value."""
    return wrap(new_opaque(value))
