"""Shows the runtime's values in gdb; `python -m ffi --gdb` says how to load it.

Everything is read from memory by the layout of the function ABI, version 1, so that it works in
libraries and core files that lack the debug information of these types. Loading it adds

- printers for MXNetAny, MXNetArgs, DLTensor and the objects, and for Any, Error, ObjectRef and the
  classes derived from it: `print args` shows the arguments of a call, `print x` what x refers to;
- `$mxnet(value, code)` for an MXNetValue with its type code, and `$mxnet_object(handle)` for a
  handle.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import gdb  # type: ignore[import-untyped]

MAX_ITEMS = 16
MAX_DEPTH = 6
MAX_TEXT = 200

INT, UINT, FLOAT, HANDLE, NULL, TYPE, CONTEXT, DL_TENSOR = range(8)
OBJECT_CODES = {8, 9, 10, 14}
STR, BYTES = 11, 12
BOOL, COMPLEX, INT_TUPLE, INT_LIST, TUPLE, LIST, DICT, READ_ONLY_ARRAY, MISSING = range(65, 74)
KEYWORD, ENUM, BORROWED_ARRAY = range(74, 77)

FUNCTION, ARRAY, STRING, BYTES_OBJECT, SHAPE, TUPLE_OBJECT, SEQUENCE, MAP, OPAQUE = range(1, 10)
MUTABLE_SEQUENCE, MUTABLE_MAP = 10, 11
BRACKETS = {
    TUPLE_OBJECT: "()",
    SEQUENCE: "Array[]",
    MAP: "Map{}",
    MUTABLE_SEQUENCE: "List[]",
    MUTABLE_MAP: "Dict{}",
}

# Bytes of MXNetObject, after which each kind of object has its own members; and of MXNetAny.
HEADER = 24
ANY = 24

DTYPE_KINDS = ("int", "uint", "float", "handle", "bfloat", "complex", "bool")


def read(address: int, layout: str) -> tuple[Any, ...]:
    """Numbers at an address, by a format of the module struct."""
    memory = gdb.selected_inferior().read_memory(address, struct.calcsize("=" + layout))
    return struct.unpack("=" + layout, bytes(memory))


def text_at(address: int, size: int, is_bytes: bool = False) -> str:
    """Text or bytes as Python writes them."""
    data = bytes(gdb.selected_inferior().read_memory(address, min(size, MAX_TEXT))) if size else b""
    shown = repr(data) if is_bytes else repr(data.decode("utf-8", "replace"))
    return shown if size <= MAX_TEXT else f"{shown}... ({size} bytes)"


def enclosed(brackets: str, size: int, item: Callable[[int], str], depth: int = 0) -> str:
    """The first items, in brackets before which there may be a name: "Array[]"."""
    if depth > MAX_DEPTH:
        return f"{brackets[:-1]}...{brackets[-1]}"
    items = [item(i) for i in range(min(size, MAX_ITEMS))]
    if size > MAX_ITEMS:
        items.append(f"... {size} in all")
    return brackets[:-1] + ", ".join(items) + brackets[-1]


def ints_at(address: int, size: int, brackets: str) -> str:
    return enclosed(brackets, size, lambda i: str(read(address + 8 * i, "q")[0]))


def anys_at(address: int, size: int, brackets: str, depth: int) -> str:
    return enclosed(brackets, size, lambda i: any_at(address + ANY * i, depth + 1), depth)


def pairs_at(address: int, size: int, brackets: str, depth: int) -> str:
    def pair(i: int) -> str:
        key, value = address + 2 * i * ANY, address + (2 * i + 1) * ANY
        return f"{any_at(key, depth + 1)}: {any_at(value, depth + 1)}"

    return enclosed(brackets, size // 2, pair, depth)


def dtype_text(code: int, bits: int, lanes: int) -> str:
    kind = DTYPE_KINDS[code] if code < len(DTYPE_KINDS) else f"dtype{code}:"
    name = kind if kind == "bool" else f"{kind}{bits}"
    return name if lanes == 1 else f"{name}x{lanes}"


def context_text(device_type: int, device_id: int) -> str:
    return f"{'cpu' if device_type == 1 else f'device{device_type}'}({device_id})"


def tensor_at(address: int) -> str:
    """A DLTensor: its type, extents, address and, where there are few, elements."""
    data, device, number, ndim, code, bits, lanes, shape, _, offset = read(address, "QiiiBBHQQQ")
    extents = [read(shape + 8 * i, "q")[0] for i in range(min(max(ndim, 0), 64))]
    where = "" if device == 1 else " on " + context_text(device, number)
    return f"{dtype_text(code, bits, lanes)}{extents}{where} at {data + offset:#x}"


def value_at(address: int, code: int, depth: int = 0) -> str:
    """An MXNetValue, which is 16 bytes, with its type code."""
    first, second = read(address, "QQ")
    if code == INT:
        return str(read(address, "q")[0])
    if code == UINT:
        return str(first)
    if code == FLOAT:
        return repr(read(address, "d")[0])
    if code == COMPLEX:
        return repr(complex(*read(address, "dd")))
    if code == BOOL:
        return str(bool(first))
    if code == NULL:
        return "None"
    if code == MISSING:
        return "<not given>"
    if code == HANDLE:
        return f"<handle {first:#x}>"
    if code == TYPE:
        return dtype_text(*read(address, "BBH"))
    if code == CONTEXT:
        return context_text(*read(address, "ii"))
    if code in (DL_TENSOR, READ_ONLY_ARRAY, BORROWED_ARRAY):
        return f"<borrowed {tensor_at(first)}>"
    if code == KEYWORD:
        return f"<keyword {text_at(first, second)}>"
    if code == ENUM:
        return f"<member {read(address, 'q')[0]} of the enum of type {second}>"
    if code in (STR, BYTES):
        return text_at(first, second, code == BYTES)
    if code in (INT_TUPLE, INT_LIST):
        return ints_at(first, second, "()" if code == INT_TUPLE else "[]")
    if code in (TUPLE, LIST):
        return anys_at(first, second, "()" if code == TUPLE else "[]", depth)
    if code == DICT:
        return pairs_at(first, second, "{}", depth)
    if code in OBJECT_CODES:
        return object_at(first, depth)
    return f"<type code {code}, {first:#x}>"


def any_at(address: int, depth: int = 0) -> str:
    """An MXNetAny."""
    return value_at(address, read(address + 16, "i")[0], depth)


def object_at(address: int, depth: int = 0) -> str:
    """What an MXNetObject* points to."""
    if address == 0:
        return "<no object>"
    references, kind = read(address, "iI")
    body = address + HEADER
    if kind == ARRAY:
        return f"<NDArray {tensor_at(body)}, {references} references>"
    if kind in BRACKETS or kind in (STRING, BYTES_OBJECT, SHAPE):
        start, size = read(body, "QQ")
        if kind in (STRING, BYTES_OBJECT):
            return text_at(start, size, kind == BYTES_OBJECT)
        if kind == SHAPE:
            return ints_at(start, size, "Shape()")
        if kind in (MAP, MUTABLE_MAP):
            return pairs_at(start, size, BRACKETS[kind], depth)
        return anys_at(start, size, BRACKETS[kind], depth)
    if kind == FUNCTION:
        return f"<function at {address:#x}, {references} references>"
    if kind == OPAQUE:
        return f"<front-end object {read(body, 'Q')[0]:#x}, {references} references>"
    return f"<object of type {kind} at {address:#x}, {references} references>"


def arguments_of(args: Any) -> str:
    """An MXNetArgs."""
    values, codes = int(args["values"]), int(args["type_codes"])
    return enclosed(
        "()",
        int(args["num_args"]),
        lambda i: value_at(values + 16 * i, read(codes + 4 * i, "i")[0]),
    )


def address_of(value: Any) -> int:
    if value.address is None:
        raise gdb.GdbError("the value is not in memory")
    return int(value.address)


def reference_text(value: Any) -> str:
    """An ObjectRef, which is one pointer, or a class derived from it that adds nothing."""
    return object_at(read(address_of(value), "Q")[0])


def ref_text(value: Any) -> str:
    """A Ref<T>, whose T no layout of the ABI tells of."""
    address = read(address_of(value), "Q")[0]
    if address == 0:
        return "<no object>"
    name = value.type.strip_typedefs().template_argument(0)
    return f"<{name} at {int(value['value_']):#x}, {read(address, 'i')[0]} references>"


def error_text(value: Any) -> str:
    """An Error, by the debug information of its class."""
    shared = value["content_"]["ptr_"]
    if int(shared) == 0:
        return "<no error>"
    content = shared.cast(gdb.lookup_type("mxnet::runtime::Error::Content").pointer())
    return f"<Error {content['kind'].format_string()}: {content['message'].format_string()}>"


def is_reference(type_: Any) -> bool:
    """Whether a class is ObjectRef or derived from it."""
    if type_.name == "mxnet::runtime::ObjectRef":
        return True
    return any(
        field.is_base_class and is_reference(field.type.strip_typedefs())
        for field in type_.fields()
    )


PRINTERS: dict[str, Callable[[Any], str]] = {
    "MXNetAny": lambda value: any_at(address_of(value)),
    "MXNetObject": lambda value: object_at(address_of(value)),
    "DLTensor": lambda value: tensor_at(address_of(value)),
    "DLDataType": lambda value: dtype_text(*read(address_of(value), "BBH")),
    "DLDevice": lambda value: context_text(*read(address_of(value), "ii")),
    "mxnet::runtime::Any": lambda value: any_at(address_of(value)),
    "mxnet::runtime::MXNetRetValue": lambda value: any_at(address_of(value)),
    "mxnet::runtime::MXNetArgs": arguments_of,
    "mxnet::runtime::FunctionView": reference_text,
    "mxnet::runtime::Error": error_text,
}
PRINTERS.update(
    dict.fromkeys(
        (f"MXNet{kind}Object" for kind in ("Bytes", "Shape", "Seq", "Map", "Opaque", "NDArray")),
        PRINTERS["MXNetObject"],
    )
)


class Printer:
    """What gdb asks for the text of one value."""

    def __init__(self, value: Any, text: Callable[[Any], str]) -> None:
        self._value, self._text = value, text

    def to_string(self) -> str:
        try:
            return self._text(self._value)
        except gdb.MemoryError as error:
            return f"<not readable: {error}>"


def printer_of(value: Any) -> Printer | None:
    """The printer of a value, None where gdb's own has to do."""
    type_ = value.type
    if type_.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
        type_ = value.type
    for name in _names(type_):
        if name in PRINTERS:
            return Printer(value, PRINTERS[name])
    plain = type_.unqualified().strip_typedefs()
    if (plain.name or "").startswith("mxnet::runtime::Ref<"):
        return Printer(value, ref_text)
    if plain.code == gdb.TYPE_CODE_STRUCT and plain.sizeof == 8 and is_reference(plain):
        return Printer(value, reference_text)
    return None


def _names(type_: Any) -> Iterator[str]:
    for each in (type_.unqualified(), type_.unqualified().strip_typedefs().unqualified()):
        if each.name:
            yield each.name


class ValueFunction(gdb.Function):  # type: ignore[misc]
    """$mxnet(value, code): the text of an MXNetValue with its type code."""

    def __init__(self) -> None:
        super().__init__("mxnet")

    def invoke(self, value: Any, code: Any) -> str:
        return value_at(address_of(value), int(code))


class ObjectFunction(gdb.Function):  # type: ignore[misc]
    """$mxnet_object(handle): the text of what a handle stands for."""

    def __init__(self) -> None:
        super().__init__("mxnet_object")

    def invoke(self, handle: Any) -> str:
        return object_at(int(handle))


gdb.pretty_printers.append(printer_of)
ValueFunction()
ObjectFunction()
