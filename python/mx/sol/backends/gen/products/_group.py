"""A product and the elementwise nodes behind it as one kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .....graph.lowering._value import Declined
from .._group import GroupNode
from .._kernel import GenKernel, Spec
from .._table import Known
from .._target import Target
from ._epilogue import Extra, Step
from ._inputs import Positions
from .channels_last import CONV_LAST, convolution_last
from .convolution import convolution
from .matmul import gemm, matmul
from .transposed import transposed_convolution
from .transposed_last import TRANSPOSED_LAST, transposed_convolution_last

PRODUCTS: dict[str, Callable[..., GenKernel]] = {
    "MatMul": matmul,
    "Gemm": gemm,
    "Conv": convolution,
    CONV_LAST: convolution_last,
    "ConvTranspose": transposed_convolution,
    TRANSPOSED_LAST: transposed_convolution_last,
}


def emit_product_group(
    target: Target,
    inputs: Sequence[Spec],
    nodes: Sequence[GroupNode],
    outputs: Sequence[int],
    known: Known | None = None,
) -> GenKernel:
    """One kernel of a product and nodes of which each reads what the one before gives.

    Values are numbered as GroupNode says. Declined where one of the nodes cannot be applied to
    results before they are stored.
    """
    count, elements = len(inputs), dict(known or {})
    head, last = nodes[0], count + len(nodes) - 1
    if list(outputs) != [last]:
        raise Declined("a product of which more than the last node's result is needed")
    if any(number is not None and number >= count for number in head.inputs):
        raise Declined("a product that is not the first node")
    steps = [_step(inputs, node, count + index, elements) for index, node in enumerate(nodes[1:])]
    positions = Positions(tuple(-1 if number is None else number for number in head.inputs), count)
    specs = [None if number is None else inputs[number] for number in head.inputs]
    constants = {
        position: elements[number]
        for position, number in enumerate(head.inputs)
        if number is not None and number in elements
    }
    return PRODUCTS[head.operator](
        target, specs, dict(head.attributes), constants, steps, positions
    )


def _step(inputs: Sequence[Spec], node: GroupNode, before: int, known: Known) -> Step:
    """A node that reads value `before` and inputs of the group."""
    args: list[Extra | str | None] = []
    for number in node.inputs:
        if number is None:
            args.append(None)
        elif number < len(inputs):
            one = known.get(number)
            is_number = one is not None and one.size == 1 and one.dtype.kind in "fiu"
            is_scalar = is_number and inputs[number].dtype == "float32"
            value = float(one.reshape(())) if one is not None and is_scalar else None
            args.append(Extra(inputs[number], number, value))
        elif number == before:
            args.append("result")
        else:
            raise Declined("a value that is not what the node before gives")
    if "result" not in args:
        raise Declined("a node that does not read what the node before gives")
    return Step(node.operator, tuple(args), node.attributes)
