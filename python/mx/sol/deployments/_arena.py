"""Where values are in the arena: those that are never needed together share memory."""

from __future__ import annotations

from collections.abc import Sequence

from ._program import Control, Program, Step, Value, aligned


def lay_out(program: Program) -> None:
    """Fills in `offsets` and `arena_bytes`: the largest values first, each as low as it fits.

    Inputs, outputs and constants are not in the arena.
    """
    elsewhere = {value.root for value in (*program.inputs, *program.outputs)}
    lives: dict[Value, list[int]] = {}
    for index, step in enumerate(program.steps):
        for value in (*step.inputs, *step.outputs):
            if value is None or value.root.known is not None or value.root in elsewhere:
                continue
            lives.setdefault(value.root, [index, index])[1] = index
    for begin, end in _loops(program.steps):
        for life in lives.values():
            if life[0] <= begin <= life[1]:  # the next turn needs it, too
                life[1] = max(life[1], end)
    placed: list[tuple[Value, int, int]] = []  # with its begin and end in bytes
    for value in sorted(lives, key=lambda one: -one.nbytes):
        first, last = lives[value]
        taken = sorted(
            (begin, end)
            for other, begin, end in placed
            if lives[other][0] <= last and first <= lives[other][1]
        )
        size, offset = aligned(value.nbytes), 0
        for begin, end in taken:
            if offset + size <= begin:
                break
            offset = max(offset, end)
        placed.append((value, offset, offset + size))
    program.offsets = {value: begin for value, begin, _ in placed}
    program.arena_bytes = max((end for _, _, end in placed), default=0)


def _loops(steps: Sequence[Step]) -> list[tuple[int, int]]:
    """Where loops begin and end; those inside of others first."""
    found, opened = [], []
    for index, step in enumerate(steps):
        kind = step.kind if isinstance(step, Control) else ""
        if kind in ("if", "loop"):
            opened.append((kind, index))
        elif kind == "end":
            opening, begin = opened.pop()
            found += [(begin, index)] if opening == "loop" else []
    return found


def lay_out_weights(program: Program) -> None:
    """Fills in where constants are among the weights; equal ones are there once."""
    by_content: dict[tuple[str, bytes], int] = {}
    for step in program.steps:
        for value in step.inputs:
            if value is None or value.root.known is None or value.root in program.weight_offsets:
                continue
            root = value.root
            assert root.constant is not None
            key = (root.dtype, root.constant.tobytes())
            if key not in by_content:
                by_content[key] = program.weight_bytes
                program.weights.append(root)
                program.weight_bytes += aligned(root.nbytes)
            program.weight_offsets[root] = by_content[key]
