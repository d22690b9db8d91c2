"""Which Python class stands for which kind of C++ error."""

from __future__ import annotations

from ._backend import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar, overload

    E = TypeVar("E", bound=type[BaseException])


if TYPE_CHECKING:

    @overload
    def register_error(kind: E) -> E: ...
    @overload
    def register_error(kind: str, cls: E) -> E: ...
    @overload
    def register_error(kind: str, cls: None = None) -> Callable[[E], E]: ...


def register_error(kind: Any, cls: Any = None) -> Any:
    """Maps a kind of C++ errors to a Python class, in both directions.

    `@register_error` takes the class's own name as the kind, `@register_error("Kind")` and
    `register_error("Kind", cls)` name it. Kinds that name a built-in exception are known.

    Raises TypeError where cls is not an exception class. One that cannot be made of a message alone
    comes out as RuntimeError.
    """
    if isinstance(kind, type):
        return _register(kind.__name__, kind)
    if cls is not None:
        return _register(kind, cls)
    return lambda decorated: _register(kind, decorated)


def _register(kind: object, cls: object) -> object:
    if not isinstance(kind, str):
        raise TypeError(
            f"register_error: argument 0 ('kind') expected str, got {type(kind).__name__}"
        )
    if "\0" in kind:
        raise ValueError(f"register_error: argument 0 ('kind') contains a NUL character: {kind!r}")
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise TypeError(
            f"register_error: argument 1 ('cls') expected an exception class, got {cls!r}"
        )
    core.set_error_class(kind, cls)
    return cls
