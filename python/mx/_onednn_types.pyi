# Written by tools/write_stubs.py from the descriptions in the registry; do not edit.
from collections.abc import Sequence
from typing import Any

import numpy

import ffi
from ffi.typing import ArrayLike, DTypeLike

class Layout(ffi.Object):
    """How oneDNN has the elements of an array in memory."""
    @property
    def shape(self) -> ffi.Array[int]: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def bytes(self) -> int: ...
    @property
    def is_plain(self) -> bool: ...
    @property
    def text(self) -> str: ...
    @staticmethod
    def plain(shape: Sequence[int], dtype: DTypeLike = ...) -> Layout:
        """Row-major."""
    def permuted(self, axes: Sequence[int]) -> Layout:
        """The same memory seen with its axes in another order."""
    def reshaped(self, shape: Sequence[int]) -> Layout:
        """The same memory seen in another shape."""
    def __repr__(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...

class Input(ffi.Object):
    """The spec of data that a kernel reads, and the layout that it is offered in."""
    @property
    def shape(self) -> ffi.Array[int]: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def layout(self) -> Layout | None: ...
    @property
    def keep(self) -> bool: ...
    def __init__(
        self,
        shape: Sequence[int],
        dtype: DTypeLike = ...,
        layout: Layout | None = None,
        keep: bool = False,
    ) -> None: ...

class Weight(ffi.Object):
    """A constant that many kernels may read: packed once for each layout that they want."""
    @property
    def shape(self) -> ffi.Array[int]: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def num_packed(self) -> int: ...
    def __init__(self, array: ArrayLike) -> None: ...
    @staticmethod
    def packed(
        shape: Sequence[int], dtype: DTypeLike, forms: Sequence[tuple[str, str, ArrayLike]]
    ) -> Weight:
        """One that has but packed elements, which another process has got from `forms`."""
    def forms(self) -> ffi.Array[tuple[str, str, ffi.NDArray]]:
        """All that it is packed to, for `packed`: copies."""
    def array(self) -> ffi.NDArray:
        """A copy of the elements, which are made again where they were released."""
    def release(self) -> bool:
        """Gives the elements up, where a packed form has all of them; returns whether they are."""

class PostOp(ffi.Object):
    """What a primitive does to its result before it writes it."""
    @property
    def kind(self) -> str: ...
    @property
    def alpha(self) -> float | None: ...
    @property
    def beta(self) -> float | None: ...
    @property
    def operand(self) -> Input | Weight | ffi.NDArray | None: ...
    def __init__(
        self,
        kind: str,
        alpha: float | None = None,
        beta: float | None = None,
        operand: Input | Weight | ArrayLike | None = None,
    ) -> None: ...

class Primitive(ffi.Object):
    """A kernel of oneDNN, with the layouts that it reads and writes."""
    @property
    def kernel(self) -> ffi.Object: ...
    @property
    def inputs(self) -> ffi.Array[Layout | None]: ...
    @property
    def outputs(self) -> ffi.Array[Layout | None]: ...
    @property
    def output(self) -> Layout | None: ...
    @property
    def implementation(self) -> str: ...
    @property
    def is_reference(self) -> bool: ...

_Layout = Layout
_Input = Input
_Weight = Weight
_PostOp = PostOp
_Primitive = Primitive

class OneDNN:
    """What the library has registered."""
    @staticmethod
    def batch_normalization(
        x: Input | Weight | ArrayLike,
        scale: Input | Weight | ArrayLike,
        shift: Input | Weight | ArrayLike,
        mean: Input | Weight | ArrayLike,
        variance: Input | Weight | ArrayLike,
        epsilon: float = 1e-05,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """(x - mean) / sqrt(variance + epsilon) * scale + shift, by channel; in x's layout."""

    @staticmethod
    def binary(
        a: Input | Weight | ArrayLike,
        b: Input | Weight | ArrayLike,
        kind: str,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """A function of two elements; shapes broadcast as in NumPy."""

    @staticmethod
    def concat(inputs: Sequence[Input | Weight | ArrayLike], axis: int) -> Primitive:
        """Arrays one behind the other along an axis, in the layouts that they come in."""

    @staticmethod
    def convolution(
        x: Input | Weight | ArrayLike,
        weight: Input | Weight | ArrayLike,
        bias: Input | Weight | ArrayLike | None = None,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        groups: int = 1,
        post_ops: Sequence[PostOp] | None = None,
        dtype: DTypeLike | None = None,
    ) -> Primitive:
        """A convolution over one to three axes."""

    @staticmethod
    def convolution_data_gradient(
        dy: Input | Weight | ArrayLike,
        weight: Input | Weight | ArrayLike,
        shape: Sequence[int],
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        groups: int = 1,
    ) -> Primitive:
        """What a convolution's data is differentiated by."""

    @staticmethod
    def convolution_weight_gradient(
        x: Input | Weight | ArrayLike,
        dy: Input | Weight | ArrayLike,
        shape: Sequence[int],
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        groups: int = 1,
        order: Sequence[int] | None = None,
    ) -> Primitive:
        """What a convolution's weight is differentiated by, row-major."""

    @staticmethod
    def deconvolution(
        x: Input | Weight | ArrayLike,
        weight: Input | Weight | ArrayLike,
        bias: Input | Weight | ArrayLike | None = None,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        groups: int = 1,
        output_padding: Sequence[int] | None = None,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """The transpose of a convolution over one to three axes."""

    @staticmethod
    def eltwise(
        x: Input | Weight | ArrayLike,
        kind: str,
        alpha: float | None = None,
        beta: float | None = None,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """A function of each element, in the layout that x comes in."""

    @staticmethod
    def eltwise_gradient(
        dy: Input | Weight | ArrayLike,
        at: Input | Weight | ArrayLike,
        kind: str,
        alpha: float | None = None,
        beta: float | None = None,
        of_result: bool = False,
    ) -> Primitive:
        """What the data of a function of each element is differentiated by."""

    @staticmethod
    def has_bfloat16() -> bool:
        """Whether the processor multiplies bfloat16 numbers, and oneDNN has it do so."""

    @staticmethod
    def inner_product(
        x: Input | Weight | ArrayLike,
        weight: Input | Weight | ArrayLike,
        bias: Input | Weight | ArrayLike | None = None,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """x @ weight.T + bias, where x is seen as a matrix; it may come in blocks."""

    @staticmethod
    def layer_normalization(
        x: Input | Weight | ArrayLike,
        scale: Input | Weight | ArrayLike | None = None,
        shift: Input | Weight | ArrayLike | None = None,
        axis: int = -1,
        epsilon: float = 1e-05,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """(x - mean) / sqrt(variance + epsilon) * scale + shift, over the axes from one on."""

    @staticmethod
    def lrn(
        x: Input | Weight | ArrayLike,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
    ) -> Primitive:
        """x / (k + alpha / size * sum of squares of neighbouring channels) ** beta."""

    @staticmethod
    def matmul(
        a: Input | Weight | ArrayLike,
        b: Input | Weight | ArrayLike,
        bias: Input | Weight | ArrayLike | None = None,
        transpose_a: bool = False,
        transpose_b: bool = False,
        alpha: float = 1.0,
        post_ops: Sequence[PostOp] | None = None,
        pack_b: bool = False,
        dtype: DTypeLike | None = None,
    ) -> Primitive:
        """alpha * (a @ b) + bias, for all matrices of the first axes, which broadcast."""

    @staticmethod
    def mean_pooling_gradient(
        dy: Input | Weight | ArrayLike,
        shape: Sequence[int],
        kernel: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
        count_include_pad: bool = False,
    ) -> Primitive:
        """What the data of a pool that takes means is differentiated by."""

    @staticmethod
    def pooling(
        x: Input | Weight | ArrayLike,
        kind: str,
        kernel: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
        count_include_pad: bool = False,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """The largest element or the mean of windows, in the layout that x comes in."""

    @staticmethod
    def prelu(x: Input | Weight | ArrayLike, slope: Input | Weight | ArrayLike) -> Primitive:
        """x where it is positive, x * slope elsewhere; in x's layout."""

    @staticmethod
    def recurrent(
        x: Input | Weight | ArrayLike,
        weight: Input | Weight | ArrayLike,
        recurrent: Input | Weight | ArrayLike,
        bias: Input | Weight | ArrayLike | None = None,
        initial_h: Input | Weight | ArrayLike | None = None,
        initial_c: Input | Weight | ArrayLike | None = None,
        peephole: Input | Weight | ArrayLike | None = None,
        kind: str = "lstm",
        direction: str = "forward",
    ) -> Primitive:
        """A recurrent layer over all of a sequence: its results, the last h, and of lstm c."""

    @staticmethod
    def reduction(
        x: Input | Weight | ArrayLike,
        kind: str,
        axes: Sequence[int] | None = None,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """The sum, the mean, the product or an extreme over axes, whose extent becomes 1."""

    @staticmethod
    def reorder(
        x: Input | Weight | ArrayLike, to: Layout | None = None, dtype: DTypeLike | None = None
    ) -> Primitive:
        """Brings data to another layout, or to another element type."""

    @staticmethod
    def resampling(
        x: Input | Weight | ArrayLike,
        extents: Sequence[int],
        kind: str,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """Enlarges or reduces x along the spatial axes.

        Its elements are seen as squares: the middle of the first is half an element from the edge.
        """

    @staticmethod
    def shuffle(x: Input | Weight | ArrayLike, groups: int, axis: int = 1) -> Primitive:
        """Sees an axis as (groups, rest), and makes it (rest, groups); in x's layout."""

    @staticmethod
    def softmax(
        x: Input | Weight | ArrayLike,
        axis: int = -1,
        is_log: bool = False,
        post_ops: Sequence[PostOp] | None = None,
    ) -> Primitive:
        """exp(x) / sum(exp(x)) along an axis, or its logarithm; in x's layout."""

    Layout = _Layout
    Input = _Input
    Weight = _Weight
    PostOp = _PostOp
    Primitive = _Primitive
