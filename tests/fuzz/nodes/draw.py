"""Random numbers, shapes and tensors, of the types that operators allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy
import onnx
import onnx_ir

Array: TypeAlias = numpy.ndarray[Any, Any]

# ONNX's names of the types of tensors, by what NumPy calls them.
_NAMES = {"float32": "float", "float64": "double"}
FLOATS = ("float16", "bfloat16", "float32", "float64")
_PLAIN = (*FLOATS, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
# No tensor has more elements, and but for few none has more axes.
_MOST = 2000
_SPECIAL = (numpy.nan, numpy.inf, -numpy.inf, -0.0, 1e30, -1e30, 1e-30)
_WORDS = ("", "a", "b", "ab", "A b", "é", "x.y", " a", "b@c.de")


@dataclass
class Case:
    """A node: `known` are the inputs that the graph has as constants."""

    operator: str
    version: int
    inputs: list[Any]
    attributes: dict[str, Any]
    outputs: int = 1
    known: frozenset[int] = frozenset()
    # Nodes instead of one, for which this is only a name.
    model: onnx.ModelProto | None = field(default=None, repr=False)

    def __str__(self) -> str:
        shown = [_text(one, index in self.known) for index, one in enumerate(self.inputs)]
        given = {name: one for name, one in self.attributes.items() if not _is_graph(one)}
        return f"{self.operator}-{self.version}({', '.join(shown)}; {given}) => {self.outputs}"


def _is_graph(attribute: Any) -> bool:
    return isinstance(attribute, onnx.GraphProto)


def _text(one: Any, is_known: bool) -> str:
    if not isinstance(one, numpy.ndarray):
        return "none" if one is None else f"[{', '.join(_text(part, False) for part in one)}]"
    shown = f"{one.dtype}{list(one.shape)}"
    if one.size <= 12 and one.dtype.kind in "iub":
        shown += f"={one.tolist()}"
    return shown + ("!" if is_known else "")


def dtype_of(name: str) -> numpy.dtype[Any]:
    """NumPy's type of a name, whoever it is from."""
    if name == "string":
        return numpy.dtype(object)
    return onnx_ir.DataType[_NAMES.get(name, name).upper()].numpy()


class Draw:
    """Draws what a seed gives."""

    def __init__(self, *seed: int) -> None:
        self.random = numpy.random.default_rng(seed)
        self.types: dict[str, str] = {}

    def chance(self, share: float = 0.5) -> bool:
        return bool(self.random.random() < share)

    def between(self, low: int, high: int) -> int:
        """One of the numbers, both of these among them."""
        return int(self.random.integers(low, high + 1))

    def pick(self, *options: Any) -> Any:
        return options[self.between(0, len(options) - 1)]

    def maybe(self, make: Any, share: float = 0.5) -> Any:
        """What a function gives, or None."""
        return make() if self.chance(share) else None

    def given(self, share: float = 0.5, **attributes: Any) -> dict[str, Any]:
        """Some of the attributes."""
        return {name: value for name, value in attributes.items() if self.chance(share)}

    def extent(self) -> int:
        return 0 if self.chance(0.04) else int(self.pick(1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17))

    def shape(self, least: int = 0, most: int = 5) -> tuple[int, ...]:
        """Of so many axes, of few elements."""
        shape = [self.extent() for _ in range(self.between(least, most))]
        while numpy.prod(shape) > _MOST:
            shape[int(numpy.argmax(shape))] = self.pick(1, 2)
        return tuple(shape)

    def broadcast(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts to the given one."""
        made = [1 if self.chance(0.25) else extent for extent in shape]
        return tuple(made[self.between(0, len(made)) :] if self.chance(0.3) else made)

    def dtype(self, schema: Any, index: int = 0, *wanted: str) -> str:
        """The type of an input, one that the operator allows; `wanted` if it allows any of those.

        Inputs of one type variable are of one type."""
        inputs = schema.inputs
        spec = inputs[min(index, len(inputs) - 1)]
        found = self.types.get(spec.type_str)
        if found is None:
            names = {_NAMES.get(name, name): name for name in _PLAIN + _NARROW + ("string",)}
            allowed = [
                names[one[7:-1]]
                for one in sorted(spec.types)
                if one.startswith("tensor(") and one[7:-1] in names
            ]
            allowed = [one for one in allowed if one in wanted] or allowed
            usual = [one for one in allowed if one in _PLAIN]
            if "float32" in allowed and self.chance(0.4):
                found = "float32"
            else:
                found = self.pick(*(usual if usual and self.chance(0.9) else allowed))
            self.types[spec.type_str] = found
        return found

    def array(self, shape: Sequence[int], dtype: str, special: float = 0.15) -> Array:
        """Elements, among which there may be NaN, infinities and the largest integers."""
        shape, random = tuple(shape), self.random
        if dtype == "string":
            chosen = random.integers(0, len(_WORDS), shape)
            return numpy.asarray(numpy.array(_WORDS, object)[chosen], object).reshape(shape)
        kind = dtype_of(dtype)
        if dtype == "bool":
            return random.random(shape) < 0.5
        if dtype.startswith(("int", "uint")):
            low = -9 if dtype.startswith("int") else 0
            if dtype in ("int4", "uint4", "int2", "uint2"):
                bits = int(dtype[-1])
                low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if low else (0, (1 << bits) - 1)
                return random.integers(low, high + 1, shape).astype("int8").astype(kind)
            made = numpy.asarray(random.integers(low, 10, shape)).astype(kind)
            if self.chance(special) and made.size:
                limits = numpy.iinfo(kind)
                made.reshape(-1)[random.integers(0, made.size)] = self.pick(limits.min, limits.max)
            return made
        numbers = random.standard_normal(shape)
        if self.chance(0.6):
            numbers = numpy.round(numbers * 8) / 4
        made = numpy.asarray(numbers)
        if made.size and dtype in FLOATS and self.chance(special):
            for _ in range(self.between(1, 3)):
                made.reshape(-1)[random.integers(0, made.size)] = self.pick(*_SPECIAL)
        with numpy.errstate(all="ignore"):
            return made.astype("float32").astype(kind) if dtype != "float64" else made

    def positive(self, shape: Sequence[int], dtype: str) -> Array:
        """Elements above 0, of floats."""
        made = numpy.asarray(self.random.integers(1, 17, tuple(shape)) / 8)
        return made.astype("float32").astype(dtype_of(dtype))

    def like(self, schema: Any, shape: Sequence[int], index: int = 0, *wanted: str) -> Array:
        """An input of the node."""
        return self.array(shape, self.dtype(schema, index, *wanted))

    def axis(self, rank: int) -> int:
        return self.between(-rank, rank - 1)

    def axes(self, rank: int, least: int = 0, most: int = 9) -> list[int]:
        """Different axes, some of which are counted from the end."""
        count = self.between(min(least, rank), min(rank, most))
        chosen = self.random.permutation(rank)[:count]
        return [int(axis) - (rank if self.chance(0.3) else 0) for axis in chosen]

    def weights(self, count: int, share: float = 0.5, always: Sequence[int] = ()) -> frozenset[int]:
        """Which inputs are constants."""
        return frozenset(n for n in range(1, count) if self.chance(share)) | frozenset(always)


_NARROW = tuple(
    "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz int4 uint4 int2 uint2".split()
)


def int64(*numbers: Any) -> Array:
    return numpy.array(numbers, "int64")


def scalar(number: Any, dtype: str = "int64") -> Array:
    return numpy.asarray(numpy.array(number, "float64" if dtype in FLOATS else None)).astype(
        dtype_of(dtype)
    )
