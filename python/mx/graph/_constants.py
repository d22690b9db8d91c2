"""The values that follow from constants and from known shapes alone, computed one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy
import onnx_ir
from onnx_ir import serde

from ._by_numpy import attributes_by_name, by_numpy
from ._opset import OPSET
from ._proto import SMALL, const_tensor, elements_of, small_tensor
from ._spec import dims_of

Array: TypeAlias = numpy.ndarray[Any, Any]

# What computes with shapes. Their outputs are as large as inference says, and computing them takes
# no more memory than that.
OPERATORS = frozenset(
    """
    Abs Add And ArgMax ArgMin BitShift Cast CastLike Ceil Clip Compress Concat ConstantOfShape
    CumSum Div Equal Expand Floor Gather GatherElements GatherND Greater GreaterOrEqual Identity
    Less LessOrEqual Max Min Mod Mul Neg NonZero Not OneHot Or Pow Range Reciprocal ReduceMax
    ReduceMean ReduceMin ReduceProd ReduceSum Reshape Round ScatterElements ScatterND Sign Slice
    Split Sqrt Squeeze Sub Sum Tile TopK Transpose Trilu Unique Unsqueeze Where Xor
    """.split()
)
# What gives no more elements than this many times those it gets, where inference does not know.
_BOUNDED = {"NonZero": 8, "Compress": 1, "Unique": 4, "Slice": 1, "Reshape": 1, "Squeeze": 1}
_BOUNDED |= {"Unsqueeze": 1, "Transpose": 1, "Identity": 1, "Cast": 1, "Split": 1}


def known_values(
    graph: onnx_ir.Graph,
    found: dict[onnx_ir.Value, Array],
    opsets: Mapping[str, int] | None = None,
) -> None:
    """Adds to `found` what follows from the small weights of a graph and from its known shapes."""
    weights: dict[onnx_ir.Value, Array] = {}

    def read(value: onnx_ir.Value | None) -> Array | None:
        if value is None or value in found:
            return None if value is None else found[value]
        if value not in weights and value.is_initializer() and small_tensor(value.const_value):
            assert value.const_value is not None
            weights[value] = elements_of(value.const_value)
        return weights.get(value)

    for node in graph:
        if all(value in found for value in node.outputs):
            continue
        results = constant_outputs(node, read, opsets)
        if results is not None:
            for value, array in zip(node.outputs, results, strict=False):
                if value.name:
                    found[value] = array


def constant_outputs(
    node: onnx_ir.Node,
    read: Callable[[onnx_ir.Value | None], Array | None],
    opsets: Mapping[str, int] | None = None,
) -> list[Array] | None:
    """What a node gives; None where that does not follow, or is large."""
    if node.domain not in ("", "ai.onnx"):
        return None
    if node.op_type == "Constant":
        return _constant(node)
    if node.op_type in ("Shape", "Size"):
        return _shape(node)
    if node.op_type not in OPERATORS:
        return None
    arrays = [None if value is None else read(value) for value in node.inputs]
    for value, array in zip(node.inputs, arrays, strict=True):
        if value is not None and array is None:
            return None
    if not _is_small(node, [array for array in arrays if array is not None]):
        return None
    return compute(node, arrays, opsets)


def _constant(node: onnx_ir.Node) -> list[Array] | None:
    tensor = const_tensor(node.outputs[0])
    if tensor is None or not small_tensor(tensor):
        return None
    return [elements_of(tensor)]


def _shape(node: onnx_ir.Node) -> list[Array] | None:
    """What Shape and Size give of a shape all of whose extents they tell are numbers."""
    value = node.inputs[0] if node.inputs else None
    dims = None if value is None else dims_of(value.shape)
    if dims is None:
        return None
    if node.op_type == "Shape":
        end = node.attributes.get_int("end", None)
        dims = dims[node.attributes.get_int("start", 0) : end]
    numbers = [dim for dim in dims if isinstance(dim, int)]
    if len(numbers) != len(dims):
        return None
    if node.op_type == "Shape":
        return [numpy.array(numbers, "int64")]
    size = 1
    for extent in numbers:
        size *= extent
    return [numpy.array(size, "int64")] if size < 1 << 63 else None


def _is_small(node: onnx_ir.Node, arrays: list[Array]) -> bool:
    """Whether all outputs of a node are known to be small."""
    given = sum(array.size for array in arrays)
    for value in node.outputs:
        dims = dims_of(value.shape)
        if dims is None or not all(isinstance(dim, int) for dim in dims):
            if given * _BOUNDED.get(node.op_type, SMALL + 1) > SMALL:
                return False
            continue
        size = 1
        for extent in dims:
            assert isinstance(extent, int)
            size *= extent
        if size > SMALL:
            return False
    return given <= 4 * SMALL


def compute(
    node: onnx_ir.Node, arrays: list[Array | None], opsets: Mapping[str, int] | None = None
) -> list[Array] | None:
    """What a node gives: NumPy's function for it, or onnx's reference implementation; None where
    that fails."""
    attributes = None if node.domain else attributes_by_name(node)
    if attributes is not None:
        version = (opsets or {}).get("", OPSET)
        found = by_numpy(node.op_type, attributes, arrays, len(node.outputs), version)
        if found is not None:
            return found
    # It reads the descriptions of all operators, of which many models need none.
    from onnx.reference import ReferenceEvaluator

    from ._reference import OPERATORS

    proto = serde.serialize_node(node)
    given = {
        name: array for name, array in zip(proto.input, arrays, strict=True) if array is not None
    }
    try:
        with numpy.errstate(all="ignore"):
            evaluator = ReferenceEvaluator(
                proto, opsets=dict(opsets) if opsets else None, new_ops=OPERATORS
            )
            results = evaluator.run(None, given)
    except Exception:  # whatever the arithmetic of a model that makes no sense raises
        return None
    if not all(isinstance(array, numpy.ndarray | numpy.generic) for array in results):
        return None
    return [numpy.asarray(array) for array in results]
