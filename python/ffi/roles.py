"""Which parameters of a Python function take arrays, from the types that their annotations are.

An annotation that is text counts as the type that it stands for where the function is defined.
"""

from __future__ import annotations

import sys

from ._parameters import ROLE_ARRAY, ROLE_ARRAYS, ROLE_ATTRIBUTE, ROLES

__all__ = ["ROLES", "role_of"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def role_of(function: Callable[..., Any], name: str) -> int:
    """The MXNetParamRole of a parameter: array, arrays, or attribute for anything else.

    An array is a class with `__dlpack__`, ArrayLike of `numpy.typing` or `ffi.typing`, or a union
    with one of them; arrays are a sequence of those. Raises whatever evaluating an annotation that
    is text raises, NameError where it names what only type checkers import.
    """
    annotation = getattr(function, "__annotations__", {}).get(name)
    if isinstance(annotation, str):
        annotation = eval(annotation, getattr(function, "__globals__", {}))
    # Most are plain classes, for which typing need not be imported.
    if annotation is None or annotation in (bool, int, float, complex, str, bytes):
        return ROLE_ATTRIBUTE
    if _is_array(annotation):
        return ROLE_ARRAY
    return ROLE_ARRAYS if any(map(_is_sequence, _alternatives(annotation))) else ROLE_ATTRIBUTE


def _is_array(annotation: Any) -> bool:
    return any(
        hasattr(_origin(one), "__dlpack__") or one in _numpy_alternatives()
        for one in _alternatives(annotation)
    )


def _is_sequence(annotation: Any) -> bool:
    """Whether it is one of arrays: Sequence[ndarray], tuple[ArrayLike, ...]."""
    from collections.abc import Iterable, Mapping
    from typing import get_args

    origin = _origin(annotation)
    if not isinstance(origin, type) or not issubclass(origin, Iterable):
        return False
    items = [item for item in get_args(annotation) if item is not Ellipsis]
    return bool(items) and not issubclass(origin, Mapping) and all(map(_is_array, items))


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """Those of a union, else the annotation itself; None is none of them."""
    from types import UnionType
    from typing import Annotated, Union, get_args, get_origin

    while type(annotation).__name__ == "TypeAliasType":  # type ArrayLike = ..., since Python 3.12
        annotation = annotation.__value__
    if get_origin(annotation) is Annotated:
        return _alternatives(get_args(annotation)[0])
    if get_origin(annotation) not in (Union, UnionType):
        return (annotation,)
    return tuple(one for one in get_args(annotation) if one is not type(None))


def _numpy_alternatives() -> tuple[Any, ...]:
    """What only ArrayLike of numpy.typing is a union of, among them its own protocols."""
    typing = sys.modules.get("numpy.typing")
    if typing is None:
        return ()
    return tuple(one for one in _alternatives(typing.ArrayLike) if _is_of_numpy(one))


def _is_of_numpy(one: Any) -> bool:
    return getattr(_origin(one), "__module__", "").startswith("numpy.")


def _origin(annotation: Any) -> Any:
    from typing import get_origin

    return get_origin(annotation) or annotation
