"""Whether a graph does the same for each item of a batch, and into how many slices to cut that.

A plan that runs its steps for one slice after another, on each thread for slices of its own, has no
thread wait for others after each step, and reads from the caches what the step before has written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import onnx_ir

import ffi

from ._contents import Environment, is_tensor
from ._graph_nodes import GraphNodes
from ._node import attributes_of
from ._windows import extents_out, pads_of

_num_threads = ffi.get_global_func("mx.get_num_threads")

Shape = tuple[int, ...]

# Products of elements that a slice has at least: to begin one takes little beside them.
_LEAST_PRODUCTS = 500_000
# Products of a slice for each weight, at least, as each slice reads all of them: dense layers have
# one for each item. Of 784 x 256 x 10 and 1,024 items slices of 2 took 1.6 times as long as those
# of 8 or more (two threads of an AMD EPYC with AVX2, 2026-11-30).
_LEAST_USES = 8
# Bytes of weights that stay in the second cache of a processor while slices are computed; more are
# read for each of them, as those of dense layers, which multiply each item of a batch once: slices
# of several items read them fewer times.
_NEAR_WEIGHTS = 1 << 20
_SEVERAL = 2
# By how much longer some thread may be at slices than all would be that have equal shares.
_UNEVEN = 1.1


class _Mixed(Exception):
    """A node may mix the items of a batch, or nothing is known of it."""


@dataclass
class _Sizes:
    """What one item of the batch takes."""

    products: float = 0.0  # of elements
    bytes: int = 0  # that are computed


class _Node:
    """A node, with the shapes of what it reads of the batch and of weights."""

    def __init__(
        self, node: onnx_ir.Node, batched: Sequence[Shape | None], weights: Sequence[Any]
    ) -> None:
        self.attributes = attributes_of(node)
        self.batched = batched  # None where an input is a weight, or not given
        self.weights = weights  # None where it is of the batch, or not given

    @property
    def x(self) -> Shape:
        """The first input, which has to be the only one of the batch."""
        first, *others = self.batched
        if first is None or any(other is not None for other in others):
            raise _Mixed
        return first

    def weight(self, index: int) -> Any:
        """A weight that has to be given."""
        if index >= len(self.weights) or self.weights[index] is None:
            raise _Mixed
        return self.weights[index]

    def axis(self, name: str, default: int, rank: int) -> int:
        """An axis that may not be that of the batch."""
        axis = int(self.attributes.get(name, default))
        axis += rank if axis < 0 else 0
        if not 0 < axis < rank:
            raise _Mixed
        return axis


# Gives the shape of the only output, and how many products each item of the batch takes.
Rule = Callable[[_Node], tuple[Shape, float]]


def _same(node: _Node) -> tuple[Shape, float]:
    return node.x, 0


def _behind_batch(name: str, default: int) -> Rule:
    """Of the shape of its input, where an axis is not the first."""

    def rule(node: _Node) -> tuple[Shape, float]:
        node.axis(name, default, len(node.x))
        return node.x, 0

    return rule


def _elementwise(node: _Node) -> tuple[Shape, float]:
    shapes = [shape for shape in node.batched if shape is not None]
    rank = max(map(len, shapes))
    whole = [1] * rank
    for shape in (*shapes, *(weight.shape for weight in node.weights if weight is not None)):
        if len(shape) > rank:
            raise _Mixed
        seen = (1,) * (rank - len(shape)) + tuple(shape)
        whole = [max(extents) for extents in zip(whole, seen, strict=True)]
    for weight in node.weights:
        if weight is not None and len(weight.shape) == rank and weight.shape[0] != 1:
            raise _Mixed
    if any(len(shape) != rank for shape in shapes):
        raise _Mixed
    return tuple(whole), 0


def _batch_norm(node: _Node) -> tuple[Shape, float]:
    if node.attributes.get("training_mode", 0):
        raise _Mixed
    return node.x, 0


def _clip(node: _Node) -> tuple[Shape, float]:
    if any(weight is not None and math.prod(weight.shape) != 1 for weight in node.weights):
        raise _Mixed
    return node.x, 0


def _windows(node: _Node, kernel: Sequence[int]) -> list[int]:
    given, spatial = node.attributes, node.x[2:]
    if given.get("ceil_mode", 0) or len(spatial) != len(kernel):
        raise _Mixed
    strides = given.get("strides") or [1] * len(spatial)
    gaps = given.get("dilations") or [1] * len(spatial)
    pads = pads_of(
        given.get("auto_pad", "NOTSET"), given.get("pads"), spatial, kernel, strides, gaps
    )
    return extents_out(spatial, kernel, strides, gaps, pads)


def _convolution(node: _Node) -> tuple[Shape, float]:
    weight = node.weight(1)
    windows = _windows(node, weight.shape[2:])
    return (node.x[0], weight.shape[0], *windows), math.prod(weight.shape) * math.prod(windows)


def _transposed_convolution(node: _Node) -> tuple[Shape, float]:
    given, x, weight = node.attributes, node.x, node.weight(1)
    axes = len(x) - 2
    if given.get("auto_pad", "NOTSET") != "NOTSET" or given.get("output_shape"):
        raise _Mixed
    strides = given.get("strides") or [1] * axes
    gaps = given.get("dilations") or [1] * axes
    pads = given.get("pads") or [0] * (2 * axes)
    more = given.get("output_padding") or [0] * axes
    extents = [
        strides[i] * (x[2 + i] - 1)
        + more[i]
        + (weight.shape[2 + i] - 1) * gaps[i]
        + 1
        - pads[i]
        - pads[axes + i]
        for i in range(axes)
    ]
    channels = weight.shape[1] * given.get("group", 1)
    return (x[0], channels, *extents), math.prod(weight.shape) * math.prod(x[2:])


def _pool(node: _Node) -> tuple[Shape, float]:
    return (*node.x[:2], *_windows(node, node.attributes["kernel_shape"])), 0


def _global_pool(node: _Node) -> tuple[Shape, float]:
    return (*node.x[:2], *(1 for _ in node.x[2:])), 0


def _flatten(node: _Node) -> tuple[Shape, float]:
    if node.attributes.get("axis", 1) != 1:
        raise _Mixed
    return (node.x[0], math.prod(node.x[1:])), 0


def _reshape(node: _Node) -> tuple[Shape, float]:
    told = tuple(int(extent) for extent in node.weight(1).elements)
    if node.attributes.get("allowzero", 0) or not told or told[0] not in (-1, 0, node.x[0]):
        raise _Mixed
    rest, item = told[1:], math.prod(node.x[1:])
    rest = tuple(node.x[1 + i] if extent == 0 else extent for i, extent in enumerate(rest))
    if -1 in rest and told[0] != -1:
        known = math.prod(extent for extent in rest if extent != -1)
        rest = tuple(item // known if extent == -1 else extent for extent in rest)
    if math.prod(rest) != item:
        raise _Mixed
    return (node.x[0], *rest), 0


def _reduce(node: _Node) -> tuple[Shape, float]:
    rank, given = len(node.x), node.attributes.get("axes")
    if given is None:
        given = node.weight(1).elements
    axes = {int(axis) + (rank if axis < 0 else 0) for axis in given}
    if not axes or not axes <= set(range(1, rank)):
        raise _Mixed
    if node.attributes.get("keepdims", 1):
        return tuple(1 if axis in axes else n for axis, n in enumerate(node.x)), 0
    return tuple(n for axis, n in enumerate(node.x) if axis not in axes), 0


def _transpose(node: _Node) -> tuple[Shape, float]:
    order = node.attributes.get("perm") or range(len(node.x))[::-1]
    if order[0] != 0:
        raise _Mixed
    return tuple(node.x[axis] for axis in order), 0


def _gemm(node: _Node) -> tuple[Shape, float]:
    given, x, weight = node.attributes, node.x, node.weight(1)
    if given.get("transA", 0) or len(x) != 2 or len(weight.shape) != 2:
        raise _Mixed
    columns = weight.shape[0 if given.get("transB", 0) else 1]
    added = node.weights[2] if len(node.weights) > 2 else None
    if added is not None and len(added.shape) == 2 and added.shape[0] != 1:
        raise _Mixed
    return (x[0], columns), math.prod(weight.shape)


def _matmul(node: _Node) -> tuple[Shape, float]:
    weight = node.weight(1)
    if len(node.x) < 2 or len(weight.shape) != 2:
        raise _Mixed
    return (*node.x[:-1], weight.shape[1]), math.prod(node.x[1:-1]) * math.prod(weight.shape)


def _concat(node: _Node) -> tuple[Shape, float]:
    shapes = [shape for shape in node.batched if shape is not None]
    if len(shapes) != len(node.batched):
        raise _Mixed
    axis = node.axis("axis", 0, len(shapes[0]))
    return (*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :]), 0


_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        """
        Abs Elu Erf Exp Gelu HardSigmoid HardSwish Identity InstanceNormalization
        LeakyRelu Mish Neg Relu Selu Sigmoid Softplus Softsign Sqrt Swish Tanh
        """.split(),
        _same,
    ),
    **dict.fromkeys("Add Div Mul PRelu Sub".split(), _elementwise),
    **dict.fromkeys(("AveragePool", "MaxPool"), _pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), _global_pool),
    "BatchNormalization": _batch_norm,
    "Clip": _clip,
    "Concat": _concat,
    "Conv": _convolution,
    "ConvTranspose": _transposed_convolution,
    "Flatten": _flatten,
    "Gemm": _gemm,
    "LayerNormalization": _behind_batch("axis", -1),
    "MatMul": _matmul,
    **dict.fromkeys("ReduceMax ReduceMean ReduceMin ReduceSum".split(), _reduce),
    "Reshape": _reshape,
    "Softmax": _behind_batch("axis", 1),
    "Transpose": _transpose,
}
# Kernels that a slice may have: others may call libraries that share their work among threads.
_KERNELS = ("copy", "gen:", "onednn.", "small_convolution", "small_product", "_npi.", "_npx.")
_SHARING = ("dot", "einsum", "inner", "linalg", "matmul", "fully_connected", "batch_dot")


def slices_of(program: GraphNodes, environment: Environment) -> int:
    """Into how many slices to cut inputs along their first axis; 1 where that is of no use, or the
    items of a batch may not be independent of one another."""
    if program.stores or program.layouts or program.any_layout or not program.inputs:
        return 1
    if len(environment) != len(program.inputs):  # values of graphs around it
        return 1
    if not all(node.op_type in _RULES and node.domain == "" for node in program.nodes):
        return 1
    contents: list[Any] = [environment.get(value) for value in program.inputs]
    if not all(is_tensor(content) for content in contents):
        return 1
    shapes = [tuple(content.shape) for content in contents]
    batch = shapes[0][0] if shapes[0] else 0
    if batch < 2 or any(shape[:1] != (batch,) or 0 in shape for shape in shapes):
        return 1
    try:
        sizes = _sizes_of(program, dict(zip(program.inputs, shapes, strict=True)))
    except (_Mixed, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return 1
    weights = {value for node in program.nodes for value in node.inputs if value is not None}
    held = sum(
        4 * math.prod(program.weights[value].shape) for value in weights if value in program.weights
    )
    return _count(batch, sizes, held, int(_num_threads()))


def suits(plan: Any) -> bool:
    """Whether the kernels of a plan of one slice may run beside those of another slice."""
    names = [str(step[1]) for step in plan.steps]
    return all(
        name.startswith(_KERNELS)
        and (not name.startswith("_np") or not any(word in name for word in _SHARING))
        for name in names
    )


def sliced(environment: Environment, slices: int) -> Environment:
    """The values of one slice."""
    return {value: content[: len(content) // slices] for value, content in environment.items()}


def shape_of_slice(elements: Any, slices: int) -> Any:
    """The shape that a Reshape is given for one of so many slices: it may begin with the length of
    the batch."""
    if elements[0] in (-1, 0):
        return elements
    return numpy.array([elements[0] // slices, *elements[1:]], elements.dtype)


def _sizes_of(program: GraphNodes, batched: dict[onnx_ir.Value, Shape]) -> _Sizes:
    """What one item takes. Something of _RULES or theirs raises where items may be mixed."""
    sizes = _Sizes()
    batch = next(iter(batched.values()))[0]
    for node in program.nodes:
        known = [value if value in program.weights else None for value in node.inputs]
        read = [batched.get(value) if value is not None else None for value in node.inputs]
        if len(node.outputs) != 1 or all(shape is None for shape in read):
            raise _Mixed
        for value, weight, shape in zip(node.inputs, known, read, strict=True):
            if value is not None and weight is None and shape is None:
                raise _Mixed  # of a graph around this one
        weights = [None if value is None else program.weights[value] for value in known]
        made, products = _RULES[node.op_type](_Node(node, read, weights))
        if made[:1] != (batch,) or min(made) < 1:
            raise _Mixed
        batched[node.outputs[0]] = made
        sizes.products += products
        sizes.bytes += 4 * math.prod(made[1:])
    if not all(value in batched and value not in program.inputs for value in program.results):
        raise _Mixed
    return sizes


def _count(batch: int, sizes: _Sizes, weights: int, threads: int) -> int:
    """The largest number of slices of which each is large enough, and all threads have as many."""
    wanted = max(_LEAST_PRODUCTS, _LEAST_USES * weights / 4)
    least = max(1.0, wanted / max(sizes.products, 1.0))
    if weights > _NEAR_WEIGHTS:
        least = max(least, _SEVERAL, weights / max(sizes.bytes, 1))
    for slices in range(batch, 1, -1):
        if batch % slices or batch // slices < least:
            continue
        if -(-slices // threads) * threads <= _UNEVEN * slices:
            return slices
    return 1
