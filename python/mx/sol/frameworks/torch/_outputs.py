"""The structure in which a module returns its outputs."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from torch.utils import _pytree as pytree


class OutputTree:
    """Puts the outputs of the graph where forward has them, and constants between them."""

    def __init__(
        self, spec: Any, leaves: Sequence[Any], targets: Sequence[tuple[int | None, bool]]
    ) -> None:
        self._spec = spec
        self._leaves = list(leaves)
        # Where each output of the graph goes: the number of a leaf, and whether that is a number.
        self._targets = list(targets)
        self.is_single = self._spec.is_leaf() and self._targets == [(0, False)]

    @staticmethod
    def of(program: Any) -> OutputTree:
        """That of a program of torch."""
        leaves: list[Any] = []
        targets: list[tuple[int | None, bool]] = []
        for spec in program.graph_signature.output_specs:
            if spec.kind.name != "USER_OUTPUT":
                continue
            position = len(leaves)
            if not hasattr(spec.arg, "value"):
                targets.append((position, type(spec.arg).__name__.startswith("Sym")))
                leaves.append(None)
                continue
            # The graph has outputs for numbers, and none for None and text.
            leaves.append(spec.arg.value)
            if spec.arg.value is not None and not isinstance(spec.arg.value, str):
                targets.append((None, False))
        return OutputTree(program.call_spec.out_spec, leaves, targets)

    def is_like(self, other: OutputTree) -> bool:
        """Whether both put the same number of outputs in the same structure, and the same constants
        between them."""
        return (
            self._spec == other._spec
            and self._targets == other._targets
            and self._leaves == other._leaves
        )

    def as_text(self) -> str | None:
        """What `from_text` reads; None where a file cannot have it."""
        if any(type(leaf) not in (type(None), bool, int, float, str) for leaf in self._leaves):
            return None
        if not _is_of_python(self._spec):
            return None
        try:
            spec = pytree.treespec_dumps(self._spec)
        except (NotImplementedError, TypeError, ValueError):
            return None
        return json.dumps([spec, self._leaves, self._targets])

    @staticmethod
    def from_text(text: str) -> OutputTree:
        """What was written. ValueError, TypeError or KeyError for what is none."""
        spec, leaves, targets = json.loads(text)
        return OutputTree(
            pytree.treespec_loads(spec),
            leaves,
            [(position, bool(is_number)) for position, is_number in targets],
        )

    def unflatten(self, outputs: Sequence[Any]) -> Any:
        """What forward returns for the outputs of the graph."""
        if self.is_single:
            return outputs[0]
        leaves = list(self._leaves)
        for (position, is_number), output in zip(self._targets, outputs, strict=True):
            if position is not None:
                leaves[position] = output.item() if is_number else output
        return pytree.tree_unflatten(leaves, self._spec)


def _is_of_python(spec: Any) -> bool:
    """Whether a structure has no classes of which torch was told how to take them apart."""
    if spec.is_leaf():
        return True
    is_known = spec.type in (tuple, list, dict, OrderedDict)
    return is_known and all(map(_is_of_python, spec.children()))
