"""Function: a function of the registry, or any callable, as C++ and Python call it."""

from __future__ import annotations

from ctypes import (
    POINTER,
    ArgumentError,
    addressof,
    byref,
    c_char_p,
    c_int,
    c_void_p,
    memmove,
    sizeof,
)
from itertools import count
from types import MethodType

from .. import description
from . import abi
from .arguments import Frame, Refused
from .errors import TOO_DEEP, check, last_error, set_last_error
from .keywords import Parameters
from .objects import ObjectBase, register_object, wrap
from .results import borrow, take
from .uninterrupted import uninterrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Callables that C++ holds, by the number it knows them under.
_bodies: dict[int, Callable[..., Any]] = {}
_numbers = count(1)
_set_last_error = abi.lib.MXNetSetLastError


class _Derived:
    """An attribute of Function objects that is derived when asked for; the class has its own."""

    def __init__(self, derive: Callable[[Function], Any], of_class: str | None = None) -> None:
        self._derive = derive
        self._of_class = of_class

    def __get__(self, function: Function | None, owner: type) -> Any:
        if function is not None:
            return self._derive(function)
        if self._of_class is None:
            raise AttributeError(f"type object {owner.__name__!r} has no such attribute")
        return self._of_class


class Function(ObjectBase):
    __slots__ = ("__dict__", "_parameters", "_release", "_shows_front_end")
    _parameters: Parameters | None
    _release: int | None
    _shows_front_end: bool

    __doc__ = _Derived(
        description.docstring,
        "A function that C++ and Python can both call; see ffi.get_global_func.",
    )
    __signature__ = _Derived(description.signature)
    # Where people find it; a function may be given another module.
    __module__ = "ffi"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs or self.is_front_end:
            args = self._described().body_arguments(args, kwargs, self.is_front_end)
        size = abi.capacity(len(args))
        values, codes = (abi.MXNetValue * size)(), (c_int * size)()
        frame = Frame()
        for index, arg in enumerate(args):
            try:
                codes[index] = frame.write(arg, values[index])
            except Refused as refusal:
                raise refusal.located(self._described().where(index)) from None
        ret, ret_code = abi.MXNetValue(), c_int(abi.NULL)
        library = abi.lib_releasing if self._releases(frame.tensor_bytes) else abi.lib
        handle, count = c_void_p(self.handle), len(args)
        if library.MXNetFuncCall(handle, values, codes, count, byref(ret), byref(ret_code)):
            raise last_error()
        return take(ret, ret_code.value)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<ffi.Function {self.name}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Function):
            return NotImplemented
        return self.handle == other.handle and self.is_front_end == other.is_front_end

    def __hash__(self) -> int:
        return hash(self.handle)

    @property
    def name(self) -> str:
        """Name under which it is registered."""
        return self._described().name

    @property
    def __name__(self) -> str:
        given: str | None = self.__dict__.get("__name__")
        return given or self.name.rpartition(".")[2]

    @__name__.setter
    def __name__(self, value: str) -> None:
        self.__dict__["__name__"] = value

    def __getattr__(self, attribute: str) -> Any:
        # Not a property: a class body that has this name sets the class's own.
        if attribute == "__qualname__":
            return self.__name__
        raise AttributeError(f"Function object has no attribute {attribute!r}")

    @property
    def info(self) -> description.FunctionInfo:
        """The description given where the function was registered."""
        return description.function_info(self)

    @property
    def is_front_end(self) -> bool:
        """Whether the parameters that only the front end has are visible."""
        return getattr(self, "_shows_front_end", False)

    @property
    def release_gil_bytes(self) -> int:
        """When a call releases the GIL: negative never, 0 always, n when the tensors among its
        arguments hold at least n bytes together."""
        if getattr(self, "_release", None) is None:
            self._release = info_of(self.handle).release_lock_bytes
        return self._release or 0

    def front_end(self) -> Function:
        """The same function with the signature for people.

        Parameters that exist in it only must be given their default and are dropped.
        """
        check(abi.lib.MXNetObjectRetain(c_void_p(self.handle)))
        function = wrap(self.handle)
        assert isinstance(function, Function)
        function._shows_front_end = True
        return function

    def _releases(self, tensor_bytes: int) -> bool:
        threshold = self.release_gil_bytes
        return 0 <= threshold <= tensor_bytes

    def _described(self) -> Parameters:
        parameters = getattr(self, "_parameters", None)
        if parameters is None:
            parameters = self._parameters = Parameters(self._raw_info())
        return parameters

    def _raw_info(self) -> dict[str, Any]:
        return raw_info_of(info_of(self.handle))


def info_of(handle: int) -> abi.MXNetFuncInfo:
    """The description of a function, which lives as long as the function."""
    out = POINTER(abi.MXNetFuncInfo)()
    check(abi.lib.MXNetFuncGetInfo(c_void_p(handle), byref(out)))
    return out.contents


def raw_info_of(info: abi.MXNetFuncInfo) -> dict[str, Any]:
    """A description as plain Python values."""
    return {
        "name": _text(info.name) or "",
        "doc": _text(info.doc) or "",
        "returns": _text(info.returns),
        "file": _text(info.file),
        "line": info.line,
        "params": [_raw_param(info.params[i]) for i in range(info.num_params)],
        "described": bool(info.described),
        "release_lock_bytes": info.release_lock_bytes,
    }


def _raw_param(param: abi.MXNetParamInfo) -> tuple[str | None, str | None, str | None, int, Any]:
    default = None
    if param.flags & abi.PARAM_OPTIONAL:
        default = borrow(param.default_value.value, param.default_value.type_code)
    return _text(param.name), _text(param.type), _text(param.doc), param.flags, default


def _text(text: bytes | None) -> str | None:
    return None if text is None else text.decode()


def _call_body(number: int, values: int, codes: int, num_args: int, ret: int, ret_code: int) -> Any:
    try:
        try:
            body = _bodies[number]
            result = body(*_borrow_all(values, codes, num_args))
            _give(result, ret, ret_code, body)
            return 0
        except BaseException as error:
            return _failed(error)
    except (RecursionError, ArgumentError):
        # Not even _failed could be called, and perhaps not this either.
        try:
            return _set_last_error(TOO_DEEP)
        except (RecursionError, ArgumentError):
            return -1
    except BaseException as error:
        # Ctrl-C while the first error was being passed on.
        return _failed(error)


def _borrow_all(values: int, codes: int, count: int) -> list[Any]:
    if not count:
        return []
    run, kinds = abi.array_at(abi.MXNetValue, values, count), abi.array_at(c_int, codes, count)
    return [borrow(run[i], kinds[i]) for i in range(count)]


def _drop_body(number: int) -> None:
    del _bodies[number]


# Not decorators, for the functions they would make have no type.
_invoke = abi.PackedCFunc(uninterrupted(_call_body))
_finalize = abi.Finalizer(uninterrupted(_drop_body))


def _failed(error: BaseException) -> int:
    # Without the entry for _call_body, which would show ctypes pointers that are no longer valid.
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
    return set_last_error(error)


def _give(result: Any, ret: int, ret_code: int, body: Callable[..., Any]) -> None:
    """Writes what a callback returned as an owned value."""
    value, frame = abi.MXNetValue(), Frame()
    try:
        code = frame.write(result, value)
    except Refused as refusal:
        name = getattr(body, "__qualname__", type(body).__qualname__)
        raise refusal.located(f"{name}: result") from None
    if code in abi.PLAIN_CODES:
        memmove(ret, addressof(value), sizeof(value))
        c_int.from_address(ret_code).value = code
    else:
        _own_into(value, code, ret, ret_code)


def _own_into(value: abi.MXNetValue, code: int, ret: int, ret_code: int) -> None:
    """Writes a copy that owns what a borrowed value lends to the addresses of a result."""
    arguments = byref(value), byref(c_int(code)), 1
    result = c_void_p(ret), c_void_p(ret_code)
    check(abi.lib.MXNetFuncCall(c_void_p(_own.handle), *arguments, *result))


def own(value: Any, code: int) -> Any:
    """The Python value of a copy of a borrowed value."""
    ret, ret_code = abi.MXNetValue(), c_int(abi.NULL)
    _own_into(value, code, addressof(ret), addressof(ret_code))
    return take(ret, ret_code.value)


def convert_function(
    body: Callable[..., Any], name: str | None = None, raw_info: dict[str, Any] | None = None
) -> Function:
    """A Function that calls body. raw_info describes it, in the form of Function._raw_info()."""
    if isinstance(body, Function):
        return body
    if not callable(body):
        raise TypeError(
            "convert_function: argument 0 ('function') expected a callable, "
            f"got {type(body).__name__}"
        )
    number = next(_numbers)
    _bodies[number] = body
    out = c_void_p()
    check(abi.lib.MXNetFuncCreateFromCFunc(_invoke, c_void_p(number), _finalize, byref(out)))
    assert out.value is not None
    function = wrap(out.value)
    assert isinstance(function, Function)
    if name is not None or raw_info is not None:
        _describe(function.handle, raw_info or {"name": name})
    return function


def _describe(handle: int, raw: dict[str, Any]) -> None:
    frame = Frame()
    given = raw.get("params", ())
    params = (abi.MXNetParamInfo * abi.capacity(len(given)))()
    for param, (name, kind, doc, flags, default) in zip(params, given, strict=False):
        param.name, param.type, param.doc = _utf8(name), _utf8(kind), _utf8(doc)
        param.flags = flags
        any_value = param.default_value
        any_value.type_code = frame.write(default, any_value.value)
    info = abi.MXNetFuncInfo(
        sizeof(abi.MXNetFuncInfo),
        abi.ABI_MAJOR,
        0,
        _utf8(raw["name"]),
        _utf8(raw.get("doc")),
        _utf8(raw.get("returns")),
        _utf8(raw.get("file")),
        raw.get("line", 0),
        bool(raw.get("described", False)),
        params,
        len(given),
        raw.get("release_lock_bytes", -1),
    )
    check(abi.lib.MXNetFuncSetInfo(c_void_p(handle), byref(info)))


def _utf8(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def get_global(name: str) -> Function | None:
    """The registered function of a name, None where there is none."""
    out = c_void_p()
    check(abi.lib.MXNetFuncGetGlobal(name.encode(), byref(out)))
    if out.value is None:
        return None
    function = wrap(out.value)
    assert isinstance(function, Function)
    return function


def register_global(name: str, function: Function, override: bool) -> None:
    """Registers a function; ValueError where the name is taken and not to be overridden."""
    check(abi.lib.MXNetFuncRegisterGlobal(name.encode(), c_void_p(function.handle), override))


def remove_global(name: str) -> None:
    """Removes a name; KeyError where it is not registered."""
    check(abi.lib.MXNetFuncRemoveGlobal(name.encode()))


def list_global_names() -> list[str]:
    """All registered names, sorted."""
    size, names = c_int(), POINTER(c_char_p)()
    check(abi.lib.MXNetFuncListGlobalNames(byref(size), byref(names)))
    return [(names[i] or b"").decode() for i in range(size.value)]


register_object(abi.FUNCTION_INDEX, Function)
_own_function = get_global("ffi.own")
assert _own_function is not None
_own = _own_function
