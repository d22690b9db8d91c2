"""One kernel of a group of nodes, whatever they are."""

from __future__ import annotations

from collections.abc import Sequence

from ....graph.lowering._value import Declined
from ._elementwise import emit_elementwise
from ._group import GroupNode
from ._kernel import GenKernel, Spec
from ._operators import OPERATORS
from ._reduce import REDUCE, emit_reduction
from ._rows import ROW_OPERATORS, emit_rows
from ._table import Known
from ._target import Target
from .products import PRODUCTS, emit_product_group


def emit_group(
    target: Target,
    inputs: Sequence[Spec],
    nodes: Sequence[GroupNode],
    outputs: Sequence[int],
    known: Known | None = None,
) -> GenKernel:
    """One kernel of nodes: elementwise ones, and at most one over rows among them, or a product.

    Values are numbered as GroupNode says; `outputs` are those that are written. Declined where
    generated code has no kernel for the group.
    """
    if nodes[0].operator in PRODUCTS:
        return emit_product_group(target, inputs, nodes, outputs, known)
    if nodes[-1].operator in REDUCE and list(outputs) == [len(inputs) + len(nodes) - 1]:
        return emit_reduction(target, inputs, nodes, known)
    found = [index for index, node in enumerate(nodes) if node.operator in ROW_OPERATORS]
    if not found:
        return emit_elementwise(target, inputs, nodes, outputs, known)
    if len(found) > 1:
        raise Declined("more than one operator over rows")
    return emit_rows(target, inputs, nodes, outputs, known, found[0])


def is_in_groups(operator: str) -> bool:
    """Whether nodes of an operator may be part of a group."""
    families = (ROW_OPERATORS, OPERATORS, REDUCE, PRODUCTS)
    return any(operator in family for family in families)
