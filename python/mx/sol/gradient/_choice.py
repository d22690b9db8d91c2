"""What is saved for the backward pass, and what is computed again there.

Without a limit on memory that is computed again which is about as cheap to compute as to read, and
of all sets of values which then suffice, one of the fewest bytes is saved: a minimal cut between
what there is anyway and what the backward pass reads. Under a limit more is computed again, one
saved value after the other, the cheapest for its size first.
"""

from __future__ import annotations

import math
from collections.abc import Container

import onnx_ir as ir

from ...graph import GraphError
from ...graph._spec import dims_of
from ...graph.lowering._node import used_by
from ._cut import Cut
from ._joint import Joint
from ._memory import peak_of, size_of

# Extents that vary, where sizes are compared.
_TYPICAL = 64
# One pass over memory with a few operations for each element.
_LIGHT = frozenset(
    """
    Abs Add And Cast CastLike Ceil Clip Compress Concat ConstantOfShape Div Equal Expand Flatten
    Floor Gather Greater GreaterOrEqual Identity IsInf IsNaN LayerNormalization LeakyRelu Less
    LessOrEqual Max Min Mul Neg Not Or Pad Range Reciprocal Relu Reshape RMSNormalization Round
    Shape Sign Size Slice Split Sqrt Squeeze Sub Tile Transpose Trilu Unsqueeze Where Xor
    """.split()
)
# What gives other elements when it is computed again.
_RANDOM = frozenset(
    """
    Bernoulli Dropout Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike
    """.split()
)
_HEAVY = frozenset("AttentionTraining Conv ConvTranspose Einsum Gemm GRU LSTM MatMul RNN".split())


class LimitError(GraphError):
    """A limit on memory that cannot be kept, the least that was found, and what it is without one,
    all in bytes."""

    def __init__(self, name: str, limit: int, least: int, most: int) -> None:
        super().__init__(
            f"training: memory_limit: {limit:,} bytes are too few for {name}: {least:,} is the"
            " least that was found"
        )
        self.least, self.most = least, most


def choose(
    joint: Joint, memory_limit: int | None, used_up: Container[str | None] = ()
) -> list[ir.Value]:
    """The values of the forward pass that are saved, in its order. Who runs the backward pass does
    not keep the gradients that are called as `used_up` says."""
    saved = _fewest_bytes(joint)
    if memory_limit is not None:
        saved = _within(joint, saved, memory_limit, used_up)
    order = [value for node in joint.nodes for value in node.outputs]
    return [value for value in order if value in saved]


def _is_cheap(joint: Joint, node: ir.Node) -> bool:
    """Whether a node may be computed in the backward pass without a second thought."""
    if node.op_type in _RANDOM and not node.domain:
        return False
    if node not in joint.forward:
        return True  # nobody computes it otherwise
    return not node.domain and node.op_type in _LIGHT


def _fewest_bytes(joint: Joint) -> set[ir.Value]:
    cut: Cut[ir.Value] = Cut()
    seen: set[ir.Value] = set()
    waiting = list(joint.required)
    for value in waiting:
        cut.need(value)
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        node = value.producer()
        # A byte more than it has, so that few values are better than many empty ones; what only the
        # backward pass needs is computed there, unless it is clearly smaller.
        size = size_of(value, _TYPICAL) + 1.0
        cut.price(value, size if node in joint.forward else 1.05 * size + 1)
        if node is None or not _is_cheap(joint, node):
            cut.have(value)
            continue
        for read in used_by(node):
            if read not in joint.free:
                cut.follow(read, value)
                waiting.append(read)
    return cut.solve()


def _within(
    joint: Joint, saved: set[ir.Value], limit: int, used_up: Container[str | None]
) -> set[ir.Value]:
    """Fewer values than these, so that a step takes no more than a limit."""
    sizes = {
        value: size_of(value)
        for value in (
            *joint.graph.model.graph.inputs,
            *joint.graph.model.graph.initializers.values(),
            *(value for node in joint.nodes for value in node.outputs if value.name),
        )
    }
    most = peak = _peak(joint, saved, sizes, used_up)
    # Who runs the graph has its outputs anyway.
    outputs = set(joint.graph.model.graph.outputs)
    # Equally cheap ones that follow each other are computed again from what lies far before them,
    # so those go first that lie far apart: by the bits of their positions in reverse.
    every = [value for node in joint.nodes for value in node.outputs if value in saved]
    bits = len(every).bit_length()
    order = {value: int(f"{n:0{bits}b}"[::-1], 2) for n, value in enumerate(every)}
    improved = True
    while peak > limit and improved:
        improved = False
        # What it takes to compute a value again depends on what else is.
        candidates = saved - outputs
        price = {one: _cost(one, sizes) / max(sizes[one], 1) for one in candidates}
        for value in sorted(candidates, key=lambda one: (price[one], order[one])):
            fewer = _without(joint, saved, value)
            if peak <= limit or fewer is None:
                continue
            now = _peak(joint, fewer, sizes, used_up)
            if now < peak or (now == peak and _total(fewer, sizes) < _total(saved, sizes)):
                saved, peak, improved = fewer, now, True
    if peak > limit:
        raise LimitError(joint.graph.file, limit, peak, most)
    return saved


def _total(values: set[ir.Value], sizes: dict[ir.Value, int]) -> int:
    return sum(sizes[value] for value in values)


def _without(joint: Joint, saved: set[ir.Value], value: ir.Value) -> set[ir.Value] | None:
    """What has to be saved if one value is not; None where it cannot be computed again."""
    left = saved - {value}
    waiting, seen = [value], set()
    while waiting:
        node = waiting.pop().producer()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.op_type in _RANDOM and not node.domain:
            return None
        waiting += [read for read in used_by(node) if read not in left and read not in joint.free]
    return left


def _peak(
    joint: Joint,
    saved: set[ir.Value],
    sizes: dict[ir.Value, int],
    used_up: Container[str | None],
) -> int:
    """What a step takes at most."""
    inside = joint.graph.model.graph
    split = len(joint.outputs)
    inputs = [value for value in inside.inputs if value.name not in joint.given]
    held = sum(sizes[value] for value in (*inputs, *inside.initializers.values()))
    outputs = [*inside.outputs[:split], *saved]
    needed = set(outputs)
    forward = []
    for node in reversed(joint.nodes):
        if not needed.isdisjoint(node.outputs):
            forward.append(node)
            needed.update(used_by(node))
    grads = [value for value in inside.inputs if value.name in joint.given]
    kept = [value for value in inside.outputs[split:] if value.name not in used_up]
    behind = peak_of(joint.schedule(saved), kept, [*grads, *saved], sizes)
    return held + max(peak_of(forward[::-1], outputs, (), sizes), behind)


def _cost(value: ir.Value, sizes: dict[ir.Value, int]) -> float:
    """About how many bytes could be moved in the time in which a value is computed again."""
    node = value.producer()
    assert node is not None
    moved = sum(sizes.get(read, 0) for read in used_by(node)) + sizes[value]
    if node.op_type in _HEAVY:
        weight = dims_of(node.inputs[1].shape) if len(node.inputs) > 1 and node.inputs[1] else None
        known = [dim for dim in weight or () if isinstance(dim, int)]
        depth = math.prod(known[1:]) if node.op_type == "Conv" else max(known[-2:], default=1)
        return moved + 0.5 * depth * sizes[value]
    return moved if node.op_type in _LIGHT else 4.0 * moved
