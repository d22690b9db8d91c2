"""Objects as text that is the same in each process: their values, and the code that uses them."""

from __future__ import annotations

import builtins
import functools
import hashlib
import operator
import weakref
from abc import ABC, ABCMeta
from collections import OrderedDict, deque
from enum import Enum, EnumMeta
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Generic, Protocol

import numpy
import torch

from . import _known
from ._code import (
    DYNAMIC,
    NotDescribedError,
    all_codes,
    calls_own_class,
    globals_read,
    only_compares,
    text_of,
)
from ._text import Text

_ATOMS = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
_CONTAINERS = (list, tuple, dict, OrderedDict, set, frozenset, deque, torch.Size)
_METACLASSES = (type, ABCMeta, EnumMeta, type(Protocol), type(torch.nn.Parameter))
_BASES = (object, ABC, Generic, Protocol, Enum)
# Of a class, what neither computes nor is looked up in a call.
_OF_CLASSES = frozenset(
    (
        "__module__ __qualname__ __doc__ __dict__ __weakref__ __annotations__ __parameters__"
        " __orig_bases__ __abstractmethods__ _abc_impl __static_attributes__ __firstlineno__"
        " __dataclass_fields__ __dataclass_params__ __match_args__ __annotate__ __annotate_func__"
        " __annotations_cache__ __classdictcell__ __protocol_attrs__ _is_protocol"
    ).split()
)
_OF_C = (
    GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType,
)  # fmt: skip
# What reads attributes by names that are values, and what makes objects of a class.
_READING = (operator.attrgetter, operator.methodcaller)
_MAKING = ("__init__", "__new__")
# Methods that are called only where code names them, unlike others of such names.
_BY_NAME = frozenset(
    (
        "__init__ __new__ __dir__ __del__ __setstate__ __getstate__ __reduce__ __reduce_ex__"
        " __copy__ __deepcopy__"
    ).split()
)


class Description(Text):
    """Describes objects. Each method adds to the text, or raises NotDescribedError.

    Attributes whose values are no plain ones are described once code that is described names them.
    """

    # -- values --

    def attribute(self, owner: str, name: str, value: Any, used: str = "") -> None:
        """One attribute of an object; `used` is what `use` is called with instead of its name."""

        def describe() -> None:
            self.add("attribute", owner, name)
            self.value(value, f"{owner}.{name}")

        if type(value) in _ATOMS:
            describe()
        else:
            self.when_used(used or name, describe)

    def value(self, value: Any, where: str) -> None:
        """Any object; `where` is what it is called in errors."""
        kind: Any = type(value)
        if kind in _ATOMS:
            self.add(kind.__name__, value)
        elif kind in _CONTAINERS:
            self._container(value, where)
        elif isinstance(value, FunctionType):
            self._function(value, where)
        elif isinstance(value, type):
            self._class(value, where, is_called=True)
        elif isinstance(value, BuiltinFunctionType) and _known.is_known_builtin(value):
            self.add("known", value.__module__, value.__qualname__)
            if value.__name__ in DYNAMIC:
                self.use_all()
        elif _known.is_known_object(value):
            self.add("known", kind.__name__, str(value))
        elif not self._of_parts(value, where) and not self._special(value, where):
            raise NotDescribedError(f"{where} is {_text(value)}")

    def _special(self, value: Any, where: str) -> bool:
        kind: Any = type(value)
        if kind in (slice, range):
            parts = (value.start, value.stop, value.step)
            self.value(parts, where)
        elif isinstance(value, (numpy.ndarray, numpy.generic)):
            array = numpy.asarray(value)
            if array.dtype.hasobject or kind not in (numpy.ndarray, array.dtype.type):
                return False
            content = hashlib.sha256(array.tobytes()).hexdigest()
            self.add(kind.__name__, array.dtype.str, array.shape, array.strides, content)
        elif isinstance(value, Enum):
            self._class(kind, where, is_called=False)
            self.add("member", value.name)
            self.value(value.value, where)
        elif kind is weakref.ReferenceType:
            self.value(value(), where)
        elif _known.is_context(value):
            self.add("context", kind.__name__)
            self.value(vars(value), where)
        else:
            return self._instance(value, where)
        return True

    def _of_parts(self, value: Any, where: str) -> bool:
        """Describes what holds other objects in attributes of known names."""
        kind: Any = type(value)
        if kind not in _PARTS:
            return False
        self.add(kind.__name__)
        for name in _PARTS[kind]:
            self.value(getattr(value, name), where)
        return True

    def _container(self, value: Any, where: str) -> None:
        kind = type(value)
        self.add(kind.__name__, len(value))
        if kind not in (tuple, frozenset, torch.Size) and not self.is_new(value):
            return
        if isinstance(value, dict):
            for key, one in value.items():
                self.value(key, where)
                self.value(one, where)
        elif isinstance(value, (set, frozenset)):
            if not all(type(one) in _ATOMS for one in value):
                raise NotDescribedError(f"{where} is a set of objects")
            self.add(sorted((type(one).__name__, repr(one)) for one in value))
        else:
            for one in value:
                self.value(one, where)

    def _instance(self, value: Any, where: str) -> bool:
        """An object of a class that is written in Python and has its attributes in `__dict__`."""
        kind = type(value)
        bases = [one for one in kind.__mro__ if one not in _BASES]
        if isinstance(value, (torch.nn.Module, torch.Tensor, ModuleType)) or not bases:
            return False
        if not all(_is_plain_class(one) for one in bases) or not hasattr(value, "__dict__"):
            return False
        self._class(kind, where, is_called=False)
        if self.is_new(value):
            for name, one in vars(value).items():
                self.attribute(where, name, one)
        return True

    # -- code --

    def _class(self, cls: Any, where: str, is_called: bool) -> None:
        """A class; `is_called` is whether code may make objects of it."""
        self.add("class", cls.__module__, cls.__qualname__)
        if is_called and cls in _READING:
            self.use_all()
        if is_called and cls is type:
            self.use(_MAKING)
        if cls in _BASES or (_known.is_known_type(cls) and not _known.is_module_of_torch(cls)):
            return
        if type(cls) not in _METACLASSES:
            raise NotDescribedError(f"{where} is a class of the metaclass {type(cls).__name__}")
        is_of_torch = _known.is_module_of_torch(cls)
        if is_called:
            self.use(f"{id(one)}" for one in cls.__mro__)
        if not self.is_new(cls):
            return
        for base in cls.__bases__:
            self._class(base, where, is_called=False)
        if not is_of_torch and not _is_plain_class(cls):
            raise NotDescribedError(f"{where} is an object or class of {cls.__qualname__}")
        if issubclass(cls, Enum):
            self.value({name: one.value for name, one in cls.__members__.items()}, where)
        # What torch may call although no code names it.
        replaced = {
            name for base in cls.__mro__ if _known.is_module_of_torch(base) for name in vars(base)
        }
        for name, value in vars(cls).items():
            if name in _OF_CLASSES:
                continue
            owner = f"{cls.__module__}.{cls.__qualname__}"
            needed = _is_special(name) or (name in replaced and not is_of_torch)
            if needed and name not in _BY_NAME:
                self.add("method", owner, name)
                self.value(value, f"{owner}.{name}")
                continue
            self.attribute(owner, name, value)
            if name in _MAKING:  # where code makes objects of this class
                self.attribute(owner, name, value, f"{id(cls)}")

    def _function(self, function: FunctionType, where: str) -> None:
        self.add("function", function.__module__, function.__qualname__, function.__name__)
        if not self.is_new(function):
            return
        self.value(function.__defaults__, where)
        self.value(function.__kwdefaults__, where)
        code = function.__code__
        is_known = _known.is_known_function(function)
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            try:
                content = cell.cell_contents
            except ValueError:
                self.add("empty", name)
                continue
            if name == "__class__" and isinstance(content, type):
                called = not is_known and any(map(calls_own_class, all_codes(code)))
                self._class(content, where, is_called=called)
            else:
                self.value(content, f"{where}: {name}")
        if is_known:
            for name, original in _known.original_names(function, self._checked):
                self.add("original", name, original)
                self.use((name,))
            return
        for name, value in vars(function).items():
            self.attribute(where, name, value)
        self._code(code, function, where)

    def _code(self, code: CodeType, function: FunctionType, where: str) -> None:
        named = function.__globals__.get("__builtins__", builtins)
        own = named.__dict__ if isinstance(named, ModuleType) else named
        for one in all_codes(code):
            self.add("code", text_of(one))
            for constant in one.co_consts:
                if not isinstance(constant, CodeType):
                    self.value(constant, where)
            if not DYNAMIC.isdisjoint(one.co_names):
                self.use_all()
            if not {"type", "__class__"}.isdisjoint(one.co_names) and not only_compares(one):
                self.use(_MAKING)
            self.use(one.co_names)
            try:
                found = list(globals_read(one, function.__globals__, own))
            except NotDescribedError as error:
                raise NotDescribedError(f"{where} {error}") from None
            for path, value in found:
                self.add("global", path)
                self.value(value, f"{where}: {path}")


_PARTS: dict[Any, tuple[str, ...]] = {
    MethodType: ("__func__", "__self__"),
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    functools.partial: ("func", "args", "keywords"),
    functools.cached_property: ("func",),
}


def _is_plain_class(cls: Any) -> bool:
    """Whether a class is written in Python, and adds no memory of its own to objects."""
    is_heap = bool(cls.__flags__ & (1 << 9))  # Py_TPFLAGS_HEAPTYPE
    return is_heap and not any(
        isinstance(value, _OF_C) for name, value in vars(cls).items() if name not in _OF_CLASSES
    )


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _text(value: Any) -> str:
    kind = type(value)
    name = getattr(value, "__qualname__", None)
    told = f"{getattr(value, '__module__', '')}.{name}" if isinstance(name, str) else ""
    return told or f"an object of {kind.__module__}.{kind.__qualname__}"
