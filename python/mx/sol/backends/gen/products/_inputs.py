"""What emitters of products check of their inputs."""

from __future__ import annotations

from collections.abc import Sequence

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec, make_kernel, signature
from ._epilogue import Operand, Step, kind_of


def needed(inputs: Sequence[Spec | None], count: int) -> list[Spec]:
    """The first inputs; Declined where one is not given, or of another type than float32."""
    found = []
    for index, spec in enumerate(inputs[:count]):
        if spec is None:
            raise Declined(f"input {index} is missing")
        if spec.dtype != "float32":
            raise Declined(f"input {index}: only float32, got {spec.dtype}")
        found.append(spec)
    return found


def operands_of(
    steps: Sequence[Step], first: int, result: Spec, rows: int, columns: Sequence[int]
) -> tuple[Operand | None, ...]:
    """Where the operands of steps lie: inputs of the kernel, from position `first` on."""
    found: list[Operand | None] = []
    for step in steps:
        if step.operand is None:
            found.append(None)
            continue
        kind = kind_of(step.operand, result, rows, columns)
        found.append(Operand(kind, f"(const float *)in[{first}]"))
        first += 1
    return tuple(found)


def nothing(name: str, outputs: Sequence[Spec]) -> GenKernel:
    """The kernel for outputs without elements."""
    text = f"{signature()} {{ (void)in, (void)out, (void)work, (void)begin, (void)end; }}\n"
    return make_kernel(name, text, 0, outputs)
