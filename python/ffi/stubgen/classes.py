"""Registered C++ classes as the class statements of a stub."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from .._backend import core
from ..description import FunctionInfo
from ..enums import type_key
from .expressions import Expressions
from .functions import docstring, parameters

_FIRST_INDEX = 64  # kMXNetObjectDynamic
# Defined by ffi.Object itself, so not repeated in the stub of a class.
_HIDDEN = ("__copy__", "__ffi_getstate__", "__ffi_setstate__", "__hash__")
_COMPARISONS = ("__eq__", "__ne__")


def list_class_keys() -> list[str]:
    """Keys of all classes that C++ registered, each after its base."""
    found: dict[int, dict[str, Any]] = {}
    for index in count(_FIRST_INDEX):
        if type_key(index) is None:
            break
        info = core.class_info(index)
        if info is not None:
            found[index] = info
    keys: list[str] = []

    def add(info: dict[str, Any]) -> None:
        if info["base_index"] in found:
            add(found[info["base_index"]])
        if info["key"] not in keys:
            keys.append(info["key"])

    for info in found.values():
        add(info)
    return keys


def class_stub(key: str, expressions: Expressions) -> Iterator[str]:
    """The statements that declare a class."""
    info = core.class_info(key)
    assert info is not None
    base = type_key(info["base_index"]) if info["base_index"] else None
    yield f"class {key.rpartition('.')[2]}({expressions.rewrite(base or 'ffi.Object')}):"
    yield from docstring(info["doc"] or key)
    for field in info["fields"]:
        value = expressions.rewrite(field.type)
        if field.read_only:
            yield "    @property"
            yield f"    def {field.name}(self) -> {value}: ..."
        else:
            yield f"    {field.name}: {value}"
    for name, function, is_static in info["methods"]:
        if name not in _HIDDEN:
            yield from _method(name, function.info, is_static, expressions)


def _method(
    name: str, info: FunctionInfo, is_static: bool, expressions: Expressions
) -> Iterator[str]:
    if name in _COMPARISONS:
        yield f"    def {name}(self, other: object, /) -> bool: ..."
        return
    is_init = name == "__init__"
    own = parameters(info, expressions, skip=0 if is_static else 1)
    shown = own if is_static and not is_init else ", ".join(["self", *([own] if own else [])])
    if is_static and not is_init:
        yield "    @staticmethod"
    result = "None" if is_init else expressions.rewrite(info.returns)
    head = f"    def {name}({shown}) -> {result}:"
    if info.doc:
        yield head
        yield from docstring(info.doc, indent=" " * 8)
    else:
        yield f"{head} ..."
