"""The global registry: looking functions up, adding and removing them."""

from __future__ import annotations

import sys

from . import handed_down, protocols, python_function
from ._backend import core
from .following import Following, announce, watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, TypeVar, overload

    F = TypeVar("F", bound=Callable[..., Any])


def _checked(name: object, function: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{function}: argument 0 ('name') expected str, got {type(name).__name__}")
    if "\0" in name:
        raise ValueError(f"{function}: argument 0 ('name') contains a NUL character: {name!r}")
    return name


if TYPE_CHECKING:

    @overload
    def get_global_func(name: str, allow_missing: Literal[False] = False) -> core.Function: ...
    @overload
    def get_global_func(name: str, allow_missing: bool) -> core.Function | None: ...


def get_global_func(name: str, allow_missing: bool = False) -> core.Function | None:
    """The function registered under a name.

    Where nothing is registered under it, returns None if allow_missing, else raises KeyError.
    """
    function = core.get_global(_checked(name, "get_global_func"))
    if function is None and not allow_missing:
        raise KeyError(f"no function is registered as {name!r}")
    return function


handed_down.find_function = get_global_func

if TYPE_CHECKING:

    @overload
    def register_func(name: F, /) -> F: ...
    @overload
    def register_func(name: str, f: F, override: bool = False) -> F: ...
    @overload
    def register_func(
        name: str | None = None, f: None = None, override: bool = False
    ) -> Callable[[F], F]: ...


def register_func(
    name: str | Callable[..., Any] | None = None,
    f: Callable[..., Any] | None = None,
    override: bool = False,
) -> Any:
    """Registers a callable, so that C++ and everybody else can call it by name.

    `register_func("name", f)` registers f, and so does the decorator `@register_func("name")`;
    `@register_func` takes the function's own name. Returns f itself. A plain function's description
    comes from its signature and docstring.

    Raises ValueError where the name is taken and override is false, TypeError where f is not
    callable.
    """
    if callable(name):
        return _register(name.__name__, name, override)
    if f is not None:
        return _register(name, f, override)
    return lambda function: _register(
        getattr(function, "__name__", None) if name is None else name, function, override
    )


def _register(name: object, function: Callable[..., Any], override: bool) -> Callable[..., Any]:
    checked = _checked(name, "register_func")
    if not callable(function):
        raise TypeError(
            f"register_func: argument 1 ('f') expected a callable, got {type(function).__name__}"
        )
    core.register_global(checked, _function_of(function, checked), bool(override))
    announce((checked,))
    return function


def _function_of(function: Callable[..., Any], name: str) -> core.Function:
    if isinstance(function, core.Function):
        return function
    body = python_function.by_position(function)
    return core.convert_function(body, name, python_function.raw_info(function, name))


def remove_global_func(name: str) -> None:
    """Removes a name; calls under way go on. Raises KeyError where it is not registered."""
    core.remove_global(_checked(name, "remove_global_func"))
    announce((name,))


def list_global_func_names() -> list[str]:
    """All registered names, sorted."""
    return core.list_global_names()


def convert(value: Any) -> Any:
    """What C++ would keep of an argument, as an object that Python can keep too.

    A callable becomes a Function, a list an Array, a dict a Map, a foreign array an NDArray that
    shares its memory; text, numbers and tuples stay as they are.
    """
    if isinstance(value, core.ObjectBase):
        return value
    if callable(value) and not isinstance(value, type):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        return _function_of(value, name)
    return _own(value)


_own = get_global_func("ffi.convert").returning(core.NDArray)


def _init_api(prefix: str, module_name: str) -> None:
    """Gives a module every function registered as `prefix.x` as its attribute x.

    Those that exist are set at once, others when they are registered, and an attribute goes with
    its function. What the module has from elsewhere stays, and what Python gives a meaning of its
    own, as `__name__`, is never set.
    """
    module = sys.modules.get(module_name)
    if module is None:
        from importlib import import_module

        module = import_module(module_name)
    start = len(prefix) + 1
    attributes = Following(vars(module), lambda name: core.get_global(f"{prefix}.{name}"))

    def changed(full_name: str) -> None:
        name = full_name[start:]
        if "." not in name and not (name.startswith("__") and name.endswith("__")):
            attributes.renew((name,))

    watch(prefix + ".", changed)
    for name in core.list_global_names():
        if name.startswith(prefix + "."):
            changed(name)


def restore_function(name: str, front_end: bool, returned: Any = None) -> core.Function:
    """The function that a pickle names. KeyError where nothing is registered under the name."""
    function = get_global_func(name)
    function = function.front_end() if front_end else function
    return function if returned is None else function.returning(returned)


def reduction(function: core.Function) -> str | tuple[Any, ...]:
    """What a pickle holds of a function: its name in a module, or its name in the registry.

    Raises TypeError where it is not what is registered under its name.
    """
    if function.__module__ != "ffi":
        return function.__name__
    registered = core.get_global(function.name)
    if registered is None or not registered.same_as(function):
        raise TypeError(f"cannot pickle {function!r}: it is not registered under its name")
    return restore_function, (function.name, function.is_front_end, function.returned_class)


handed_down.reduction = reduction

# Messages of C++ name a callable of Python by this, since the function made of it has no name.
_NAMER = "ffi.callable_name"
core.register_global(_NAMER, core.convert_function(protocols.callable_name, _NAMER), True)
_KIND = "ffi.callable_kind"
core.register_global(_KIND, core.convert_function(protocols.callable_kind, _KIND), True)
