"""Gradients of operators that move elements, and the sum that undoes a broadcast."""

from __future__ import annotations

import numpy
import onnx

from ._describe import Array, Ints, operator
from ._inference import like, shaped


@operator("StopGradient", "Y", like(0), body="Y = Identity(X)")
def stop_gradient(X: Array) -> Array:
    """What it is given. No gradient goes through it."""
    return X


@operator("SumTo", "Y", shaped(1), like={0: 1})
def sum_to(X: Array, shape: Array) -> Array:
    """Sums over the axes along which `shape` was broadcast to the shape of X."""
    extents = tuple(int(extent) for extent in shape)
    more = X.ndim - len(extents)
    found = X.sum(tuple(range(more)), dtype=X.dtype)
    axes = tuple(i for i, n in enumerate(extents) if n == 1 and found.shape[i] != 1)
    found = found.sum(axes, keepdims=True, dtype=X.dtype)
    return numpy.broadcast_to(found, extents) if found.size == 0 else found.reshape(extents)


@operator("GatherGrad", "dX", shaped(2), like={0: 2})
def gather_grad(dY: Array, indices: Array, shape: Array, *, axis: int = 0) -> Array:
    """The gradient of Gather for its data, whose shape is `shape`: rows of dY are added up."""
    made = numpy.zeros(tuple(int(extent) for extent in shape), dY.dtype)
    at = axis % made.ndim
    rows = numpy.moveaxis(dY, range(at, at + indices.ndim), range(indices.ndim))
    numpy.add.at(numpy.moveaxis(made, at, 0), indices, rows)
    return made


@operator("ResizeGrad", "dX", shaped(1), like={0: 1})
def resize_grad(
    dY: Array,
    shape: Array,
    roi: Array | None = None,
    scales: Array | None = None,
    *,
    antialias: int = 0,
    axes: Ints = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Array:
    """The gradient of Resize for its input, whose shape is `shape`. Attributes are those of Resize.

    roi and scales have an item, or two, for each axis that is resized; without scales these are the
    extents of dY divided by those of the input.
    """
    from onnx.reference import ReferenceEvaluator

    extents = [int(extent) for extent in shape]
    resized = range(len(extents)) if axes is None else [int(axis) % len(extents) for axis in axes]
    found: Array = dY
    for position, axis in enumerate(resized):
        count, out = extents[axis], dY.shape[axis]
        given = None if scales is None else float(scales[position])
        if count == out and given in (None, 1.0) and "crop" not in coordinate_transformation_mode:
            continue
        feeds = {"x": numpy.eye(count, dtype="float64")}
        if roi is not None and roi.size:
            feeds["roi"] = roi[[position, position + len(resized)]].astype("float32")
        if given is not None:
            feeds["scales"] = numpy.array([given], "float32")
        else:
            feeds["sizes"] = numpy.array([out])
        node = onnx.helper.make_node(
            "Resize",
            ["x", *(name if name in feeds else "" for name in ("roi", "scales", "sizes"))],
            ["y"],
            axes=[1],
            antialias=antialias,
            coordinate_transformation_mode=coordinate_transformation_mode,
            cubic_coeff_a=cubic_coeff_a,
            exclude_outside=exclude_outside,
            # Elements outside do not depend on the input.
            extrapolation_value=0.0,
            mode=mode,
            nearest_mode=nearest_mode,
        )
        # Row i tells what each output takes of the element i.
        matrix: Array
        (matrix,) = ReferenceEvaluator(node, opsets={"": 19}).run(None, feeds)
        found = numpy.moveaxis(numpy.tensordot(found, matrix, ([axis], [1])), -1, axis)
    return numpy.ascontiguousarray(found.astype(dY.dtype))
