"""Which argument goes to which parameter."""

from __future__ import annotations

from ..description import ARRAY_LIKE
from .abi import PARAM_FRONT_END, PARAM_VARIADIC
from .arguments import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Parameters:
    """The parameters of a function by position, for keyword calls and for messages.

    `raw` is what Function._raw_info() returns.
    """

    def __init__(self, raw: dict[str, Any]) -> None:
        self.name: str = raw["name"]
        params = raw["params"]
        named = [param for param in params if not param[3] & PARAM_VARIADIC]
        self._variadic = next((p[0] for p in params if p[3] & PARAM_VARIADIC), None)
        self._shown: list[str] = [param[0] for param in named]
        body = [param for param in named if not param[3] & PARAM_FRONT_END]
        self._body: list[str] = [param[0] for param in body]
        self._arrays = {i for i, param in enumerate(body) if ARRAY_LIKE in (param[1] or "")}
        self._front = {i: p[4] for i, p in enumerate(named) if p[3] & PARAM_FRONT_END}

    def takes_array(self, index: int) -> bool:
        """Whether a NumPy scalar at this position is an array, and keeps its element type."""
        return index in self._arrays

    def where(self, index: int) -> str:
        """What messages call the argument at a position of the body's."""
        param = self._body[index] if index < len(self._body) else self._variadic
        text = f"{self.name}: argument {index}"
        return text if param is None else f"{text} ({param!r})"

    def body_arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], front_end: bool
    ) -> tuple[Any, ...]:
        """The arguments as the body takes them, MISSING in gaps.

        Raises TypeError for a keyword that is unknown or given twice, NotImplementedError for an
        argument of the front end's alone that is not its default.
        """
        names = self._shown if front_end else self._body
        bound = self._bind(args, kwargs, names)
        if front_end:
            bound = self._without_front_end(bound)
        while bound and bound[-1] is MISSING:
            bound.pop()
        return tuple(bound)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> list[Any]:
        bound = list(args)
        if kwargs and not (names or self._variadic):
            raise TypeError(f"{self.name}: takes no keyword arguments")
        for name, value in kwargs.items():
            if name not in names:
                all_names = names if self._variadic is None else [*names, self._variadic]
                raise TypeError(
                    f"{self.name}: unexpected keyword argument {name!r}; "
                    f"its parameters are {', '.join(all_names)}"
                )
            index = names.index(name)
            if index < len(args):
                raise TypeError(
                    f"{self.name}: argument {index} ({name!r}) was given by position and by keyword"
                )
            bound += [MISSING] * (index + 1 - len(bound))
            bound[index] = value
        return bound

    def _without_front_end(self, bound: list[Any]) -> list[Any]:
        for index, default in self._front.items():
            if index < len(bound) and not _is_default(bound[index], default):
                raise NotImplementedError(
                    f"{self.name}: argument {index} ({self._shown[index]!r}) "
                    f"supports only {default!r}, got {bound[index]!r}"
                )
        return [value for index, value in enumerate(bound) if index not in self._front]


def _is_default(value: Any, default: Any) -> bool:
    if value is MISSING or value is default:
        return True
    return isinstance(value, type(default)) and bool(value == default)
