"""What of torch, NumPy and Python itself is described by its name, as their versions are.

It has to give the same in every process. What tells the state of a process, of the machine or of
time is left out, and so is what nobody has looked at.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy
import torch

from ._code import NotDescribedError

_TORCH = os.path.dirname(torch.__file__) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep
_PACKAGES = os.sep + "site-packages" + os.sep
_DESCRIPTORS = (MethodDescriptorType, WrapperDescriptorType)
# Modules of torch whose functions compute with tensors, or are of its modules.
_FUNCTIONS_OF = ("torch.functional", "torch.nn.functional", "torch._jit_internal", "torch._tensor")
_MODULES = "torch.nn.modules."
_OF_TORCH = frozenset(
    ("sym_int", "sym_float", "sym_max", "sym_min", "sym_not", "sym_ite", "is_tensor", "_assert")
    + ("_check", "_check_is_size", "_check_value", "_check_type", "is_grad_enabled", "typename")
    + ("is_compiling", "is_dynamo_compiling", "is_exporting", "get_default_dtype")
    + ("is_storage", "is_inference_mode_enabled", "is_autocast_enabled", "context_decorator")
)
_FUNCTIONS_IN = ("torch", "torch.compiler", "torch.utils._contextlib", "torch._C")
_BUILTINS_OF = ("_nn", "_fft", "_linalg", "_special")
_TYPES = (
    torch.Tensor, torch.nn.Parameter, torch.Size, torch.dtype, torch.device, torch.finfo,
    torch.iinfo, torch.no_grad, torch.enable_grad, torch.set_grad_enabled, torch.inference_mode,
    torch.nn.Module, numpy.ndarray, numpy.dtype, functools.partial,
)  # fmt: skip
_CONTEXTS = (torch.no_grad, torch.enable_grad, torch.set_grad_enabled, torch.inference_mode)
_BUILTINS = frozenset(
    (
        "abs all any bin callable chr delattr dir divmod format getattr hasattr isinstance"
        " issubclass iter len max min next ord pow print repr round setattr sorted sum vars"
    ).split()
)
_NUMPY = frozenset(
    (
        "arange array asarray ceil clip concatenate cumsum empty eye full linspace meshgrid ones"
        " prod stack sum where zeros"
    ).split()
)
_PYTHON_BUILTINS = ("math", "cmath", "_operator", "itertools", "_functools", "_collections")
_PYTHON_TYPES = ("itertools", "collections", "_collections", "typing", "enum", "abc", "operator")
_PYTHON_FILES = ("enum.py", "dataclasses.py", "reprlib.py")  # what they add to classes
_PYTHON_FUNCTIONS = frozenset(
    ("typing.cast", "functools.reduce", "functools.wraps", "collections.namedtuple")
    + ("typing.overload", "functools.update_wrapper")
)


def is_known_type(cls: type) -> bool:
    """Whether a class is one of those that its name describes."""
    if cls in _TYPES or is_module_of_torch(cls):
        return True
    owner = sys.modules.get(cls.__module__)
    return cls.__module__ in ("builtins", *_PYTHON_TYPES) and _is_there(owner, cls)


def is_module_of_torch(cls: type) -> bool:
    """Whether a class is one of torch's own modules."""
    of_torch = cls is torch.nn.Module or cls.__module__.startswith(_MODULES)
    return of_torch and _is_there(sys.modules.get(cls.__module__), cls)


def _is_there(owner: ModuleType | None, one: Any) -> bool:
    return owner is not None and owner.__dict__.get(one.__qualname__) is one


def is_context(value: Any) -> bool:
    """Whether it is a context of torch that says whether gradients are recorded."""
    return type(value) in _CONTEXTS


def is_known_function(function: FunctionType) -> bool:
    """Whether a function of Python is one of those that its name describes."""
    module, name = function.__module__ or "", function.__name__
    file = function.__code__.co_filename
    if file.startswith(_TORCH):
        owner = function.__globals__.get("__name__", "")
        return (
            module in _FUNCTIONS_OF
            or owner in _FUNCTIONS_OF
            or owner.startswith(_MODULES)
            or (owner in _FUNCTIONS_IN and name in _OF_TORCH)
        )
    of_python = os.path.basename(file) in _PYTHON_FILES or f"{module}.{name}" in _PYTHON_FUNCTIONS
    return of_python and is_of_python(file)


def is_known_builtin(function: BuiltinFunctionType) -> bool:
    """Whether a function of C is one of those that its name describes."""
    owner, module = function.__self__, function.__module__
    if owner is None or isinstance(owner, type):
        names: Any = torch._C._VariableFunctions
        return getattr(names, function.__name__, None) is function
    if not isinstance(owner, ModuleType):
        return False
    if module == "builtins":
        return function.__name__ in _BUILTINS
    if module in _PYTHON_BUILTINS:
        return True
    if module == "numpy" or owner.__name__.startswith("numpy."):
        return function.__name__ in _NUMPY
    if owner is torch._C:
        return function.__name__ in _OF_TORCH
    return any(owner is getattr(torch._C, name, None) for name in _BUILTINS_OF)


def is_known_object(value: Any) -> bool:
    """Whether something else is described by its type and its text."""
    cls = type(value)
    if cls.__module__ == "typing" or isinstance(value, numpy.ufunc):
        return True
    if cls.__name__ == "_ArrayFunctionDispatcher":
        return cls.__module__.startswith("numpy") and value.__name__ in _NUMPY
    return cls in (torch.dtype, torch.device, torch.layout, torch.memory_format, numpy.dtype)


def is_of_python(file: str) -> bool:
    """Whether a file belongs to Python's own library."""
    return file.startswith((_PYTHON, "<frozen ")) and _PACKAGES not in file


def tensor_class() -> list[tuple[str, str]]:
    """What torch's class of tensors has; NotDescribedError where somebody else wrote some of it."""
    return [
        (name, _original(f"torch.Tensor.{name}", one)) for name, one in vars(torch.Tensor).items()
    ]


def original_names(function: FunctionType, checked: set[CodeType]) -> Iterator[tuple[str, str]]:
    """The names in a function of torch and what they stand for, also in those that it calls.

    NotDescribedError where it uses what somebody else has put there instead of a part of torch.
    `checked` has the code that was seen before.
    """
    code = function.__code__
    if code in checked or not code.co_filename.startswith(_TORCH):
        return
    checked.add(code)
    names = function.__globals__
    values = [(name, names[name]) for name in code.co_names if name in names]
    for _, one in list(values):
        if isinstance(one, ModuleType):
            # This one looks up elsewhere what nobody has replaced.
            known = (
                vars(one)
                if one is not torch._VF
                else {name: getattr(one, name) for name in code.co_names if hasattr(one, name)}
            )
            values += [(name, known[name]) for name in code.co_names if name in known]
    yield from ((name, "") for name in code.co_names)
    for name, value in values:
        original = _original(name, value)
        # Modules of torch are there from the time on at which somebody has imported them.
        if not (isinstance(value, ModuleType) and value.__name__.startswith("torch.")):
            yield name, original
        if isinstance(value, FunctionType) and value.__module__ in _FUNCTIONS_OF:
            yield from original_names(value, checked)


def _original(name: str, value: Any) -> str:
    """Which part of torch, NumPy or Python a name stands for in torch's own code."""
    kind = type(value)
    if isinstance(value, (FunctionType, type, BuiltinFunctionType, *_DESCRIPTORS)):
        module = str(getattr(value, "__module__", ""))
        if not isinstance(value, FunctionType) or _is_inside(value):
            return f"{kind.__name__} {module}.{value.__qualname__}"
    elif isinstance(value, ModuleType):
        return f"module {value.__name__}"
    elif kind in (bool, int, float, str, type(None)):
        return f"{kind.__name__} {value!r}"
    elif kind.__module__.split(".")[0] in ("torch", "typing", "builtins", "numpy", "collections"):
        return f"a {kind.__qualname__}"
    raise NotDescribedError(f"{name}, which torch uses, was replaced")


def _is_inside(function: FunctionType) -> bool:
    file = function.__code__.co_filename
    return file.startswith(_TORCH) or is_of_python(file)
