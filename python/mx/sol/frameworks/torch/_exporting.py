"""Calls of torch.export whose errors name the module and the line of the model."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
import traceback
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ....graph import GraphError
from ....importers.torch import _export
from ._hooks import HOOKS
from ._surroundings import plain

_TORCH = os.path.dirname(torch.__file__)
_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
_STANDARD = os.path.dirname(os.__file__) + os.sep
# Loggers that tell what torch.export assumes, which the report tells.
_LOGGERS = ("torch._export.non_strict_utils", "torch.fx.experimental.symbolic_shapes")
# One that tells of errors, which are raised, too.
_ERRORS = "torch._subclasses.fake_tensor"
_levels = threading.RLock()  # of these loggers, as who leaves restores what it found
_UNKNOWN = re.compile(r"Found <class '([\w.]*?)(\w+)'> in output, which is not a known type")


def export(
    module: Any,
    args: Any,
    kwargs: Any,
    dynamic: Any,
    training: bool = False,
    own_modes: bool = False,
) -> tuple[Any, Any]:
    """What the importer of torch exports. GraphError where torch cannot follow the module."""
    try:
        with quiet(), _unprinted(), plain(), _without_hooks(module), _with_parameters(module):
            return _export.export(module, args, kwargs, dynamic, training, own_modes)
    except GraphError as error:
        if not training:
            raise
        raise GraphError(told(module, error)) from error
    except Exception as error:
        raise GraphError(
            f"{type(module).__name__} cannot be exported by torch: {told(module, error)}"
        ) from error


def told(module: Any, error: Exception) -> str:
    """What an error says, and the module and the line of the model that it came from."""
    names = {id(one): name for name, one in module.named_modules()}
    path, line = "", ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        owner = frame.f_locals.get(code.co_varnames[0]) if code.co_varnames else None
        path = names.get(id(owner), "") or path
        if not code.co_filename.startswith((_TORCH, _OWN, _STANDARD, "<")):
            line = f"{code.co_filename}:{number}"
    where = ", ".join(part for part in (f"module {path!r}" if path else "", line) if part)
    text = str(error).split("\n")[0]
    unknown = _UNKNOWN.match(text)
    if unknown:
        text = (
            f"it returns a {unknown[2]}, a class whose parts torch does not know: call"
            f" torch.export.register_dataclass({unknown[2]}) for a dataclass, or"
            " torch.utils._pytree.register_pytree_node"
        )
    if isinstance(error, GuardOnDataDependentSymNode):
        text = "its Python code depends on the elements of a tensor"
    return f"{text} ({where})" if where else text


@contextlib.contextmanager
def _unprinted() -> Iterator[None]:
    """Without the graph so far, which torch prints to the standard error output where Python code
    depends on elements: that is an error, and said there, or left to torch."""
    names = vars(_export.exporter())
    with _levels:
        before = names.get("print", print)
        names["print"] = lambda *values, **options: None
        try:
            yield
        finally:
            names["print"] = before


@contextlib.contextmanager
def _without_hooks(module: Any) -> Iterator[None]:
    """Without the hooks of the module itself, which its calls run."""
    own = module.__dict__
    before = {kind: own[kind] for kind in HOOKS}
    own.update({kind: OrderedDict() for kind in HOOKS})
    try:
        yield
    finally:
        own.update(before)


@contextlib.contextmanager
def _with_parameters(module: Any) -> Iterator[None]:
    """Has parameters where torch.func.functional_call has put tensors, which torch.export does not
    take."""
    made: dict[int, Any] = {}
    before = []
    for one in module.modules():
        for key, tensor in one._parameters.items():
            if tensor is not None and not isinstance(tensor, torch.nn.Parameter):
                before.append((one._parameters, key, tensor))
    for owner, key, tensor in before:
        known = made.get(id(tensor))
        if known is None:
            known = torch.nn.Parameter(tensor.detach(), tensor.requires_grad)
        owner[key] = made[id(tensor)] = known
    try:
        yield
    finally:
        for owner, key, tensor in before:
            owner[key] = tensor


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without what torch logs of assumptions, and of errors that it raises, too."""
    loggers = [logging.getLogger(name) for name in (*_LOGGERS, _ERRORS)]
    with _levels:
        levels = [logger.level for logger in loggers]
        try:
            for logger in loggers:
                logger.setLevel(logging.CRITICAL if logger.name == _ERRORS else logging.ERROR)
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
