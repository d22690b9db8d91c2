"""Element types in generated C."""

from __future__ import annotations

from dataclasses import dataclass

from ....graph.lowering._value import Declined


@dataclass(frozen=True)
class Type:
    """An element type: in memory, and as a single value in an expression."""

    name: str
    memory: str  # the C type in memory
    value: str  # the C type of a value: float for float16 and bfloat16
    short: str  # in the names of functions
    size: int

    @property
    def is_float(self) -> bool:
        """Whether it has infinities."""
        return self.value in ("float", "double")

    @property
    def is_signed(self) -> bool:
        """Whether it is an integer that may be negative."""
        return self.name.startswith("int")

    @property
    def is_integer(self) -> bool:
        """Whether it is one of the eight types of integers."""
        return self.name.startswith(("int", "uint"))

    def load(self, text: str) -> str:
        """A value of what is in memory."""
        if self.name == "bool":
            return f"({text} != 0)"
        return f"{_FROM[self.name]}({text})" if self.name in _FROM else text

    def store(self, text: str) -> str:
        """What is put into memory for a value."""
        if self.name == "bool":
            return f"(uint8_t)({text})"
        return f"{_TO[self.name]}({text})" if self.name in _TO else text

    def rounded(self, text: str) -> str:
        """A value that has been computed in more bits, with those of this type."""
        return self.load(self.store(text)) if self.name in _TO else text


_FROM = {name: f"mx_float_of_{name}" for name in ("float16", "bfloat16")}
_TO = {name: f"mx_{name}_of_float" for name in _FROM}

TYPES = {
    kind.name: kind
    for kind in (
        Type("float32", "float", "float", "f", 4),
        Type("float64", "double", "double", "d", 8),
        Type("float16", "uint16_t", "float", "f", 2),
        Type("bfloat16", "uint16_t", "float", "f", 2),
        Type("bool", "uint8_t", "int", "b", 1),
        *(
            Type(f"{sign}int{bits}", f"{sign}int{bits}_t", f"{sign}int{bits}_t", short, bits // 8)
            for bits in (8, 16, 32, 64)
            for sign, short in (("", f"i{bits}"), ("u", f"u{bits}"))
        ),
    )
}
FLOATS = ("float32", "float64", "float16", "bfloat16")


def type_of(name: str) -> Type:
    """The type of a name; Declined where generated code has none of it."""
    if name not in TYPES:
        raise Declined(f"elements of type {name}")
    return TYPES[name]
