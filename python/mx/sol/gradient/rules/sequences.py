"""Sequences and optionals: what is read of them is one of the tensors that they were made of.

So nothing is differentiated but those tensors, where it is known which one is read.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ....graph.lowering._node import describe
from ....importers._builder import dtype_of
from .._copies import Copy
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

INT64 = ir.DataType.INT64
_ITEMS = "gradient.items"


@expansion("SequenceAt")
def _at(to: Writer, call: Call) -> ir.Value:
    items = _items(to, call.x)
    return _same(to, items[_position(call, 1, items)])


@expansion("ConcatFromSequence")
def _concat(to: Writer, call: Call) -> ir.Value:
    items, axis = _items(to, call.x), call.integer("axis", 0)
    if not items:
        raise Declined("an empty sequence")
    if call.integer("new_axis", 0):
        items = [to.Unsqueeze(one, [axis]) for one in items]
    return to.Concat(*items, axis=axis)


@expansion("OptionalGetElement")
def _element(to: Writer, call: Call) -> ir.Value:
    return _same(to, _held(call.x))


@gradient(
    "Optional",
    "SequenceConstruct",
    "SequenceErase",
    "SequenceInsert",
    "SequenceMap",
    "SplitToSequence",
)
def _unknown(to: Writer, call: Call) -> None:
    """Of those sequences alone that are read as a whole, or at positions that are computed."""
    raise Declined("which tensors of a sequence are read is not known")


def _same(to: Writer, value: ir.Value) -> ir.Value:
    """A value under another name."""
    (made,) = to.op("Identity", value, dtype=value.dtype or ir.DataType.UNDEFINED)
    made.type, made.shape = value.type, value.shape
    return made


def _held(value: ir.Value) -> ir.Value:
    """What an optional holds, or a value that is none."""
    node = value.producer()
    if node is None or node.op_type not in ("Optional", "Identity") or node.domain:
        if isinstance(value.type, ir.OptionalType):
            raise Declined("an optional that was made elsewhere")
        return value
    if not node.inputs or node.inputs[0] is None:
        raise Declined("an optional that holds nothing")
    return _held(node.inputs[0])


def _items(to: Writer, sequence: ir.Value) -> list[ir.Value]:
    """The tensors of a sequence."""
    node = sequence.producer()
    if node is None or node.domain:
        raise Declined("a sequence that was made elsewhere")
    call = Call(node, (None,) * len(node.outputs), ())
    if node.op_type == "SequenceConstruct":
        return [call.input(index) for index in range(len(node.inputs))]
    if node.op_type == "SequenceEmpty":
        return []
    if node.op_type in ("Identity", "Optional", "OptionalGetElement"):
        return _items(to, call.x)
    if node.op_type == "SequenceInsert":
        items = list(_items(to, call.x))
        position = len(items) if call.optional(2) is None else _position(call, 2, items, 1)
        items.insert(position, call.input(1))
        return items
    if node.op_type == "SequenceErase":
        items = list(_items(to, call.x))
        if call.optional(1) is not None:
            del items[_position(call, 1, items)]
        elif items:
            del items[-1]
        else:
            raise Declined(f"{describe(node)} erases an item of an empty sequence")
        return items
    if node.op_type == "SplitToSequence":
        return _written(node, lambda: [_parts(to, call)])[0]
    if node.op_type == "SequenceMap":
        return _written(node, lambda: _mapped(to, call))[sequence.index() or 0]
    raise Declined(f"a sequence that {node.op_type} gives")


def _written(node: ir.Node, write: object) -> list[list[ir.Value]]:
    """The tensors of the sequences that a node gives, which are written once."""
    if _ITEMS not in node.meta:
        assert callable(write)
        node.meta[_ITEMS] = write()
    found: list[list[ir.Value]] = node.meta[_ITEMS]
    return found


def _parts(to: Writer, call: Call) -> list[ir.Value]:
    """What SplitToSequence cuts a tensor into."""
    rank = len(call.dims(0))
    axis = call.integer("axis", 0) % rank
    extent = call.dims(0)[axis]
    split = call.optional(1)
    sizes = None if split is None else ir.convenience.get_const_tensor(split)
    if not isinstance(extent, int) or (split is not None and sizes is None):
        raise Declined("into how many parts a tensor is cut is not known")
    if sizes is None:
        lengths = [1] * extent
    elif sizes.shape.rank() == 0:
        most = int(sizes.numpy())
        lengths = [min(most, extent - begin) for begin in range(0, extent, most)]
    else:
        lengths = [int(one) for one in sizes.numpy()]
    if len(lengths) < 2:
        parts = [call.x] * len(lengths)
    else:
        types = [dtype_of(call.x)] * len(lengths)
        parts = list(
            to.op("Split", call.x, to.ints(lengths), outputs=len(lengths), dtype=types, axis=axis)
        )
    if sizes is None and not call.integer("keepdims", 1):
        parts = [to.Squeeze(one, [axis]) for one in parts]
    return parts


def _mapped(to: Writer, call: Call) -> list[list[ir.Value]]:
    """What the body of SequenceMap gives for each item, by outputs."""
    body = call.node.attributes["body"].as_graph()
    first = _items(to, call.x)
    columns = [first]
    for index in range(1, len(call.node.inputs)):
        value = call.input(index)
        is_sequence = isinstance(value.type, ir.SequenceType)
        columns.append(_items(to, value) if is_sequence else [value] * len(first))
    made: list[list[ir.Value]] = [[] for _ in body.outputs]
    for row in zip(*columns, strict=True):
        copy = Copy(to, body, dict(zip(body.inputs, row, strict=True)))
        for items, value in zip(made, body.outputs, strict=True):
            items.append(copy.of(value))
    return made


def _position(call: Call, index: int, items: Sequence[ir.Value], behind: int = 0) -> int:
    """The position among some items, or as many behind them, that an input of a node says."""
    tensor = ir.convenience.get_const_tensor(call.input(index))
    if tensor is None:
        raise Declined("a position in a sequence is computed")
    found = int(tensor.numpy().reshape(()))
    count = len(items)
    if not -count <= found < count + behind:
        node = f"{describe(call.node)}: " if call.node.op_type != "SequenceAt" else ""
        raise Declined(f"{node}the position {found} in a sequence of {count}")
    return found
