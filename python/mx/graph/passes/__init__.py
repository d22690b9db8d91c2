"""What makes graphs smaller without changing what they compute: named steps, in one order.

mx.graph.passes.run(graph)                    # all that suit any device, in the order of PASSES
mx.graph.passes.run(graph, ["batch_norm"])    # some
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .._graph import Graph
from ._pass import Pass
from .activations import ACTIVATIONS
from .algebra import ALGEBRA
from .attention import ATTENTION
from .batch_norm import BATCH_NORM
from .common import COMMON
from .constants import CONSTANTS
from .dropout import DROPOUT
from .einsum import EINSUM
from .identities import IDENTITIES
from .layout import LAYOUT
from .normalizations import NORMALIZATIONS
from .pads import PADS
from .scales import SCALES
from .sequences import SEQUENCES
from .transposes import TRANSPOSES
from .unused import UNUSED

__all__ = ["CPU_PASSES", "FOR_CPU", "PASSES", "Pass", "Report", "run"]

# Each after those whose results it can use.
PASSES: tuple[Pass, ...] = (
    DROPOUT,
    EINSUM,
    SEQUENCES,
    CONSTANTS,
    IDENTITIES,
    ALGEBRA,
    TRANSPOSES,
    PADS,
    BATCH_NORM,
    SCALES,
    COMMON,
    NORMALIZATIONS,
    ACTIVATIONS,
    UNUSED,
)
# Those that make what the CPU has a kernel for, or choose for its kernels: not for graphs that are
# executed by a device, which may have none.
FOR_CPU: tuple[Pass, ...] = (ATTENTION, LAYOUT)
CPU_PASSES: tuple[Pass, ...] = (*PASSES[:-1], *FOR_CPU, PASSES[-1])


@dataclass(frozen=True)
class Report:
    """The names of the nodes that each pass has removed, by the pass's name."""

    removed: dict[str, tuple[str, ...]]

    def __bool__(self) -> bool:
        """Whether anything has been removed."""
        return any(self.removed.values())

    def __str__(self) -> str:
        lines = []
        for name, nodes in self.removed.items():
            if nodes:
                first = ", ".join(nodes[:5]) + (", ..." if len(nodes) > 5 else "")
                lines.append(f"{name}: {len(nodes)} nodes removed: {first}")
        return "\n".join(lines) or "nothing removed"


def run(graph: Graph, names: Iterable[str] | None = None) -> Report:
    """Runs passes over a graph, in place, in the order of CPU_PASSES; says what they removed.

    By default those of PASSES; names may be of FOR_CPU, too.

    Raises TypeError for what is no Graph, or no list of names; ValueError for the name of no pass.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"run: graph: expected a Graph, got {type(graph).__name__}")
    if isinstance(names, str):
        raise TypeError(f"run: names: expected a list of names, got {names!r}")
    known = {one.name: one for one in CPU_PASSES}
    wanted = {one.name for one in PASSES} if names is None else set(names)
    if wanted - known.keys():
        raise ValueError(
            f"run: names: {min(wanted - known.keys())!r} is no pass: there are {', '.join(known)}"
        )
    removed: dict[str, tuple[str, ...]] = {}
    for one in known.values():
        if one.name in wanted:
            removed[one.name] = tuple(one.run(graph.model))
    report = Report(removed)
    if report:
        graph.infer()
    return report
