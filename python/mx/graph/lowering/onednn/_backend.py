"""The backend that the rules of this folder are of, and the layouts of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._images import TO_LAST
from .._lowering import Lowering
from .._table import Backend
from .._value import Declined, Value
from ._made import makers, note, ordered

if TYPE_CHECKING:
    from ...._onednn_types import OneDNN

# The instruction for the larger of a NaN and a number, which these begin with, gives the number.
_LOSES_NAN = """
    Clip Exp GRU GlobalMaxPool HardSigmoid LSTM MaxPool RNN Relu Sigmoid Softmax
""".split()
ONEDNN = Backend("onednn", loses_nan=frozenset(_LOSES_NAN))
rule = ONEDNN.rule


@dataclass(frozen=True)
class Blocked:
    """The layout of a Value that oneDNN has in blocks."""

    layout: Any  # mx.onednn.Layout

    @property
    def bytes(self) -> int:
        """Of the memory, with what fills blocks up."""
        return int(self.layout.bytes)

    def to_rows(self, to: Lowering, value: Value) -> Value:
        """A row-major copy."""
        return reorder(to, value, None)

    def of(self, to: Lowering, value: Value) -> Value:
        """The value in this layout."""
        return reorder(to, value, self.layout)

    @property
    def is_channels_last(self) -> bool:
        """Whether images lie as (N, H, W, C), without gaps."""
        shape = self.layout.shape
        return len(shape) == 4 and self == self.channels_last(shape)

    def channels_last(self, shape: Sequence[int]) -> Blocked:
        """The layout of images of that shape, (N, C, H, W), that lie as (N, H, W, C)."""
        return images_last(shape, str(self.layout.dtype))


def images_last(shape: Sequence[int], dtype: str = "float32") -> Blocked:
    """The layout of images of that shape, (N, C, H, W), that lie as (N, H, W, C).

    Declined where there is no oneDNN.
    """
    api()
    return Blocked(ordered(shape, dtype, TO_LAST))


def api() -> OneDNN:
    """What makes the kernels. Declined, with the reason, where there is no oneDNN."""
    try:
        return makers()
    except ImportError as error:
        raise Declined(str(error)) from None


def check_float(*values: Value | None) -> None:
    """Declined for values of another type than float32."""
    for value in values:
        if value is not None and value.dtype != "float32":
            raise Declined(f"{value.dtype} is left to others")


def offered_layout(to: Lowering, value: Value) -> Any:
    """The layout that the elements of a value have, None for row-major.

    Declined for one with gaps, or elements that it shows twice.
    """
    if value.layout is not None:
        return value.layout.layout
    strides = to.strides(value)
    order = sorted(range(len(strides)), key=lambda axis: (-strides[axis], axis))
    expected = 1
    for axis in reversed(order):
        if value.shape[axis] != 1 and strides[axis] != expected:
            raise Declined("strides with gaps")
        expected *= value.shape[axis]
    if order == list(range(len(order))):
        return None
    return ordered(value.shape, value.dtype, order)


def as_input(to: Lowering, value: Value, keep: bool = False) -> tuple[Any, Value]:
    """A value as makers take it: data in its layout, made row-major where that has gaps."""
    try:
        layout = offered_layout(to, value)
    except Declined:
        value = to.row_major(value)
        layout = None
    return api().Input(value.shape, value.dtype, layout, keep), value


def operand(to: Lowering, value: Value) -> tuple[Any, Value | None]:
    """A value as makers take it: a weight where it is a constant, which is no input then."""
    if value.known is not None:
        return value.known.weight(api().Weight), None
    return as_input(to, value)


def rounds(to: Lowering, weight: Value) -> bool:
    """Whether the product of the node with this weight is to be one of bfloat16."""
    return to.precision == "bfloat16" and weight.known is not None and api().has_bfloat16()


def as_bfloat16(to: Lowering, value: Value, wanted: Any) -> Value:
    """The value rounded to bfloat16, in a layout of that, None for row-major; made once."""
    if wanted is not None:
        return reorder(to, value, wanted)
    key = (value, "bfloat16")
    if key not in to.reordered:
        source, value = as_input(to, value)
        to.reordered[key] = _step(to, api().reorder(source, None, "bfloat16"), [value])[0]
    result: Value = to.reordered[key]
    return result


def reorder(to: Lowering, value: Value, layout: Any) -> Value:
    """The value in another layout of oneDNN, None for row-major; made once."""
    key = (value, layout)
    if key not in to.reordered:
        source, value = as_input(to, value)
        made = api().reorder(source, layout)
        to.reordered[key] = _step(to, made, [value])[0]
    result: Value = to.reordered[key]
    return result


def execute(to: Lowering, primitive: Any, inputs: Sequence[Value], rounded: bool = False) -> Value:
    """The first output of `execute_all`."""
    return execute_all(to, primitive, inputs, rounded)[0]


def execute_all(
    to: Lowering, primitive: Any, inputs: Sequence[Value], rounded: bool = False
) -> list[Value]:
    """Adds a primitive as a step, its inputs brought to the layouts that it wants; the first one to
    bfloat16 where it is to be `rounded`.

    Declined where it is a reference implementation, which is slower than anything else.
    """
    if primitive.is_reference:
        raise Declined(f"only a reference implementation: {primitive.implementation}")
    brought: list[Value] = []
    for value, wanted in zip(inputs, primitive.inputs, strict=True):
        if rounded and not brought:
            brought.append(as_bfloat16(to, value, wanted))
            continue
        has = offered_layout(to, value)
        brought.append(value if has == wanted else reorder(to, value, wanted))
    return _step(to, primitive, brought)


def _step(to: Lowering, primitive: Any, inputs: Sequence[Value]) -> list[Value]:
    if to.recording is not None:
        note(to.recording, primitive)
    layouts = [None if layout is None else Blocked(layout) for layout in primitive.outputs]
    return to.step(primitive.kernel, inputs, layouts)
