"""What a deployed library is called by: names, arguments, sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...graph import GraphError
from ._names import C_TYPES, identifier, shape_text, unique
from ._program import ALIGNMENT, Program, Value, aligned

# What functions return, in the order of their numbers, and what each means.
STATUSES = (
    ("OK", "the outputs are written"),
    ("NULL", "an argument is NULL"),
    ("ALIGNMENT", "an argument is not aligned as its type has to be"),
    ("ARENA", "the arena has too few bytes"),
    ("OVERLAP", "an output overlaps with another argument"),
    ("POOL", "the pool has no thread, or no function"),
    ("WEIGHTS", "the weights are not those of this library, or damaged"),
    ("PROCESSOR", "this processor lacks instructions that the library was compiled for"),
)


@dataclass(frozen=True)
class Argument:
    """An input or output, as a parameter of the function."""

    parameter: str
    c_type: str
    value: Value

    def describe(self) -> str:
        """What comments say of it."""
        text = ", ".join(map(str, self.value.shape))
        return f"{self.parameter}: {self.value.name}, {self.value.dtype} ({text})"


@dataclass(frozen=True)
class Interface:
    """The functions of one library. `func_name` begins all names that it has."""

    lib_name: str
    func_name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    is_inside: bool  # whether the weights are part of the library
    arena_bytes: int  # for one thread
    thread_bytes: int  # more for each further one
    weights_bytes: int  # of the file with its header, where the weights are beside
    made_for: str  # the processor, in words

    @property
    def macro(self) -> str:
        """What names of macros begin with."""
        return self.func_name.upper()

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Inputs, then outputs."""
        return (*self.inputs, *self.outputs)

    def pointers(self) -> list[str]:
        """The inputs and outputs, as C declares them."""
        found = [f"const {one.c_type} *{one.parameter}" for one in self.inputs]
        return found + [f"{one.c_type} *{one.parameter}" for one in self.outputs]

    def parameters(self) -> list[str]:
        """The parameters of the function, as C declares them."""
        found = [*self.pointers(), "void *arena", "size_t arena_bytes"]
        return [*found, *self.weight_parameters(), f"const {self.func_name}_pool *pool"]

    def weight_parameters(self) -> list[str]:
        """Those of weights that are beside."""
        return [] if self.is_inside else ["const void *weights", "size_t weights_bytes"]

    def prototypes(self) -> dict[str, str]:
        """The declarations of all functions without their semicolons, by name."""
        name = self.func_name
        check = ", ".join(self.weight_parameters()) or "void"
        return {
            name: _wrapped(f"int {name}(", self.parameters()),
            f"{name}_check": f"int {name}_check({check})",
            f"{name}_arena_bytes": f"size_t {name}_arena_bytes(int threads)",
            f"{name}_message": f"const char *{name}_message(int status)",
        }


def interface_of(
    program: Program, lib_name: str, func_name: str, is_inside: bool, made_for: str
) -> Interface:
    """The interface of a program. GraphError for types that C has no name for."""
    taken = {"arena", "arena_bytes", "weights", "weights_bytes", "pool"}
    values = [program.whole(one) for one in (*program.inputs, *program.outputs)]
    names = unique(
        (f"{identifier(value.name)}_{shape_text(value.shape)}" for value in values), taken
    )
    found = []
    for name, value in zip(names, values, strict=True):
        if value.dtype not in C_TYPES:
            raise GraphError(
                f"{program.name}: {value.name!r}: elements of type {value.dtype} cannot be deployed"
            )
        found.append(Argument(name, C_TYPES[value.dtype], value))
    count = len(program.inputs)
    return Interface(
        lib_name,
        func_name,
        tuple(found[:count]),
        tuple(found[count:]),
        is_inside,
        # The arena may begin anywhere: what is lost until it is aligned is counted.
        program.arena_bytes + program.workspace + ALIGNMENT - 1,
        program.workspace + (program.arena_bytes if program.slices > 1 else 0),
        ALIGNMENT + aligned(program.weight_bytes),
        made_for,
    )


def _wrapped(begin: str, parameters: Sequence[str]) -> str:
    """A declaration, one parameter a line where one line is too short."""
    line = begin + ", ".join(parameters) + ")"
    if len(line) <= 100:
        return line
    return begin + "\n    " + ",\n    ".join(parameters) + ")"
