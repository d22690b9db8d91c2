"""Makes nodes out of calls such as `mx.sym.Convolution(data, kernel=(3, 3), num_filter=8)`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from mx.importers.mxnet.nodes import (
    make_node,
    make_variable,
    note_initializers,
    visible_outputs,
)
from mx.importers.mxnet.symbol_json import HIDDEN
from mx.importers.mxnet.table import KINDS, REQUIRED, TABLE, Operator, Parameter, Parameters

from . import _naming


def as_text(parameter: Parameter, value: object) -> str:
    """A value as MXNet's files have it."""
    if parameter.kind == "dtype" and value is not None and not isinstance(value, str):
        return np.dtype(value).name  # type: ignore[call-overload, no-any-return]
    if isinstance(value, (list, tuple)):
        return str(tuple(n.item() if isinstance(n, np.generic) else n for n in value))
    return str(value.item() if isinstance(value, np.generic) else value)


def _hidden(name: str) -> str:
    return f"__{name}__" if name in HIDDEN else name


class _Call:
    """The arguments of one call, taken apart into inputs, parameters and attributes."""

    def __init__(self, op: str, operator: Operator) -> None:
        self.op, self.operator = op, operator
        self.known = {parameter.name: parameter for parameter in operator.parameters}
        self.texts: dict[str, str] = {}
        self.positional: list[ir.Value] = []
        self.named: dict[str, ir.Value] = {}
        self.attributes: dict[str, str] = {}

    def error(self, message: str) -> TypeError:
        return TypeError(f"mx.sym.{self.op}: {message}")

    def take_positional(self, args: Sequence[object]) -> None:
        if len(args) == 1 and isinstance(args[0], (list, tuple)) and self.operator.variadic:
            args = args[0]
        free = [p for p in self.operator.parameters if p.name != "num_args"]
        for i, arg in enumerate(args):
            value = single_of(arg)
            if value is not None:
                if len(self.positional) < i:
                    raise self.error(f"argument {i}: expected no symbol after a number")
                self.positional.append(value)
            elif arg is None and not self.texts:
                raise self.error(f"argument {i}: expected a symbol, got None: pass others by name")
            elif not free:
                raise self.error(f"argument {i}: expected a symbol, got {type(arg).__name__}")
            else:
                parameter = free.pop(0)
                self.texts[parameter.name] = as_text(parameter, arg)

    def take_named(self, kwargs: Mapping[str, object]) -> None:
        for name, arg in kwargs.items():
            value = single_of(arg)
            if value is not None:
                self.named[name] = value
            elif name in self.known:
                if name in self.texts:
                    raise self.error(f"argument {name}: given twice")
                if arg is not None or self.known[name].default is not None:
                    self.texts[name] = as_text(self.known[name], arg)
            elif name in HIDDEN or (name.startswith("__") and name.endswith("__")):
                self.attributes[_hidden(name)] = str(arg)
            elif arg is not None:
                known = ", ".join(self.known) or "none"
                raise self.error(
                    f"argument {name}: expected a symbol or one of the parameters ({known}), "
                    f"got {arg!r:.60}"
                )

    def parse(self) -> Parameters:
        if self.operator.variadic and "num_args" not in self.texts:
            self.texts["num_args"] = str(len(self.positional) + len(self.named))
        try:
            return self.operator.parse(self.texts)
        except ValueError as error:
            raise ValueError(f"mx.sym.{self.op}: {error}") from None

    def inputs(self, name: str, attributes: Mapping[str, str]) -> list[ir.Value]:
        """The inputs by position and by name; a variable for each that is missing."""
        names = self.operator.inputs(self.parse())
        if len(self.positional) > len(names):
            raise self.error(f"expected at most {len(names)} symbols, got {len(self.positional)}")
        given = dict(zip(names, self.positional, strict=False))
        for key, value in self.named.items():
            if key not in names:
                raise self.error(f"argument {key}: expected one of {', '.join(names)}")
            if key in given:
                raise self.error(f"argument {key}: given twice")
            given[key] = value
        own = {key: value for key, value in attributes.items() if key.startswith("__")}
        return [given.get(one) or make_variable(f"{name}_{one}", own) for one in names]


def single_of(arg: object) -> ir.Value | None:
    """The value of a symbol of one output; None for what is no symbol."""
    heads = getattr(arg, "_heads", None)
    if heads is None:
        return None
    if len(heads) != 1:
        raise TypeError(f"expected a symbol of one output, got one of {len(heads)}: take one by []")
    value: ir.Value = heads[0]
    return value


def compose(
    op: str,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    hint: str | None = None,
) -> Sequence[ir.Value]:
    """The visible outputs of a new node.

    TypeError for arguments that the operator lacks, ValueError for values that it does not take.
    """
    operator = TABLE[op]
    call = _Call(op, operator)
    call.take_positional(args)
    call.take_named(kwargs)
    name = _naming.current().get(name, hint or op.lower())
    attributes = {_hidden(key): value for key, value in (attr or {}).items()} | call.attributes
    inputs = call.inputs(name, attributes)
    node = make_node(op, name, call.texts, inputs, attributes)
    note_initializers(node)
    return visible_outputs(node)


def _example(parameter: Parameter) -> Any:
    if parameter.default is not REQUIRED:
        return parameter.default
    return parameter.choices[0] if parameter.choices else 1


def argument_names(operator: Operator) -> tuple[str, ...]:
    """The arguments of an operator whose parameters are the defaults."""
    return operator.inputs(Parameters({p.name: _example(p) for p in operator.parameters}))


def signature_of(operator: Operator) -> inspect.Signature:
    """The arguments and parameters of the function for an operator."""
    only = inspect.Parameter.KEYWORD_ONLY
    either = only if operator.variadic else inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    if operator.variadic:
        parameters.append(inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL))
    else:
        names = argument_names(operator)
        parameters += [inspect.Parameter(one, either, default=None) for one in names]
    for parameter in operator.parameters:
        if parameter.name != "num_args":
            default = None if parameter.default is REQUIRED else parameter.default
            parameters.append(inspect.Parameter(parameter.name, either, default=default))
    for one in ("name", "attr"):
        parameters.append(inspect.Parameter(one, only, default=None))
    return inspect.Signature(parameters)


def document(operator: Operator) -> str:
    """What help() tells of the function for an operator."""
    lines = [operator.doc, ""]
    if not operator.variadic:
        lines += [f"{one}: a symbol; a new variable by default" for one in argument_names(operator)]
    for parameter in operator.parameters:
        if parameter.name == "num_args":
            continue
        kind = " or ".join(map(repr, parameter.choices)) or KINDS[parameter.kind]
        default = "" if parameter.default is REQUIRED else f", {parameter.default!r} by default"
        lines.append(f"{parameter.name}: {kind}{default or ', has to be given'}")
    lines += ["name: of the node; a new one by default", "attr: texts to note of the node, by name"]
    return "\n".join(lines)
