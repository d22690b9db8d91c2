"""Data types and shapes of what operators of this package give, as the onnx package asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import onnx

from ...graph._spec import Dim

if TYPE_CHECKING:
    from ._describe import Operator

Shape: TypeAlias = tuple[Dim, ...]


@dataclass(frozen=True)
class Spec:
    """Element type as ONNX counts them, and shape; None for one of which nothing is known."""

    dtype: int
    shape: Shape | None


@dataclass(frozen=True)
class Call:
    """A node whose outputs are to be inferred."""

    inputs: tuple[Spec | None, ...]  # None for an input that is missing
    attributes: dict[str, Any]
    elements: tuple[tuple[int, ...] | None, ...]  # of small integer inputs that are known

    def spec(self, index: int) -> Spec:
        """An input that is there."""
        found = self.inputs[index] if index < len(self.inputs) else None
        if found is None:
            raise _error(f"the input {index} is missing")
        return found

    def shape(self, index: int, rank: int | None = None) -> Shape | None:
        """The shape of an input, which has that many axes."""
        found = self.spec(index).shape
        if found is not None and rank is not None and len(found) != rank:
            raise _error(f"the input {index} has {len(found)} axes, expected {rank}")
        return found


# Gives the specs of the outputs of a node.
Infer: TypeAlias = Callable[[Call], Sequence[Spec]]

BOOL = int(onnx.TensorProto.BOOL)
FLOAT = int(onnx.TensorProto.FLOAT)


def _error(text: str) -> Exception:
    return onnx.shape_inference.InferenceError(text)


def like(*indices: int) -> Infer:
    """Outputs of the data types and shapes of these inputs."""
    return lambda call: [call.spec(index) for index in indices]


def shaped(index: int, dtype: int = 0) -> Infer:
    """One output of the shape that the elements of an input are, typed as another input."""

    def infer(call: Call) -> list[Spec]:
        dims = call.elements[index]
        rank = call.shape(index, 1)
        if dims is None and rank and isinstance(rank[0], int):
            return [Spec(call.spec(dtype).dtype, (None,) * rank[0])]
        return [Spec(call.spec(dtype).dtype, dims)]

    return infer


def inference_of(described: Operator, infer: Infer) -> Callable[[Any], None]:
    """What the onnx package calls for a node of the operator."""

    def run(context: Any) -> None:
        count = context.get_num_inputs()
        inputs = [_spec(context, index) for index in range(count)]
        for name, spec in zip(described.inputs, inputs, strict=False):
            if spec is None and name not in described.optional:
                return  # of a type that is not known
        missing = len(described.inputs) - count
        call = Call(
            (*inputs, *[None] * missing),
            _attributes(context, described),
            (*(_elements(context, index) for index in range(count)), *[None] * missing),
        )
        try:
            found = infer(call)
        except onnx.shape_inference.InferenceError as error:
            raise _error(f"{described.name}: {error}") from None
        for index in range(context.get_num_outputs()):
            if index < len(found) and context.has_output(index):
                context.set_output_type(index, _proto(found[index]))

    return run


def _spec(context: Any, index: int) -> Spec | None:
    if not context.has_input(index):
        return None
    proto = context.get_input_type(index)
    if proto is None or proto.WhichOneof("value") != "tensor_type":
        return None
    tensor = proto.tensor_type
    if not tensor.HasField("shape"):
        return Spec(tensor.elem_type, None)
    return Spec(tensor.elem_type, tuple(_dim(dim) for dim in tensor.shape.dim))


def _dim(proto: Any) -> Dim:
    kind = proto.WhichOneof("value")
    found: Dim = None if kind is None else getattr(proto, kind)
    return found


def _elements(context: Any, index: int) -> tuple[int, ...] | None:
    data = context.get_input_data(index) if context.has_input(index) else None
    if data is None or data.data_type != onnx.TensorProto.INT64:
        return None
    return tuple(int(item) for item in onnx.numpy_helper.to_array(data).reshape(-1))


def _attributes(context: Any, described: Operator) -> dict[str, Any]:
    found = dict(described.attributes)
    for name in found:
        attribute = context.get_attribute(name)
        if attribute is not None:
            found[name] = onnx.helper.get_attribute_value(attribute)
    return found


def _proto(spec: Spec) -> onnx.TypeProto:
    made = onnx.TypeProto()
    made.tensor_type.elem_type = spec.dtype
    if spec.shape is not None:
        made.tensor_type.shape.SetInParent()
        for extent in spec.shape:
            dim = made.tensor_type.shape.dim.add()
            if isinstance(extent, int):
                dim.dim_value = extent
            elif extent is not None:
                dim.dim_param = extent
    return made
