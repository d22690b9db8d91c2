"""Random graphs: what inference says of shapes, with names and with numbers, is what comes out."""

import re

import numpy
import onnx_ir
from hypothesis import given
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

from benchmarks.models._builder import Builder
from mx.graph import Graph, passes

# What the names stand for. No sum or product of a few of these is another.
EXTENTS = {"N": 7, "M": 11}


def add_node(b: Builder, data, value, shape: tuple[int, ...]):
    """Adds a node, or a few, to what gives an array of a shape; returns what these give."""
    rank = len(shape)
    axis = data.draw(st.integers(0, rank - 1)) if rank else 0
    kinds = ["Relu", "Add", "Unsqueeze", "Filled", "Identity"]
    if rank:
        kinds += ["Transpose", "Flatten", "Concat", "Tile", "ReduceSum", "Slice", "Reshape"]
        kinds += ["Rebuild", "Times", "Split", "Expand", "Dropped", "Pad"]
    if any(extent == 1 for extent in shape):
        kinds.append("Squeeze")
    if rank >= 2:
        kinds += ["MatMul", "Gather", "Softmax"]
    kind = data.draw(st.sampled_from(kinds))
    if kind in ("Relu", "Identity", "Softmax"):
        return b.op(kind, value)
    if kind == "Dropped":
        return b.op("Dropout", value)
    if kind == "Add":
        return b.op("Add", value, b.op("Neg", value))
    if kind == "Unsqueeze":
        return b.op("Unsqueeze", value, b.ints(data.draw(st.integers(0, rank))))
    if kind == "Squeeze":
        return b.op("Squeeze", value, b.ints(shape.index(1)))
    if kind == "Filled":
        return b.op("ConstantOfShape", b.op("Shape", value))
    if kind == "Transpose":
        return b.op("Transpose", value, perm=data.draw(st.permutations(range(rank))))
    if kind == "Flatten":
        return b.op("Flatten", value, axis=axis)
    if kind == "Concat":
        return b.op("Concat", value, value, axis=axis)
    if kind == "Tile":
        return b.op("Tile", value, b.ints(*data.draw(st.tuples(*[st.integers(1, 2)] * rank))))
    if kind == "ReduceSum":
        return b.op("ReduceSum", value, b.ints(axis), keepdims=data.draw(st.integers(0, 1)))
    if kind == "Slice":
        return b.op("Slice", value, b.ints(0), b.ints(max(1, shape[axis] - 1)), b.ints(axis))
    if kind == "Split":
        return b.op("Split", value, axis=axis, num_outputs=1)
    if kind == "Reshape":
        return b.op("Reshape", value, b.ints(*[0] * axis, -1))
    if kind == "Expand":
        return b.op("Expand", value, b.ints(2, *[1] * rank))
    if kind == "Pad":
        return b.op("Pad", value, b.ints(*data.draw(st.tuples(*[st.integers(0, 2)] * 2 * rank))))
    if kind == "Gather":
        return b.op("Gather", value, b.ints(0), axis=axis)
    if kind == "MatMul":
        order = [*range(rank - 2), rank - 1, rank - 2]
        return b.op("MatMul", value, b.op("Transpose", value, perm=order))
    told = b.op("Shape", value)
    if kind == "Times":
        # As many rows as there are elements along an axis, computed from the shape.
        count = b.op("Gather", told, b.ints(axis))
        return b.op("Reshape", value, b.op("Concat", count, b.ints(-1), axis=0))
    parts = [b.op("Slice", told, b.ints(at), b.ints(at + 1)) for at in range(rank)]
    parts[axis] = b.ints(-1)
    return b.op("Reshape", value, b.op("Concat", *parts, axis=0))


def extent_of(dim: int | str) -> int | None:
    """The number that an extent stands for; None for one that nobody knows."""
    if isinstance(dim, int):
        return dim
    if "unk__" in dim:
        return None
    assert re.fullmatch(r"[NM\d+*/() -]+", dim), dim
    return eval(dim, {}, dict(EXTENTS))


@given(data=st.data())
def test_shapes(data) -> None:
    b = Builder("random")
    dims = data.draw(st.lists(st.sampled_from(["N", "M", 1, 2, 3]), max_size=3))
    shape = tuple(EXTENTS.get(dim, dim) for dim in dims)
    value = b.input("x", tuple(dims))
    array = numpy.random.default_rng(0).standard_normal(shape).astype("float32")
    values = [(value, shape)]
    for _ in range(data.draw(st.integers(1, 8))):
        value, shape = data.draw(st.sampled_from(values))
        made = add_node(b, data, value, shape)
        b.graph.outputs[:] = [made]
        proto = onnx_ir.to_proto(onnx_ir.Model(b.graph, ir_version=10))
        (result,) = ReferenceEvaluator(proto).run(None, {"x": array})
        if result.size < 20_000:
            values.append((made, numpy.asarray(result).shape))
    b.graph.outputs[:] = [value for value, _ in values[1:]]
    graph = Graph(onnx_ir.Model(b.graph, ir_version=10))
    graph.infer()
    for spec, (_, shape) in zip(graph.outputs, values[1:], strict=True):
        assert spec.shape is not None and len(spec.shape) == len(shape), spec
        told = [extent_of(dim) for dim in spec.shape]
        assert all(a in (None, b) for a, b in zip(told, shape, strict=True)), (spec, shape)
    evaluator = ReferenceEvaluator(onnx_ir.to_proto(graph.model))
    before = evaluator.run(None, {"x": array})
    numbers = graph.copy()
    assert numbers.infer({"x": array.shape})
    assert [spec.shape for spec in numbers.outputs] == [shape for _, shape in values[1:]]
    for one in (graph, numbers):
        specs = re.sub(r"unk__\d+", "?", str(one.outputs))
        passes.run(one)
        assert re.sub(r"unk__\d+", "?", str(one.outputs)) == specs
        after = ReferenceEvaluator(onnx_ir.to_proto(one.model)).run(None, {"x": array})
        for result, expected in zip(after, before, strict=True):
            numpy.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
