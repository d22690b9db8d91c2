"""The structure in which a module returns its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.utils import _pytree as pytree


class OutputTree:
    """Puts the outputs of the graph where forward has them, and constants between them."""

    def __init__(self, program: Any) -> None:
        self._spec = program.call_spec.out_spec
        self._leaves: list[Any] = []
        # Where each output of the graph goes: the number of a leaf, and whether that is a number.
        self._targets: list[tuple[int | None, bool]] = []
        for spec in program.graph_signature.output_specs:
            if spec.kind.name != "USER_OUTPUT":
                continue
            position = len(self._leaves)
            if not hasattr(spec.arg, "value"):
                self._targets.append((position, type(spec.arg).__name__.startswith("Sym")))
                self._leaves.append(None)
                continue
            # The graph has outputs for numbers, and none for None and text.
            self._leaves.append(spec.arg.value)
            if spec.arg.value is not None and not isinstance(spec.arg.value, str):
                self._targets.append((None, False))
        self.is_single = self._spec.is_leaf() and self._targets == [(0, False)]

    def unflatten(self, outputs: Sequence[Any]) -> Any:
        """What forward returns for the outputs of the graph."""
        if self.is_single:
            return outputs[0]
        leaves = list(self._leaves)
        for (position, is_number), output in zip(self._targets, outputs, strict=True):
            if position is not None:
                leaves[position] = output.item() if is_number else output
        return pytree.tree_unflatten(leaves, self._spec)
