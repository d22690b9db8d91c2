"""Classes of C++ as classes of Python."""

from __future__ import annotations

import reprlib
import sys

from . import description
from ._backend import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    C = TypeVar("C", bound=type[Any])

# Binary operators: where C++ rejects the other operand, Python asks that one's own method.
_ARITHMETIC = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or".split()
_OPERATORS = frozenset(f"__{kind}{name}__" for name in _ARITHMETIC for kind in ("", "r", "i"))
# With objects of other classes they return NotImplemented, without a call.
_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")


class _Signature:
    """`__signature__` of a class whose __init__ is of C++; for others inspect finds it."""

    def __get__(self, instance: object, owner: Any) -> Any:
        if instance is not None or owner.__init__ is not Object.__init__ or not owner.__ffi_init__:
            raise AttributeError("__signature__")
        return description.signature(owner.__ffi_init__)


class Object(core.ObjectBase):
    """Base of the classes of C++ objects; see get_class and register_class."""

    __slots__ = ()
    __signature__ = _Signature()
    # From the description of the C++ class; set on each subclass.
    __ffi_key__: str
    __ffi_fields__: tuple[core.Field, ...] = ()
    __ffi_init__: core.Function | None = None
    __ffi_copy__: core.Function | None = None
    __ffi_getstate__: core.Function | None = None
    __ffi_setstate__: core.Function | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        init = type(self).__ffi_init__
        if init is None:
            raise TypeError(f"objects of class {type(self).__qualname__} are made by C++ only")
        core.adopt(self, init(*args, **kwargs))

    @reprlib.recursive_repr("...")
    def __repr__(self) -> str:
        name = type(self).__qualname__
        if not self.handle:
            return f"<{name} that holds no object>"
        values = [f"{field}={getattr(self, field)!r}" for field in _fields_of(type(self))]
        return f"{name}({', '.join(values)})" if values else f"<{name} at {self.handle:#x}>"

    def __copy__(self) -> Any:
        copy_value = type(self).__ffi_copy__
        if copy_value is None:
            restore, arguments, state = self.__reduce__()
            copied = restore(*arguments)
            copied.__setstate__(state)
            return copied
        copied = _hold(type(self), copy_value(self))
        if hasattr(self, "__dict__"):
            copied.__dict__.update(self.__dict__)
        return copied

    def __reduce__(self) -> Any:
        cls = type(self)
        own = _own_class(cls)
        # Pickled by key where the class cannot be imported under its name.
        named = cls if cls is not own or _is_importable(cls) else own.__ffi_key__
        attributes = dict(getattr(self, "__dict__", ()))
        if cls.__ffi_getstate__ is not None:
            return _restore, (named, cls.__ffi_getstate__(self)), ((), attributes)
        arguments, others = _restorable_fields(cls)
        given = {name: getattr(self, name) for name in arguments}
        state = {name: getattr(self, name) for name in others}
        return _restore, (named, given), (state, attributes)

    def __setstate__(self, state: Any) -> None:
        fields, attributes = state
        for name in fields:
            setattr(self, name, fields[name])
        if attributes:
            self.__dict__.update(attributes)


def _restore(named: Any, state: Any) -> Any:
    """Unpickles: a new object from a state, or from arguments of __init__."""
    cls = get_class(named) if isinstance(named, str) else named
    if cls.__ffi_setstate__ is not None:
        return _hold(cls, cls.__ffi_setstate__(state))
    return _hold(cls, cls.__ffi_init__(**state))


def _hold(cls: Any, made: core.ObjectBase) -> Any:
    """An instance of cls that holds a new object; __init__ is not called."""
    instance = cls.__new__(cls)
    core.adopt(instance, made)
    return instance


def _own_class(cls: type) -> Any:
    """The base of cls that stands for the C++ class itself; users may derive further ones."""
    return next(base for base in cls.__mro__ if "__ffi_key__" in base.__dict__)


def _is_importable(cls: type) -> bool:
    return getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls


def _fields_of(cls: type) -> dict[str, core.Field]:
    """The fields of a class, after those of its bases."""
    fields: dict[str, core.Field] = {}
    for base in reversed(cls.__mro__):
        fields.update((field.name, field) for field in base.__dict__.get("__ffi_fields__", ()))
    return fields


def _restorable_fields(cls: Any) -> tuple[list[str], list[str]]:
    """The fields to give to __init__ and those to set; TypeError where that restores no object.

    An object can be restored if it has fields and __init__ takes nothing else. Fields that can be
    set are set afterwards, so that an object may refer to itself; read-only fields that __init__
    does not take are assumed to be computed from the others.
    """
    rejected = f"cannot pickle '{cls.__qualname__}' object: "
    init = cls.__ffi_init__
    if init is None:
        raise TypeError(rejected + "objects of its class are made by C++ only")
    fields = _fields_of(cls)
    if not fields:
        raise TypeError(rejected + "its class shows no state")
    arguments = []
    for parameter in init.info.params:
        if parameter.name in fields:
            if not parameter.optional or fields[parameter.name].read_only:
                arguments.append(parameter.name)
        elif not parameter.optional and not parameter.variadic:
            raise TypeError(f"{rejected}{parameter.name!r}, which it is made of, is not a field")
    others = [name for name in fields if name not in arguments and not fields[name].read_only]
    return arguments, others


def _make_comparison(name: str, function: core.Function, own: type) -> Callable[..., Any]:
    def compare(self: Any, other: Any, /) -> Any:
        return function(self, other) if isinstance(other, own) else NotImplemented

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = function.info.doc
    return compare


def _make_operator(name: str, function: core.Function) -> Callable[..., Any]:
    """A method that returns NotImplemented for an operand that C++ does not take."""
    # The object itself is not counted as an argument.
    rejection = f"{function.name}: argument 0 "

    def operate(self: Any, other: Any, /, *more: Any) -> Any:
        try:
            return function(self, other, *more)
        except TypeError as error:
            if str(error).startswith(rejection):
                return NotImplemented
            raise

    operate.__name__ = operate.__qualname__ = name
    operate.__doc__ = function.info.doc
    return operate


# Names of C++ methods that make an object of their class, and the methods of Object that use them.
_NOT_INHERITED = {
    "__init__": "__ffi_init__",
    "__copy__": "__ffi_copy__",
    "__ffi_getstate__": "__ffi_getstate__",
    "__ffi_setstate__": "__ffi_setstate__",
}


def _members(info: dict[str, Any]) -> dict[str, Any]:
    """The attributes that the class gets; comparisons are added later, as they need the class."""
    members: dict[str, Any] = {field.name: field for field in info["fields"]}
    members |= {"__ffi_key__": info["key"], "__ffi_fields__": tuple(info["fields"])}
    members |= dict.fromkeys(_NOT_INHERITED.values())
    members["__init__"] = Object.__init__
    for name, function, is_static in info["methods"]:
        if name in _NOT_INHERITED:
            members[_NOT_INHERITED[name]] = staticmethod(function)
        elif is_static:
            members[name] = staticmethod(function)
        elif name in _OPERATORS:
            members[name] = _make_operator(name, function)
        elif name not in _COMPARISONS:
            members[name] = function
    return members


def _complete(cls: Any, info: dict[str, Any]) -> None:
    """Adds the members that C++ registered and that the class does not define itself."""
    own = cls.__dict__
    for name, member in _members(info).items():
        if name not in own:
            setattr(cls, name, member)
    comparisons = {name: function for name, function, _ in info["methods"] if name in _COMPARISONS}
    for name, function in comparisons.items():
        if name not in own:
            setattr(cls, name, _make_comparison(name, function, cls))
    if "__eq__" in comparisons and "__hash__" not in own:
        cls.__hash__ = None


# The class of each type index; made on demand.
_classes: dict[int, type[core.ObjectBase]] = {}


def class_of_index(index: int) -> type[core.ObjectBase]:
    """The class of a type index; ObjectBase for types without a description."""
    cls = _classes.get(index)
    if cls is not None:
        return cls
    info = core.class_info(index)
    return core.ObjectBase if info is None else _make_class(info)


def _make_class(info: dict[str, Any]) -> type[core.ObjectBase]:
    module, _, name = info["key"].rpartition(".")
    cls = type(
        name,
        (_base_of(info),),
        {"__slots__": (), "__doc__": info["doc"], "__module__": module or "ffi"},
    )
    _complete(cls, info)
    # The first thread to make the class wins.
    return _classes.setdefault(info["type_index"], cls)


def _base_of(info: dict[str, Any]) -> type[core.ObjectBase]:
    return class_of_index(info["base_index"]) if info["base_index"] else Object


def _info_of(key: object, function: str) -> dict[str, Any]:
    if not isinstance(key, str):
        raise TypeError(f"{function}: argument 0 ('key') expected str, got {type(key).__name__}")
    if "\0" in key:
        raise ValueError(f"{function}: argument 0 ('key') contains a NUL character: {key!r}")
    info = core.class_info(key)
    if info is None:
        raise KeyError(f"no class is registered as {key!r}")
    return info


def get_class(key: str) -> Any:
    """The Python class of a C++ class, by the key under which C++ registered it.

    Its objects are made by calling it, where C++ says how, and are what functions return; the class
    may be derived from. Raises KeyError where nothing is registered under the key.
    """
    return class_of_index(_info_of(key, "get_class")["type_index"])


def index_of(key: str) -> int:
    """The type index of the class that is registered under a key. KeyError where there is none."""
    index: int = _info_of(key, "get_class")["type_index"]
    return index


# Called with the key when register_class replaces a class.
_on_replacement: list[Callable[[str], None]] = []


def on_replacement(told: Callable[[str], None]) -> None:
    """Has `told` called with the key of each class that register_class replaces from now on."""
    _on_replacement.append(told)


def register_class(key: str) -> Callable[[C], C]:
    """Makes the decorated class, derived from Object, the one for objects of a C++ class.

    It gets the fields and methods that C++ registered under the key and that it does not define
    itself. Objects that Python has seen already keep their class.

    Raises KeyError where nothing is registered under the key, TypeError where the class does not
    derive from that of the C++ base class.
    """
    info = _info_of(key, "register_class")

    def decorate(cls: Any) -> Any:
        base = _base_of(info)
        if not (isinstance(cls, type) and issubclass(cls, base)):
            raise TypeError(
                f"register_class: expected a class derived from {base.__qualname__}, got {cls!r}"
            )
        _complete(cls, info)
        if cls.__doc__ is None:
            cls.__doc__ = info["doc"]
        _classes[info["type_index"]] = cls
        core.register_object(info["type_index"], cls)
        for told in _on_replacement:
            told(key)
        return cls

    return decorate


core.set_class_factory(class_of_index)
