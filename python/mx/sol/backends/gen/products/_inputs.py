"""What emitters of products check of their inputs, and where those are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .....graph.lowering._value import Declined
from .._group import shapes_of
from .._kernel import GenKernel, Spec, make_kernel, signature
from ._epilogue import Extra, Operand, Step, apply, kind_of


@dataclass(frozen=True)
class Positions:
    """Where the inputs of a node are among those of a kernel; constants lie behind all `count`."""

    at: tuple[int, ...]
    count: int

    @staticmethod
    def of(inputs: Sequence[Spec | None], steps: Sequence[Step] = ()) -> Positions:
        """Those that are given in order, and behind them what steps read."""
        at, given = [], 0
        for spec in inputs:
            at.append(given)
            given += spec is not None
        return Positions(tuple(at), given + sum(len(step.extras) for step in steps))


def needed(inputs: Sequence[Spec | None], count: int) -> list[Spec]:
    """The first inputs; Declined where one is not given, or of another type than float32."""
    found = []
    for index, spec in enumerate(inputs[:count]):
        if spec is None:
            raise Declined(f"input {index} is missing")
        if spec.dtype != "float32":
            raise Declined(f"input {index}: only float32, got {spec.dtype}")
        found.append(spec)
    if len(found) < count:
        raise Declined(f"input {len(found)} is missing")
    return found


def operands_of(
    steps: Sequence[Step], first: int, result: Spec, rows: int, columns: int | None = None
) -> tuple[Operand, ...]:
    """Where the operands of steps lie; those without a position are inputs from `first` on.

    `rows` and `columns` are the axes of the result that kernels have operands of kind "row" and
    "column" for. Declined for steps that products do not apply.
    """
    found: list[Operand] = []
    for step in steps:
        args = step.args
        specs = [result if arg == "result" else _spec(arg) for arg in args]
        if step.operator == "CastLike":
            raise Declined("CastLike, which reads only the type of an input")
        for arg, shape in zip(args, shapes_of(step.operator, specs), strict=True):
            if not isinstance(arg, Extra) or shape is None:
                continue
            kind = kind_of(replace(arg.spec, shape=shape), result, rows, columns)
            if arg.number is not None:
                continue
            position = arg.position
            if position is None:
                position, first = first, first + 1
            found.append(Operand(kind, f"(const float *)in[{position}]"))
    apply(steps, found, "v", lambda index, operand: "x")
    return tuple(found)


def _spec(arg: Extra | str | None) -> Spec | None:
    return arg.spec if isinstance(arg, Extra) else None


def nothing(name: str, outputs: Sequence[Spec]) -> GenKernel:
    """The kernel for outputs without elements."""
    text = f"{signature()} {{ (void)in, (void)out, (void)work, (void)begin, (void)end; }}\n"
    return make_kernel(name, text, 0, outputs)
