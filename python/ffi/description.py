"""Parameters, signature and help of a function, from the description it was registered with.

A raw description is a dict: name, doc, returns, file, line, described, release_lock_bytes,
params, a list of tuples (name, type, doc, flags, default), roles, the MXNetParamRole of each,
is_method, and overloads, a list of raw descriptions.
"""

from __future__ import annotations

from ._parameters import (
    PARAM_FRONT_END,
    PARAM_KEYWORD_ONLY,
    PARAM_OPTIONAL,
    PARAM_VARIADIC,
    ROLES,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn, Protocol

    RawParam = tuple[str, str | None, str | None, int, Any]

    class Described(Protocol):
        """The part of Function that this module uses; both paths have it."""

        @property
        def is_front_end(self) -> bool: ...
        def _raw_info(self) -> dict[str, Any]: ...


class TypeText(str):
    """A type expression; a signature shows it as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Frozen:
    """Attributes are those of the constructor and never change.

    Not a dataclass: importing dataclasses takes longer than importing all of ffi.
    """

    __slots__: tuple[str, ...] = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} objects are immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} objects are immutable")

    def _fill(self, *values: Any) -> None:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Frozen) or type(self) is not type(other):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        pairs = zip(self.__slots__, self._values(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"


class ParamInfo(_Frozen):
    """One parameter: `type` is a type expression or None, `default` counts where `optional`.

    A `variadic` parameter takes any number of further arguments, a `keyword_only` one is given by
    name. One of the `front_end` exists in the signature for people only and accepts its default
    alone. `role` is what it takes: "array", "arrays" (a sequence of them), of operators also "out",
    "context", "dtype", "shape" and "axes", or "attribute", as all other parameters do.
    """

    __slots__ = (
        "name",
        "type",
        "doc",
        "optional",
        "variadic",
        "front_end",
        "keyword_only",
        "default",
        "role",
    )
    name: str
    type: str | None
    doc: str
    optional: bool
    variadic: bool
    front_end: bool
    keyword_only: bool
    default: Any
    role: str

    def __init__(
        self,
        name: str,
        type: str | None,
        doc: str | None,
        flags: int,
        default: Any,
        role: int = 0,
    ) -> None:
        self._fill(
            name,
            type,
            doc or "",
            bool(flags & PARAM_OPTIONAL),
            bool(flags & PARAM_VARIADIC),
            bool(flags & PARAM_FRONT_END),
            bool(flags & PARAM_KEYWORD_ONLY),
            default,
            ROLES[role] if role < len(ROLES) else ROLES[0],
        )

    def __str__(self) -> str:
        """As Python writes a parameter: `b: int = 2`."""
        text = f"*{self.name}" if self.variadic else self.name
        if self.type:
            text += f": {self.type}"
        if self.optional:
            text += f" = {self.default!r}" if self.type else f"={self.default!r}"
        return text


def _params(raw: dict[str, Any]) -> tuple[ParamInfo, ...]:
    params: list[RawParam] = raw.get("params", [])
    roles: list[int] = raw.get("roles") or [0] * len(params)
    return tuple(ParamInfo(*param, role) for param, role in zip(params, roles, strict=True))


class FunctionInfo(_Frozen):
    """The description of a function.

    `file` and `line` say where it is registered. Where `described` is false, nothing is known about
    its parameters. `release_lock_bytes` is negative if a call never releases the GIL, 0 if it
    always does, n if it does when the tensors among its arguments hold at least n bytes together.

    An overloaded function has `overloads`, the description of each way to call it, and no
    parameters of its own.
    """

    __slots__ = (
        "name",
        "doc",
        "returns",
        "file",
        "line",
        "params",
        "described",
        "release_lock_bytes",
        "overloads",
    )
    name: str
    doc: str
    returns: str | None
    file: str | None
    line: int
    params: tuple[ParamInfo, ...]
    described: bool
    release_lock_bytes: int
    overloads: tuple[FunctionInfo, ...]

    def __init__(self, raw: dict[str, Any]) -> None:
        self._fill(
            raw["name"],
            raw.get("doc") or "",
            raw.get("returns"),
            raw.get("file"),
            raw.get("line", 0),
            _params(raw),
            bool(raw.get("described", False)),
            raw.get("release_lock_bytes", -1),
            tuple(map(FunctionInfo, raw.get("overloads", ()))),
        )

    def visible(self, front_end: bool) -> tuple[ParamInfo, ...]:
        """The parameters of the signature for people, or of the body's."""
        return tuple(param for param in self.params if front_end or not param.front_end)

    def in_order(self, front_end: bool = False) -> tuple[ParamInfo, ...]:
        """The visible parameters as Python orders them: *args, then those taken by name only."""

        def position(param: ParamInfo) -> int:
            return 2 if param.keyword_only else int(param.variadic)

        return tuple(sorted(self.visible(front_end), key=position))

    def signature(self, front_end: bool = False) -> inspect.Signature:
        """The signature; `(*args, **kwargs)` if overloaded, `(*args)` if nothing is known."""
        from inspect import Parameter, Signature

        if not self.described:
            kinds = [("args", Parameter.VAR_POSITIONAL), ("kwargs", Parameter.VAR_KEYWORD)]
            return Signature([Parameter(*kind) for kind in kinds[: 2 if self.overloads else 1]])
        parameters = []
        for param in self.in_order(front_end):
            kind: Any = Parameter.POSITIONAL_OR_KEYWORD
            if param.variadic:
                kind = Parameter.VAR_POSITIONAL
            elif param.keyword_only:
                kind = Parameter.KEYWORD_ONLY
            default = param.default if param.optional else Parameter.empty
            annotation = TypeText(param.type) if param.type else Parameter.empty
            parameters.append(Parameter(param.name, kind, default=default, annotation=annotation))
        returns = TypeText(self.returns) if self.returns else Signature.empty
        return Signature(parameters, return_annotation=returns)


def too_many(raw: dict[str, Any], given: int) -> str:
    """The error for more arguments than there are visible parameters."""
    # The object of a method is not counted.
    params = raw["params"][bool(raw.get("is_method")) :]
    given -= len(raw["params"]) - len(params)
    required = sum(not flags & PARAM_OPTIONAL for _, _, _, flags, _ in params)
    expected = f"{len(params)}" if required == len(params) else f"{required} to {len(params)}"
    return f"{raw['name']}: expected {expected} arguments, got {given}"


def function_info(function: Described) -> FunctionInfo:
    """The description of a Function."""
    return FunctionInfo(function._raw_info())


def signature(function: Described) -> inspect.Signature:
    """The signature of a Function; see FunctionInfo.signature."""
    return function_info(function).signature(function.is_front_end)


def docstring(function: Described) -> str:
    """Help of a Function in the style of NumPy: the text, its parameters, what it returns."""
    info = function_info(function)
    return "\n\n".join(_sections(info, function.is_front_end))


def class_signature() -> inspect.Signature:
    """The signature of Function itself, which only functions of C++ make."""
    import inspect

    kinds = {"args": inspect.Parameter.VAR_POSITIONAL, "kwargs": inspect.Parameter.VAR_KEYWORD}
    return inspect.Signature([inspect.Parameter(name, kind) for name, kind in kinds.items()])


def class_docstring() -> str:
    """Help of Function itself."""
    return "A function that C++ and Python can both call; see ffi.get_global_func."


class Derived:
    """An attribute that is computed for each object; the class itself has another value of it."""

    __slots__ = ("_of_class", "_of_object")

    def __init__(self, of_object: Callable[[Any], Any], of_class: Callable[[], Any]) -> None:
        self._of_object = of_object
        self._of_class = of_class

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._of_class() if instance is None else self._of_object(instance)


def _sections(info: FunctionInfo, front_end: bool) -> Iterator[str]:
    if info.doc:
        yield info.doc
    params = info.in_order(front_end)
    if params:
        yield _section("Parameters", [line for param in params for line in _param_lines(param)])
    if info.overloads:
        yield _section("Overloads", [line for way in info.overloads for line in _way_lines(way)])
    if info.returns and not {"Returns", "Returns:"} & set(info.doc.splitlines()):
        yield _section("Returns", [info.returns])


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, "-" * len(title), *lines])


def _way_lines(info: FunctionInfo) -> list[str]:
    params = [line for param in info.params for line in _param_lines(param)]
    name = info.name.rpartition(".")[2]
    details = [*info.doc.splitlines(), *params]
    return [f"{name}{info.signature()}", *(f"    {line}" for line in details)]


def _param_lines(param: ParamInfo) -> list[str]:
    head = f"*{param.name}" if param.variadic else param.name
    if param.type:
        head += f" : {param.type}"
    if param.optional:
        head += f", default {param.default!r}" if param.type else f" : default {param.default!r}"
    return [head, *(f"    {line}" for line in param.doc.splitlines())]
