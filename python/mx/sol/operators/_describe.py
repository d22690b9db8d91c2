"""How an operator of this package is described: a function of NumPy's arrays, and its inference.

The parameters of the function are the inputs (`Array | None` is one that may be missing), its
keywords the attributes with their defaults, its docstring is the description. From that come the
schema that the onnx package gets, and what `mx.graph` needs to execute a node.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import onnx
import onnx.parser

from ...graph import OPSET
from ...graph._custom import CustomOperator, register
from ._inference import Infer, inference_of

# NumPy's; its operators are typed so loosely that nothing is gained by saying so.
Array: TypeAlias = Any

DOMAIN = "mxffi.sol"
VERSION = 1
OPERATORS: dict[str, Operator] = {}

_KINDS = onnx.defs.OpSchema.AttrType
_ATTRIBUTE_KINDS = {
    "int": _KINDS.INT,
    "float": _KINDS.FLOAT,
    "str": _KINDS.STRING,
    "Ints": _KINDS.INTS,
}
# An attribute of integers, which may be left out: the function says what that means.
Ints: TypeAlias = Sequence[int] | None


@dataclass(frozen=True)
class Operator:
    """An operator of the domain `mxffi.sol`."""

    name: str
    doc: str
    inputs: tuple[str, ...]
    optional: frozenset[str]  # inputs that may be missing
    outputs: tuple[str, ...]
    attributes: dict[str, Any]  # with their defaults; None for one that may be left out
    reference: Callable[..., Any]
    body: onnx.FunctionProto | None

    def __str__(self) -> str:
        attributes = ", ".join(f"{name}={value!r}" for name, value in self.attributes.items())
        inputs = ", ".join(f"[{n}]" if n in self.optional else n for n in self.inputs)
        text = f"{self.name}({inputs}) -> {', '.join(self.outputs)}"
        return f"{text}    {attributes}" if attributes else text


def operator(
    name: str,
    outputs: str,
    infer: Infer,
    body: str = "",
    like: dict[int, int] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for the NumPy function of an operator.

    `outputs` are names separated by spaces, `body` the nodes that it is short for, in ONNX's text
    form. `like` says which outputs have the shape that the elements of an input tell.
    """

    def describe(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function).parameters.values()
        given = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
        named = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
        made = Operator(
            name,
            inspect.cleandoc(function.__doc__ or ""),
            tuple(one.name for one in given),
            frozenset(one.name for one in given if "None" in str(one.annotation)),
            tuple(outputs.split()),
            {one.name: one.default for one in named},
            function,
            None,
        )
        kinds = {one.name: _ATTRIBUTE_KINDS[str(one.annotation)] for one in named}
        parsed = _body(made, body) if body else None
        made = Operator(**{**made.__dict__, "body": parsed})
        OPERATORS[name] = made
        onnx.defs.register_schema(_schema(made, kinds, infer))
        reference = _reference(made)
        register(CustomOperator(DOMAIN, name, reference, parsed, like or {}, made.attributes))
        return function

    return describe


def _reference(described: Operator) -> Callable[..., tuple[Any, ...]]:
    """The function of an operator, for inputs of which the last may be missing; gives a tuple."""

    def run(*arrays: Any, **attributes: Any) -> tuple[Any, ...]:
        missing = [None] * (len(described.inputs) - len(arrays))
        found = described.reference(*arrays, *missing, **attributes)
        return found if isinstance(found, tuple) else (found,)

    return run


def _body(described: Operator, text: str) -> onnx.FunctionProto:
    # What has no default is not there to be referred to.
    given = ", ".join(name for name, value in described.attributes.items() if value is not None)
    attributes = f"<{given}>" if given else ""
    head = (
        f'<domain: "{DOMAIN}", opset_import: ["" : {OPSET}, "{DOMAIN}" : {VERSION}]>\n'
        f"{described.name} {attributes}({', '.join(described.inputs)})"
        f" => ({', '.join(described.outputs)})"
    )
    return onnx.parser.parse_function(f"{head} {{\n{textwrap.dedent(text)}\n}}")


def _schema(described: Operator, kinds: dict[str, Any], infer: Infer) -> onnx.defs.OpSchema:
    schema = onnx.defs.OpSchema
    options = schema.FormalParameterOption
    every = sorted(schema_types())
    inputs = [
        schema.FormalParameter(
            name,
            f"T_{name}",
            param_option=options.Optional if name in described.optional else options.Single,
        )
        for name in described.inputs
    ]
    outputs = [
        schema.FormalParameter(
            name, f"T_{name}", param_option=options.Optional if number else options.Single
        )
        for number, name in enumerate(described.outputs)
        if name not in described.inputs
    ]
    made = schema(
        described.name,
        DOMAIN,
        VERSION,
        described.doc,
        inputs=inputs,
        outputs=outputs,
        type_constraints=[(one.type_str, every, "") for one in (*inputs, *outputs)],
        attributes=[
            schema.Attribute(name, kinds[name], "", required=False)
            if value is None
            else schema.Attribute(name, onnx.helper.make_attribute(name, value))
            for name, value in described.attributes.items()
        ],
    )
    made.set_type_and_shape_inference_function(inference_of(described, infer))
    return made


def schema_types() -> set[str]:
    """The types of tensors that operators take: of numbers and truth values."""
    names = "float16 float double bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"
    return {f"tensor({name})" for name in names.split()}
