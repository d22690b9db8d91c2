"""What a function says about itself: parameters, signature and help, from its one description.

A raw description is a dict: name, doc, returns, file, line, described, release_lock_bytes and
params, a list of tuples (name, type, doc, flags, default).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable
    from typing import Any, NoReturn, Protocol

    RawParam = tuple[str, str | None, str | None, int, Any]

    class Described(Protocol):
        """What of Function is needed here; both paths have it."""

        @property
        def is_front_end(self) -> bool: ...
        def _raw_info(self) -> dict[str, Any]: ...


# MXNetParamFlag
OPTIONAL = 1
VARIADIC = 2
FRONT_END = 4

# In the type of a parameter: arrays are taken, and NumPy scalars as arrays without axes.
ARRAY_LIKE = "ArrayLike"

# CO_VARARGS and CO_VARKEYWORDS of inspect, which takes long to import.
_TAKES_ARGS = 0x04
_TAKES_KEYWORDS = 0x08


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

    A `variadic` parameter takes any number of further arguments. One of the `front_end` exists in
    the signature for people only and accepts its default alone.
    """

    __slots__ = ("name", "type", "doc", "optional", "variadic", "front_end", "default")
    name: str
    type: str | None
    doc: str
    optional: bool
    variadic: bool
    front_end: bool
    default: Any

    def __init__(
        self, name: str, type: str | None, doc: str | None, flags: int, default: Any
    ) -> None:
        self._fill(
            name,
            type,
            doc or "",
            bool(flags & OPTIONAL),
            bool(flags & VARIADIC),
            bool(flags & FRONT_END),
            default,
        )


class FunctionInfo(_Frozen):
    """The description of a function.

    `file` and `line` say where it is registered. Where `described` is false, nothing is known about
    its parameters. `release_lock_bytes` is negative if a call never releases the GIL, 0 if it
    always does, n if it does when the tensors among its arguments hold at least n bytes together.
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
    )
    name: str
    doc: str
    returns: str | None
    file: str | None
    line: int
    params: tuple[ParamInfo, ...]
    described: bool
    release_lock_bytes: int

    def __init__(self, raw: dict[str, Any]) -> None:
        self._fill(
            raw["name"],
            raw.get("doc") or "",
            raw.get("returns"),
            raw.get("file"),
            raw.get("line", 0),
            tuple(ParamInfo(*param) for param in raw.get("params", ())),
            bool(raw.get("described", False)),
            raw.get("release_lock_bytes", -1),
        )

    def visible(self, front_end: bool) -> tuple[ParamInfo, ...]:
        """The parameters of the signature for people, or of the body's."""
        return tuple(param for param in self.params if front_end or not param.front_end)


def function_info(function: Described) -> FunctionInfo:
    """The description of a Function."""
    return FunctionInfo(function._raw_info())


def signature(function: Described) -> inspect.Signature:
    """The signature of a Function; `(*args)` where nothing is known about its parameters."""
    from inspect import Parameter, Signature

    info = function_info(function)
    if not info.described:
        return Signature([Parameter("args", Parameter.VAR_POSITIONAL)])
    parameters = []
    for param in info.visible(function.is_front_end):
        kind = Parameter.VAR_POSITIONAL if param.variadic else Parameter.POSITIONAL_OR_KEYWORD
        default = param.default if param.optional else Parameter.empty
        annotation = param.type or Parameter.empty
        parameters.append(Parameter(param.name, kind, default=default, annotation=annotation))
    return Signature(parameters, return_annotation=info.returns or Signature.empty)


def docstring(function: Described) -> str:
    """Help of a Function in the style of NumPy: the text, its parameters, what it returns."""
    info = function_info(function)
    sections = [info.doc] if info.doc else []
    params = info.visible(function.is_front_end)
    if params:
        lines = [line for param in params for line in _param_lines(param)]
        sections.append("\n".join(["Parameters", "----------", *lines]))
    if info.returns:
        sections.append(f"Returns\n-------\n{info.returns}")
    return "\n\n".join(sections)


def _param_lines(param: ParamInfo) -> list[str]:
    head = f"*{param.name}" if param.variadic else param.name
    if param.type:
        head += f" : {param.type}"
    if param.optional:
        head += f", default {param.default!r}" if param.type else f" : default {param.default!r}"
    return [head, *(f"    {line}" for line in param.doc.splitlines())]


def raw_info(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """The description of a Python function, from its signature.

    The parameters stay undescribed, so that it is called by position only, where no description
    says what Python means: keyword-only parameters, **kwargs, a default that is not None, a bool, a
    number or a string, and callables that are not plain functions.
    """
    raw: dict[str, Any] = {
        "name": name,
        "doc": _clean_doc(function),
        "returns": None,
        "file": None,
        "line": 0,
        "described": False,
        "params": [],
        "release_lock_bytes": -1,
    }
    code = getattr(function, "__code__", None)
    defaults = getattr(function, "__defaults__", None) or ()
    if (
        code is None
        or hasattr(function, "__func__")
        or hasattr(function, "__wrapped__")
        or code.co_flags & _TAKES_KEYWORDS
        or code.co_kwonlyargcount
        or not all(map(_is_plain, defaults))
    ):
        return raw
    raw["params"] = _params(function, code, defaults)
    raw["returns"] = _type_text(function, "return")
    raw["described"] = True
    return raw


def _params(function: Callable[..., Any], code: Any, defaults: tuple[Any, ...]) -> list[RawParam]:
    params: list[RawParam] = []
    count = code.co_argcount
    for index, name in enumerate(code.co_varnames[:count]):
        kind, given = _type_text(function, name), index - (count - len(defaults))
        if given < 0:
            params.append((name, kind, None, 0, None))
        else:
            params.append((name, kind, None, OPTIONAL, defaults[given]))
    if code.co_flags & _TAKES_ARGS:
        name = code.co_varnames[count]
        params.append((name, _type_text(function, name), None, VARIADIC, None))
    return params


def _is_plain(default: Any) -> bool:
    if type(default) is int:
        return -(2**63) <= default < 2**64
    return default is None or type(default) in (bool, float, complex, str)


def _type_text(function: Callable[..., Any], name: str) -> str | None:
    annotation = getattr(function, "__annotations__", {}).get(name)
    if annotation is None or isinstance(annotation, str):
        return annotation
    return annotation.__name__ if isinstance(annotation, type) else repr(annotation)


def _clean_doc(function: Callable[..., Any]) -> str:
    """The docstring without the indentation of its source."""
    doc = getattr(function, "__doc__", None)
    if not isinstance(doc, str) or doc == type(function).__doc__:
        return ""
    first, *others = doc.expandtabs().splitlines() or [""]
    margin = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first.strip(), *(line[margin:].rstrip() for line in others)]).strip()
