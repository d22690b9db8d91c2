"""What MXNet's operators are: parameters, arguments, outputs, and what they mean in ONNX.

An operator is one `Operator` of the table, which the modules of `rules` fill, a family each. Its
arguments and outputs may depend on its parameters; `expand` gives the values that its outputs are
in ONNX, and `shapes` the shapes of arguments that follow from those of others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import onnx_ir as ir

    from .expansion import Expansion

# What a node may have of inputs, outputs and layers: files can tell any number.
MOST_OF_ONE_NODE = 1 << 14
COUNTS = {"num_args", "num_outputs", "num_layers"}

# A dimension is a number, a name, or None where nothing is known of it.
Dimension = int | str | None
Shape = tuple[Dimension, ...]

DTYPE_NAMES = {
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "bool",
}


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED = _Required()


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operator: files have its value as text."""

    name: str
    kind: str  # a key of _PARSERS
    default: object = REQUIRED
    choices: tuple[str, ...] = ()

    def parse(self, text: object) -> Any:
        """The value that a text, or a value of Python, stands for; ValueError where it is none."""
        plain = str(text).strip()
        if plain in ("None", "null"):
            if self.default is REQUIRED:
                raise ValueError("expected a value, but None came")
            # Only what may be left out may be None, besides axes, where it means all of them.
            return None if self.name == "axis" else self.default
        if self.choices and plain not in self.choices:
            raise ValueError(f"expected one of {', '.join(self.choices)}, but {text!r} came")
        try:
            return _PARSERS[self.kind](plain)
        except ValueError as error:
            raise ValueError(f"expected {KINDS[self.kind]}, but {text!r} came") from error


def _bool(text: str) -> bool:
    if text.lower() in ("true", "1"):
        return True
    if text.lower() in ("false", "0"):
        return False
    raise ValueError(text)


def _int(text: str) -> int:
    if text in ("True", "False"):
        return int(text == "True")
    number = float(text) if re.search(r"[.eE]", text) else int(text.rstrip("L"))
    if number != int(number):
        raise ValueError(text)
    return int(number)


def _numbers(text: str, of: Callable[[str], Any]) -> tuple[Any, ...]:
    inner = re.fullmatch(r"[(\[](.*)[)\]]|([^()\[\]]+)", text, re.S)
    if inner is None:
        raise ValueError(text)
    items = [item.strip() for item in (inner[1] if inner[2] is None else inner[2]).split(",")]
    if items and not items[-1]:
        items.pop()
    return tuple(None if item == "None" else of(item) for item in items)


def _ints(text: str) -> tuple[int | None, ...]:
    return _numbers(text, _int)


def _floats(text: str) -> tuple[float, ...]:
    return _numbers(text, float)


def _int_or_ints(text: str) -> Any:
    return _ints(text) if "(" in text or "[" in text or "," in text else _int(text)


def _pairs(text: str) -> tuple[int | None, ...]:
    """All numbers of ((0, 0), (1, 2)), one after another."""
    flat = re.sub(r"[()\[\]]", "", text)
    return _ints(f"({flat})")


def _dtype(text: str) -> str:
    named = re.fullmatch(r"<class 'numpy\.(\w+?)_?'>", text)
    name = named[1] if named else text
    if name not in DTYPE_NAMES:
        raise ValueError(text)
    return name


_PARSERS: dict[str, Callable[[str], Any]] = {
    "int": _int,
    "float": float,
    "bool": _bool,
    "str": str,
    "ints": _ints,
    "floats": _floats,
    "axes": _int_or_ints,
    "pairs": _pairs,
    "dtype": _dtype,
}
KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "str": "a text",
    "ints": "whole numbers such as (2, 2)",
    "floats": "numbers such as (1.0, 2.0)",
    "axes": "a whole number or several such as (0, 1)",
    "pairs": "pairs of whole numbers such as ((0, 0), (1, 2))",
    "dtype": "a data type",
}


class Parameters:
    """The parsed parameters of a node, as attributes."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


Names = tuple[str, ...]


@dataclass(frozen=True)
class Operator:
    """One operator of MXNet."""

    name: str
    doc: str
    parameters: tuple[Parameter, ...]
    arguments: Callable[[Parameters], Names]
    auxiliary: Names
    outputs: Callable[[Parameters], Names]
    visible: Callable[[Parameters], int] | None
    shapes: Callable[[Parameters, dict[str, Shape]], Mapping[str, Shape | None]] | None
    dtypes: Mapping[str, str]
    initial: Mapping[str, str]
    expand: Callable[[Expansion], ir.Value | Sequence[ir.Value]] | None
    variadic: bool = False
    # Arguments that only training reads.
    only_training: Names = ()

    def parse(self, attributes: Mapping[str, object]) -> Parameters:
        """The parameters of a node, with the defaults of those that it lacks.

        ValueError names the one that is wrong or missing.
        """
        values: dict[str, Any] = {}
        for parameter in self.parameters:
            if parameter.name in attributes:
                try:
                    values[parameter.name] = parameter.parse(attributes[parameter.name])
                except ValueError as error:
                    raise ValueError(f"parameter {parameter.name}: {error}") from error
            elif parameter.default is REQUIRED:
                raise ValueError(f"parameter {parameter.name}: expected a value, but none came")
            else:
                values[parameter.name] = parameter.default
            if parameter.name in COUNTS and not 0 < values[parameter.name] <= MOST_OF_ONE_NODE:
                came = values[parameter.name]
                raise ValueError(
                    f"parameter {parameter.name}: expected 1 to {MOST_OF_ONE_NODE}, but {came} came"
                )
        return Parameters(values)

    def inputs(self, parameters: Parameters) -> Names:
        """The names of its arguments and, after them, of its auxiliary states."""
        return self.arguments(parameters) + self.auxiliary

    def visible_outputs(self, parameters: Parameters) -> int:
        """How many of its outputs a symbol has: others are those that only training uses."""
        whole = len(self.outputs(parameters))
        return whole if self.visible is None else self.visible(parameters)


TABLE: dict[str, Operator] = {}

Expand = Callable[["Expansion"], "ir.Value | Sequence[ir.Value]"]
E = TypeVar("E", bound=Expand)


def named(names: str | Callable[[Parameters], Names]) -> Callable[[Parameters], Names]:
    """The names in a text, whatever the parameters are."""
    if not isinstance(names, str):
        return names
    constant = tuple(names.split())
    return lambda parameters: constant


def counted(parameter: str = "num_args", prefix: str = "arg") -> Callable[[Parameters], Names]:
    """As many names as a parameter says: arg0, arg1, ..."""
    return lambda p: tuple(f"{prefix}{i}" for i in range(getattr(p, parameter)))


def same_shapes(p: Parameters, known: dict[str, Shape]) -> Mapping[str, Shape | None]:
    """All arguments have one shape."""
    for shape in known.values():
        if all(isinstance(n, int) for n in shape):
            return dict.fromkeys(("lhs", "rhs", "data", "label"), shape)
    return {}


def register(
    name: str,
    doc: str,
    parameters: Iterable[Parameter] = (),
    arguments: str | Callable[[Parameters], Names] = "data",
    *,
    auxiliary: str = "",
    outputs: str | Callable[[Parameters], Names] = "output",
    visible: Callable[[Parameters], int] | None = None,
    shapes: Callable[[Parameters, dict[str, Shape]], Mapping[str, Shape | None]] | None = None,
    dtypes: Mapping[str, str] | None = None,
    initial: Mapping[str, str] | None = None,
    aliases: str = "",
    variadic: bool = False,
    only_training: str = "",
) -> Callable[[E], E]:
    """Adds the operator whose `expand` is the function below to the table.

    `aliases` are the further names that files have for it. `dtypes` are those of arguments that
    do not have the data type of the first, `initial` the initializers, as MXNet writes them, of
    those that have one of their own. `variadic` says that `num_args` counts the arguments,
    `only_training` names those of which inference needs nothing.
    """

    def add(expand: E) -> E:
        operator = Operator(
            name,
            doc,
            tuple(parameters),
            named(arguments),
            tuple(auxiliary.split()),
            named(outputs),
            visible,
            shapes,
            dtypes or {},
            initial or {},
            expand,
            variadic,
            tuple(only_training.split()),
        )
        for known in (name, *aliases.split()):
            if known in TABLE:
                raise ValueError(f"register: {known} is in the table already")
            TABLE[known] = operator
        return expand

    return add


def required(name: str, kind: str, *choices: str) -> Parameter:
    """A parameter without a default."""
    return Parameter(name, kind, REQUIRED, choices)


def optional(name: str, kind: str, default: object = None, *choices: str) -> Parameter:
    """A parameter with a default; one of `choices` where there are some."""
    return Parameter(name, kind, default, choices)
