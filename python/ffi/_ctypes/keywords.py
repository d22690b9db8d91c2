"""Which argument goes to which parameter."""

from __future__ import annotations

from .. import description
from .._parameters import PARAM_FRONT_END, PARAM_KEYWORD_ONLY, PARAM_VARIADIC, ROLE_ARRAY
from .arguments import MISSING, Keyword

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Parameters:
    """The parameters of a function by position, for keyword calls and for messages.

    `raw` is what Function._raw_info() returns.
    """

    def __init__(self, raw: dict[str, Any]) -> None:
        self._raw = raw
        self.name: str = raw["name"]
        params = raw["params"]
        named = [param for param in params if not param[3] & PARAM_VARIADIC]
        self._variadic = next((p[0] for p in params if p[3] & PARAM_VARIADIC), None)
        self._shown: list[str] = [param[0] for param in named]
        body = [param for param in named if not param[3] & PARAM_FRONT_END]
        self._body: list[str] = [param[0] for param in body]
        arrays = {p[0] for p, role in zip(params, raw["roles"], strict=True) if role == ROLE_ARRAY}
        self._arrays = {i for i, name in enumerate(self._body) if name in arrays}
        self._further_are_arrays = self._variadic in arrays
        by_name = [i for i, param in enumerate(named) if param[3] & PARAM_KEYWORD_ONLY]
        # How many visible parameters are positional, where others are keyword-only.
        self.by_position: int | None = by_name[0] if by_name else None
        self._is_method = bool(raw.get("is_method"))
        self._is_overloaded = bool(raw.get("overloads"))
        self._front = {i: p[4] for i, p in enumerate(named) if p[3] & PARAM_FRONT_END}

    def takes_array(self, index: int) -> bool:
        """Whether a NumPy scalar at this position is an array, and keeps its element type."""
        return index in self._arrays or (self._further_are_arrays and index >= len(self._body))

    def where(self, index: int) -> str:
        """What messages call the argument at a position of the body's."""
        param = self._body[index] if index < len(self._body) else self._variadic
        return f"{self.name}: {self._argument(index, param)}"

    def _argument(self, index: int, name: str | None) -> str:
        """The object of a method is not given as an argument, so that it is not counted."""
        text = f"argument {index}"
        if self._is_method:
            text = f"argument {index - 1}" if index else "argument"
        return text if name is None else f"{text} ({name!r})"

    def body_arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], front_end: bool
    ) -> tuple[Any, ...]:
        """The arguments as the body takes them, MISSING in gaps.

        Raises TypeError for a keyword that is unknown or given twice, NotImplementedError for an
        argument of the front end's alone that is not its default.
        """
        if self._is_overloaded:
            return args + tuple(part for k, v in kwargs.items() for part in (Keyword(k), v))
        names = self._shown if front_end else self._body
        args, rest = self._by_position(args, front_end)
        bound = self._bind(args, kwargs, names)
        if front_end:
            bound = self._without_front_end(bound)
        if rest:
            bound += [MISSING] * (len(self._body) - len(bound))
        while not rest and bound and bound[-1] is MISSING:
            bound.pop()
        return (*bound, *rest)

    def _by_position(
        self, args: tuple[Any, ...], front_end: bool
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The arguments of named parameters, and those behind the ones taken by name only."""
        count = self.by_position
        if count is None:
            return args, ()
        if not front_end:
            count -= sum(index < count for index in self._front)
        if len(args) > count and self._variadic is None:
            raise TypeError(
                f"{self.name}: takes at most {count} arguments by position, got {len(args)}"
            )
        return args[:count], args[count:]

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> list[Any]:
        bound = list(args)
        # The object of a method is not given by name.
        shown = [*names[self._is_method :], *([self._variadic] if self._variadic else [])]
        if kwargs and not shown:
            raise TypeError(f"{self.name}: takes no keyword arguments")
        for name, value in kwargs.items():
            if name not in names:
                if name == self._variadic:
                    raise TypeError(
                        f"{self.name}: takes {name!r} by position only: as many arguments as there "
                        "are, after all others"
                    )
                raise TypeError(
                    f"{self.name}: unexpected keyword argument {name!r}; "
                    f"its parameters are {', '.join(shown)}"
                )
            index = names.index(name)
            if index < len(args):
                raise TypeError(
                    f"{self.name}: {self._argument(index, name)} was given by position and by "
                    "keyword"
                )
            bound += [MISSING] * (index + 1 - len(bound))
            bound[index] = value
        return bound

    def _without_front_end(self, bound: list[Any]) -> list[Any]:
        takes_anything = self._variadic is not None or not self._raw["described"]
        if len(bound) > len(self._shown) and not takes_anything:
            # The body counts its own parameters, which are fewer.
            raise TypeError(description.too_many(self._raw, len(bound)))
        for index, default in self._front.items():
            if index < len(bound) and not _is_default(bound[index], default):
                raise NotImplementedError(
                    f"{self.name}: {self._argument(index, self._shown[index])} "
                    f"supports only {default!r}, got {bound[index]!r}"
                )
        return [value for index, value in enumerate(bound) if index not in self._front]


def _is_default(value: Any, default: Any) -> bool:
    if value is MISSING or value is default:
        return True
    return isinstance(value, type(default)) and bool(value == default)
