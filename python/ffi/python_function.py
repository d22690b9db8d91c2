"""The description of a Python function, from its signature, annotations and docstring."""

from __future__ import annotations

import sys

from ._parameters import PARAM_KEYWORD_ONLY, PARAM_OPTIONAL, PARAM_VARIADIC, ROLE_ATTRIBUTE
from .roles import role_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    RawParam = tuple[str, str | None, str | None, int, Any]

# CO_VARARGS and CO_VARKEYWORDS of inspect, which takes long to import.
_TAKES_ARGS = 0x04
_TAKES_KEYWORDS = 0x08

# Names of numpy.typing, shown as they are: what they stand for is long.
_NUMPY_NAMES = ("ArrayLike", "DTypeLike")


def raw_info(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """The description of a Python function.

    Parameters are described only where all of them can be: not of callables other than plain
    functions, nor with **kwargs or a default other than None, a bool, a number or a string. Without
    a description of its parameters a function is called by position only.
    """
    raw: dict[str, Any] = {
        "name": name,
        "doc": _clean_doc(function),
        "returns": None,
        "file": None,
        "line": 0,
        "described": False,
        "params": [],
        "roles": [],
        "release_lock_bytes": -1,
    }
    code = _code_of(function)
    if code is None:
        return raw
    docs: dict[str, str] = {}
    if ":" in raw["doc"]:
        from . import docstrings

        raw["doc"], docs = docstrings.split(raw["doc"])
    raw["params"] = _params(function, code, docs)
    raw["roles"] = [_role(function, param[0]) for param in raw["params"]]
    raw["returns"] = _type_text(function, "return")
    raw["described"] = True
    return raw


def by_position(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as C++ calls it, which knows no names: keyword-only parameters come behind the
    others and before *args."""
    code = _code_of(function)
    if code is None or not code.co_kwonlyargcount:
        return function
    first, last = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[first:last]

    def positional(*args: Any) -> Any:
        by_name = dict(zip(names, args[first:last], strict=True))
        return function(*args[:first], *args[last:], **by_name)

    positional.__name__ = function.__name__
    return positional


def _code_of(function: Callable[..., Any]) -> Any:
    """The code of a function whose parameters a description can express, else None."""
    code = getattr(function, "__code__", None)
    defaults = (
        *(getattr(function, "__defaults__", None) or ()),
        *(getattr(function, "__kwdefaults__", None) or {}).values(),
    )
    if (
        code is None
        or hasattr(function, "__func__")
        or hasattr(function, "__wrapped__")
        or code.co_flags & _TAKES_KEYWORDS
        or not all(map(_is_plain, defaults))
    ):
        return None
    return code


def _params(function: Any, code: Any, docs: dict[str, str]) -> list[RawParam]:
    """The parameters in the order of a body: positional, keyword-only, *args."""
    count = code.co_argcount
    positional = code.co_varnames[:count]
    by_name = code.co_varnames[count : count + code.co_kwonlyargcount]
    values = function.__defaults__ or ()
    defaults = dict(zip(positional[count - len(values) :], values, strict=True))
    defaults |= function.__kwdefaults__ or {}

    def param(name: str, flags: int) -> RawParam:
        flags |= PARAM_OPTIONAL if name in defaults else 0
        return name, _type_text(function, name), docs.get(name), flags, defaults.get(name)

    params = [param(name, 0) for name in positional]
    params += [param(name, PARAM_KEYWORD_ONLY) for name in by_name]
    if code.co_flags & _TAKES_ARGS:
        params.append(param(code.co_varnames[count + len(by_name)], PARAM_VARIADIC))
    return params


def _is_plain(default: Any) -> bool:
    if type(default) is int:
        return -(2**63) <= default < 2**64
    return default is None or type(default) in (bool, float, complex, str)


def _type_text(function: Callable[..., Any], name: str) -> str | None:
    given = getattr(function, "__annotations__", {})
    if name not in given:
        return None
    annotation = given[name]
    if annotation is None or isinstance(annotation, str):
        return annotation or "None"
    typing = sys.modules.get("numpy.typing")
    for known in _NUMPY_NAMES:
        if typing is not None and annotation is getattr(typing, known):
            return known
    if isinstance(annotation, type) and not hasattr(annotation, "__origin__"):
        module = annotation.__module__
        prefix = "" if module == "builtins" else f"{module}."
        return prefix + annotation.__qualname__
    text = repr(annotation)
    for prefix in ("typing.", "collections.abc."):
        text = text.replace(prefix, "")
    return text


def _role(function: Callable[..., Any], name: str) -> int:
    """What a parameter takes; an attribute where its annotation cannot be evaluated."""
    try:
        return role_of(function, name)
    except Exception:
        return ROLE_ATTRIBUTE


def _clean_doc(function: Callable[..., Any]) -> str:
    """The docstring without the indentation of its source."""
    doc = getattr(function, "__doc__", None)
    if not isinstance(doc, str) or doc == type(function).__doc__:
        return ""
    first, *others = doc.expandtabs().splitlines() or [""]
    margin = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first.strip(), *(line[margin:].rstrip() for line in others)]).strip()
