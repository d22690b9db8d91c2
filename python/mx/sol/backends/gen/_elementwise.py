"""Kernels of elementwise nodes, alone or in groups."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import Any

from ....graph.lowering._value import Declined
from ._body import (
    TILE,
    load,
    loop,
    offset,
    row_indices,
    row_loop,
    splat,
    store,
    tiles_of,
    value_type,
)
from ._domain import Domain, domain_of
from ._group import Expressions, GroupNode, Leaf
from ._kernel import GenKernel, Spec, make_kernel, signature
from ._operators import OPERATORS
from ._table import Known, emits
from ._target import Target
from ._types import type_of

# Nodes of one kernel; more would not fit into registers.
_MOST_NODES = 24


def emit_elementwise(
    target: Target,
    inputs: Sequence[Spec],
    nodes: Sequence[GroupNode],
    outputs: Sequence[int],
    known: Known | None = None,
) -> GenKernel:
    """One kernel of elementwise nodes. `outputs` are numbers of values of nodes, all of one shape.

    Declined where a node is not elementwise, or outputs have different shapes.
    """
    if len(nodes) > _MOST_NODES:
        raise Declined(f"more than {_MOST_NODES} nodes")
    group = Expressions(inputs, nodes, known)
    shapes = {group.output(number).shape for number in outputs}
    if len(shapes) != 1:
        raise Declined("outputs of different shapes")
    (whole,) = shapes
    leaves = list(group.leaves.values())
    domain = domain_of(whole, [*(leaf.shape for leaf in leaves), whole])
    split = _split(domain)
    height, tiles = tiles_of(split.rows, split.columns)
    body = _Rows(target, group, leaves, split, list(outputs)).lines()
    text = f"{signature()} {{\n{indent(chr(10).join(_head(len(inputs))), '  ')}\n"
    text += indent("\n".join(row_loop(split.rows, height, body)), "  ") + "\n}\n"
    return make_kernel(
        "_".join(node.operator for node in nodes)[:40].lower(),
        text,
        tiles,
        [group.output(number) for number in outputs],
        in_place=[_in_place(group, number, inputs) for number in outputs][:1]
        + [-1] * (len(outputs) - 1),
    )


def _head(count: int) -> list[str]:
    return ["(void)work;", *(["(void)in;"] if count == 0 else [])]


def _split(domain: Domain) -> Domain:
    """The domain with a last axis that is short enough for tiles of it to keep threads busy."""
    columns = domain.columns
    if columns < 2 * TILE:
        return domain
    width = next((TILE * k // 8 for k in range(8, 17) if columns % (TILE * k // 8) == 0), 0)
    if width == 0:
        return domain
    return Domain(
        (*domain.shape[:-1], columns // width, width),
        tuple((*own[:-1], own[-1] * width, own[-1]) for own in domain.strides),
    )


def _in_place(group: Expressions, number: int, inputs: Sequence[Spec]) -> int:
    """The input whose memory an output may lie in: each element is read before it is written."""
    wanted = group.output(number)
    for position, spec in enumerate(inputs):
        views = [leaf for leaf in group.leaves.values() if leaf.position == position]
        if spec == wanted and len(views) == 1 and views[0].shape == wanted.shape:
            return position
    return -1


class _Rows:
    """The statements for one row of a domain."""

    def __init__(
        self,
        target: Target,
        group: Expressions,
        leaves: Sequence[Leaf],
        domain: Domain,
        outputs: Sequence[int],
    ) -> None:
        self._group, self._leaves = group, leaves
        self._domain, self._outputs = domain, outputs
        self._lanes = target.lanes if group.is_vector else 1

    def lines(self) -> list[str]:
        is_vector = self._group.is_vector
        lines = row_indices(self._domain)
        splats = {}
        moving = []
        for number, (leaf, strides) in enumerate(
            zip(self._leaves, self._domain.strides, strict=False)
        ):
            kind = type_of(leaf.dtype)
            source = f"(const {kind.memory} *)in[{leaf.position}] + {offset(strides)}"
            lines.append(f"const {kind.memory} *const p{number} = {source};")
            if strides[-1] == 0:
                value = splat(is_vector, leaf.dtype, f"p{number}")
                lines.append(f"const {value_type(is_vector, leaf.dtype)} s{number} = {value};")
                lines.append(f"(void)s{number};")  # of known exponents some formulas read nothing
                splats[leaf] = f"s{number}"
            else:
                moving.append((number, leaf))
        for number, output in enumerate(self._outputs):
            kind = type_of(self._group.output(output).dtype)
            target = f"({kind.memory} *)out[{number}] + {offset(self._domain.strides[-1])}"
            lines.append(f"{kind.memory} *const q{number} = {target};")

        def piece(index: str, rest: str | None, _: int) -> list[str]:
            inner, given = [], dict(splats)
            for number, leaf in moving:
                value = load(is_vector, leaf.dtype, f"p{number}", index, rest)
                inner.append(f"const {value_type(is_vector, leaf.dtype)} a{number} = {value};")
                given[leaf] = f"a{number}"
            computed, names = self._group.lines(given)
            inner += computed
            for number, output in enumerate(self._outputs):
                dtype = self._group.output(output).dtype
                name = names[output]
                inner.append(store(is_vector, dtype, f"q{number}", index, rest, name))
            return inner

        return lines + loop(self._domain.columns, self._lanes, piece)


def _emitter(operator: str) -> Any:
    def emit_one(
        target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
    ) -> GenKernel:
        numbers: list[int | None] = []
        given: list[Spec] = []
        elements = {}
        for position, spec in enumerate(inputs):
            numbers.append(None if spec is None else len(given))
            if spec is not None:
                if position in known:
                    elements[len(given)] = known[position]
                given.append(spec)
        node = GroupNode(operator, tuple(numbers), attributes)
        return emit_elementwise(target, given, [node], [len(given)], elements)

    return emit_one


for _name, _described in OPERATORS.items():
    if _name != "Identity":  # which moves elements of any type
        emits(_name, since=_described.since)(_emitter(_name))
