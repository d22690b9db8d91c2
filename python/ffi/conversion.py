"""How other types become arguments: converters, and objects that C++ passes on unchanged."""

from __future__ import annotations

from ._backend import core
from .registry import get_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[[Any], Any])


# kMXNetObjectOpaque
_OPAQUE_INDEX = 9
_own = get_global_func("ffi.convert")


class Opaque(core.ObjectBase):
    """Carries a value of Python through C++ unchanged; made by `ffi.opaque`.

    C++ sees an object of type "ffi.Opaque" that it can keep and hand on, and Python receives the
    very value wherever that comes out: as a result, in a container, as argument of a callback.
    """

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The value itself."""
        return _own(self)

    def __repr__(self) -> str:
        return f"ffi.opaque({self.value!r})"


def opaque(value: Any) -> Opaque:
    """Wraps any value as one argument that C++ passes on without looking inside.

    A class whose instances shall always travel so sets `__ffi_opaque__ = True` instead.
    """
    made = core.make_opaque(value)
    assert isinstance(made, Opaque)
    return made


def register_converter(cls: type, function: Callable[[Any], Any] | None = None) -> Any:
    """Makes instances of a class, and of classes derived from it, convert by a function.

    `function(instance)` returns anything that converts, which may itself need a converter. For
    classes that cannot be given a method `__ffi_convert__(self)`, which does the same. Of several
    rules that of the nearest base class counts; a later registration replaces an earlier one. Works
    as a decorator where function is left out; returns the function.

    Raises TypeError where cls is no class or one whose conversion is fixed, such as int, or where
    function is not callable.
    """
    if function is None:

        def register(function: F) -> F:
            core.register_converter(cls, function)
            return function

        return register
    core.register_converter(cls, function)
    return function


core.register_object(_OPAQUE_INDEX, Opaque)
