"""Function: a function of the registry, or any callable, as C++ and Python call it."""

from __future__ import annotations

from ctypes import POINTER, byref, c_int, c_void_p
from types import MethodType

from .. import data_type, description, handed_down, protocols
from .._parameters import PARAM_OPTIONAL
from . import abi
from .arguments import Frame, Keyword, Rejected
from .errors import check, last_error
from .keywords import Parameters
from .ndarray import NDArray
from .objects import ObjectBase, register_object, wrap_anew
from .results import borrow, take, take_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class FunctionBase(ObjectBase):
    """What a call needs: arguments are converted, C++ runs, the result is converted."""

    __slots__ = ("_array_maker", "_parameters", "_release", "_returned", "_shows_front_end")
    _array_maker: Callable[[Any], Any] | None
    _returned: Any
    _parameters: Parameters | None
    _release: int | None
    _shows_front_end: bool

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs or self.is_front_end or self._described().by_position is not None:
            args = self._described().body_arguments(args, kwargs, self.is_front_end)
        size = abi.capacity(len(args))
        values, codes = (abi.MXNetValue * size)(), (c_int * size)()
        frame = Frame()
        numpy = data_type.numpy_if_loaded()
        names = 0
        for index, arg in enumerate(args):
            names += type(arg) is Keyword
            if (
                numpy is not None
                and isinstance(arg, numpy.generic)
                and self._described().takes_array(index)
            ):
                arg = numpy.asarray(arg)
                frame.keep.append(arg)
            try:
                codes[index] = frame.write(arg, values[index])
            except Rejected as rejection:
                raise rejection.located(
                    self._described().where(index - names)
                ) from rejection.__cause__
        ret, ret_code = abi.MXNetValue(), c_int(abi.NULL)
        library = abi.lib_releasing if self._releases(frame.tensor_bytes) else abi.lib
        handle, count = c_void_p(self.handle), len(args)
        if library.MXNetFuncCall(handle, values, codes, count, byref(ret), byref(ret_code)):
            raise last_error()
        if self.returned_class is not None:
            return take_as(ret, ret_code.value, self._returned, self._array_maker)
        return take(ret, ret_code.value)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionBase):
            return NotImplemented
        return (
            self.handle == other.handle
            and self.is_front_end == other.is_front_end
            and self.returned_class is other.returned_class
        )

    def __hash__(self) -> int:
        return hash(self.handle)

    @property
    def name(self) -> str:
        """Name under which it is registered."""
        return self._described().name

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
        return self._again(True)

    def returning(self, cls: Any) -> Function:
        """The same function with the arrays among its results as instances of cls, without a copy.

        cls is numpy.ndarray, torch.Tensor, mx.np.ndarray, ffi.NDArray, or the array class of
        another package that has `from_dlpack`. An array is the result itself or in a tuple that is;
        what containers hold stays as it is. Raises TypeError for another class.
        """
        maker = protocols.array_maker(cls, NDArray)
        function = self._again(self.is_front_end)
        function._returned, function._array_maker = cls, maker
        return function

    @property
    def returned_class(self) -> Any:
        """The class of arrays among the results, see returning; None where it was not chosen."""
        return getattr(self, "_returned", None)

    def _again(self, front_end: bool) -> Function:
        """Another Function of the same function."""
        check(abi.lib.MXNetObjectRetain(c_void_p(self.handle)))
        function = wrap_anew(Function, self.handle)
        function._shows_front_end = front_end
        function._returned = self.returned_class
        function._array_maker = getattr(self, "_array_maker", None)
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


class Function(FunctionBase):
    # Beyond calling it, a function has a description, and a name in a module.
    __slots__ = ("__dict__",)

    __doc__ = description.Derived(description.docstring, description.class_docstring)
    __signature__ = description.Derived(description.signature, description.class_signature)
    # The default; functions of another module set their own.
    __module__ = "ffi"

    @property
    def __name__(self) -> str:
        given: str | None = self.__dict__.get("__name__")
        return given or self.name.rpartition(".")[2]

    @__name__.setter
    def __name__(self, value: str) -> None:
        self.__dict__["__name__"] = value

    def __getattr__(self, attribute: str) -> Any:
        # Not a property: __qualname__ in a class body names the class itself.
        if attribute == "__qualname__":
            return self.__name__
        raise AttributeError(f"Function object has no attribute {attribute!r}")

    @property
    def info(self) -> description.FunctionInfo:
        """The description given where the function was registered."""
        return description.function_info(self)

    def __reduce__(self) -> Any:
        return handed_down.reduction(self)

    def __repr__(self) -> str:
        return f"<ffi.Function {self.name}>"


class StaticMethod:
    """A function as an attribute of a class, called without the instance."""

    __slots__ = ("function",)

    def __init__(self, function: FunctionBase) -> None:
        self.function = function

    def __get__(self, instance: object, owner: type | None = None) -> FunctionBase:
        return self.function


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
        "roles": [info.params[i].role for i in range(info.num_params)],
        "described": bool(info.described),
        "release_lock_bytes": info.release_lock_bytes,
        "is_method": bool(info.flags & abi.FUNC_METHOD),
        "overloads": [raw_info_of(info.overloads[i].contents) for i in range(info.num_overloads)],
    }


def _raw_param(param: abi.MXNetParamInfo) -> tuple[str | None, str | None, str | None, int, Any]:
    default = None
    if param.flags & PARAM_OPTIONAL:
        default = borrow(param.default_value.value, param.default_value.type_code)
    return _text(param.name), _text(param.type), _text(param.doc), param.flags, default


def _text(text: bytes | None) -> str | None:
    return None if text is None else text.decode()


register_object(abi.OBJECT_FUNCTION, Function)
