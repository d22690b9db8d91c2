"""Plans that are made soon: of kernels of mx alone, which no library has to generate first."""

from __future__ import annotations

import math

import onnx_ir

import ffi

from ._choice import Chooser
from ._node import is_constant
from .operators import OPERATORS

_fits = ffi.get_global_func("mx.graph.fits_small_convolution")

# Of more weights, or of other operators, plans take a library: its kernels are faster by more than
# it takes to generate them.
_MOST_WEIGHTS = 1 << 22
_OPERATORS = frozenset(
    """
    Abs Add AveragePool BatchNormalization Cast Clip Concat Div Dropout Elu Erf Exp Flatten Gather
    Gelu Gemm GlobalAveragePool HardSigmoid HardSwish Identity LSTM LayerNormalization LeakyRelu Log
    MatMul MaxPool Mul Neg Pad Reciprocal ReduceMax ReduceMean ReduceSum Relu Reshape Sigmoid Slice
    Softmax Split Sqrt Squeeze Sub Sum Tanh Transpose Unsqueeze
    """.split()
)


class QuickChooser(Chooser):
    """Has mx execute all nodes. Recipes of its plans can be kept."""

    may_slice = False
    records = True

    def __init__(self) -> None:
        super().__init__([OPERATORS])


def suits_quick(graph: onnx_ir.Graph) -> bool:
    """Whether mx has fast kernels for all nodes of a graph with shapes."""
    weights = graph.initializers.values()
    known = [value.const_value for value in weights if value.const_value is not None]
    if sum(math.prod(each.shape.numpy()) for each in known) > _MOST_WEIGHTS:
        return False
    return all(
        is_constant(node)
        or (node.domain in ("", "ai.onnx") and (node.op_type in _OPERATORS or _is_small(node)))
        for node in graph
    )


def _is_small(node: onnx_ir.Node) -> bool:
    """Whether it is a convolution, or a transposed one, that mx has a kernel for."""
    if node.op_type not in ("Conv", "ConvTranspose") or len(node.inputs) < 2:
        return False
    x, weight, result = node.inputs[0], node.inputs[1], node.outputs[0]
    if x is None or weight is None or weight.const_value is None:
        return False
    shapes = [value.shape for value in (x, weight, result)]
    if any(shape is None or not shape.is_static() or len(shape) != 4 for shape in shapes):
        return False
    image, window, made = (list(shape.numpy()) for shape in shapes if shape is not None)
    if 0 in (*image, *window, *made) or node.attributes.get_int("group", 1) != 1:
        return False
    if node.op_type == "Conv":
        # Pads and dilations make images larger, but not by much where windows are small.
        steps = list(node.attributes.get_ints("strides", [1, 1]))
        reach = [steps[i] * (made[2 + i] - 1) + window[2 + i] for i in range(2)]
        whole = [*image[:2], *(max(image[2 + i], reach[i]) for i in range(2))]
        return bool(_fits(whole, window, steps, [0] * 4, [1, 1], False))
    # Of those whose windows touch each element makes one window.
    if made[2:] != [image[2 + i] * window[2 + i] for i in range(2)]:
        return False
    filters = math.prod(window[1:])
    return bool(_fits(image, [filters, image[1], 1, 1], [1, 1], [0] * 4, [1, 1], False))
