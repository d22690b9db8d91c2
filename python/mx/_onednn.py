"""oneDNN, loaded when it is first asked for: makers of kernels for the plans of graphs.

`load()` finds the library of the package onednn-cpu-gomp and what is built on it here. A maker is
told shapes and types, constants, and the layouts that data is offered in; it returns a `Primitive`:
a kernel, with the layouts that it wants and gives.
"""

from __future__ import annotations

import ctypes
import functools
import os
import os.path
from importlib import metadata

import ffi

from . import _library  # noqa: F401  registers mx.graph.Kernel and mx.get_num_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol, TypeAlias

    class Layout(Protocol):
        """How oneDNN has the elements of an array in memory."""

        @property
        def shape(self) -> Sequence[int]: ...
        @property
        def dtype(self) -> str: ...
        @property
        def bytes(self) -> int: ...
        @property
        def is_plain(self) -> bool: ...
        @property
        def text(self) -> str: ...
        def permuted(self, axes: Sequence[int]) -> Layout: ...
        def reshaped(self, shape: Sequence[int]) -> Layout: ...

    class LayoutClass(Protocol):
        """The class of layouts."""

        def plain(self, shape: Sequence[int], dtype: Any = "float32") -> Layout: ...

    class Input(Protocol):
        """The spec of data that a kernel reads, and the layout that it is offered in."""

        @property
        def shape(self) -> Sequence[int]: ...
        @property
        def dtype(self) -> str: ...
        @property
        def layout(self) -> Layout | None: ...
        @property
        def keep(self) -> bool: ...

    class InputClass(Protocol):
        """The class of inputs."""

        def __call__(
            self,
            shape: Sequence[int],
            dtype: Any = "float32",
            layout: Layout | None = None,
            keep: bool = False,
        ) -> Input: ...

    class Weight(Protocol):
        """A constant that many kernels may read, packed once for each layout that they want."""

        @property
        def num_packed(self) -> int: ...
        def array(self) -> Any: ...
        def release(self) -> bool: ...

    class WeightClass(Protocol):
        """The class of weights."""

        def __call__(self, array: Any) -> Weight: ...

    # Data, or a constant: a weight, or an array that one kernel reads.
    Operand: TypeAlias = Any

    class PostOp(Protocol):
        """What a primitive does to its result before it writes it."""

        @property
        def kind(self) -> str: ...

    class PostOpClass(Protocol):
        """The class of post-ops."""

        def __call__(
            self,
            kind: str,
            alpha: float | None = None,
            beta: float | None = None,
            operand: Operand | None = None,
        ) -> PostOp: ...

    class Primitive(Protocol):
        """A kernel of oneDNN, with the layouts that it reads and writes; None for row-major."""

        @property
        def kernel(self) -> Any: ...
        @property
        def inputs(self) -> Sequence[Layout | None]: ...
        @property
        def outputs(self) -> Sequence[Layout | None]: ...
        @property
        def output(self) -> Layout | None: ...
        @property
        def implementation(self) -> str: ...
        @property
        def is_reference(self) -> bool: ...

    PostOps: TypeAlias = Sequence[PostOp] | None
    Ints: TypeAlias = Sequence[int] | None

    class OneDNN(Protocol):
        """What the library has registered."""

        def convolution(
            self,
            x: Operand,
            weight: Operand,
            bias: Operand | None = None,
            strides: Ints = None,
            pads: Ints = None,
            dilations: Ints = None,
            groups: int = 1,
            post_ops: PostOps = None,
            dtype: Any = None,
        ) -> Primitive: ...
        def deconvolution(
            self,
            x: Operand,
            weight: Operand,
            bias: Operand | None = None,
            strides: Ints = None,
            pads: Ints = None,
            dilations: Ints = None,
            groups: int = 1,
            output_padding: Ints = None,
            post_ops: PostOps = None,
        ) -> Primitive: ...
        def matmul(
            self,
            a: Operand,
            b: Operand,
            bias: Operand | None = None,
            transpose_a: bool = False,
            transpose_b: bool = False,
            alpha: float = 1.0,
            post_ops: PostOps = None,
            pack_b: bool = False,
            dtype: Any = None,
        ) -> Primitive: ...
        def inner_product(
            self,
            x: Operand,
            weight: Operand,
            bias: Operand | None = None,
            post_ops: PostOps = None,
        ) -> Primitive: ...
        def pooling(
            self,
            x: Operand,
            kind: str,
            kernel: Ints = None,
            strides: Ints = None,
            pads: Ints = None,
            dilations: Ints = None,
            ceil_mode: bool = False,
            count_include_pad: bool = False,
            post_ops: PostOps = None,
        ) -> Primitive: ...
        def eltwise(
            self,
            x: Operand,
            kind: str,
            alpha: float | None = None,
            beta: float | None = None,
            post_ops: PostOps = None,
        ) -> Primitive: ...
        def binary(
            self, a: Operand, b: Operand, kind: str, post_ops: PostOps = None
        ) -> Primitive: ...
        def has_bfloat16(self) -> bool: ...
        def reorder(self, x: Operand, to: Layout | None = None, dtype: Any = None) -> Primitive: ...
        def batch_normalization(
            self,
            x: Operand,
            scale: Operand,
            shift: Operand,
            mean: Operand,
            variance: Operand,
            epsilon: float = 1e-5,
            post_ops: PostOps = None,
        ) -> Primitive: ...
        def layer_normalization(
            self,
            x: Operand,
            scale: Operand | None = None,
            shift: Operand | None = None,
            axis: int = -1,
            epsilon: float = 1e-5,
            post_ops: PostOps = None,
        ) -> Primitive: ...
        def softmax(
            self, x: Operand, axis: int = -1, is_log: bool = False, post_ops: PostOps = None
        ) -> Primitive: ...
        def lrn(
            self, x: Operand, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
        ) -> Primitive: ...
        def concat(self, inputs: Sequence[Operand], axis: int) -> Primitive: ...
        def reduction(
            self, x: Operand, kind: str, axes: Ints = None, post_ops: PostOps = None
        ) -> Primitive: ...
        def resampling(
            self, x: Operand, extents: Sequence[int], kind: str, post_ops: PostOps = None
        ) -> Primitive: ...
        def prelu(self, x: Operand, slope: Operand) -> Primitive: ...
        def shuffle(self, x: Operand, groups: int, axis: int = 1) -> Primitive: ...
        def recurrent(
            self,
            x: Operand,
            weight: Operand,
            recurrent: Operand,
            bias: Operand | None = None,
            initial_h: Operand | None = None,
            initial_c: Operand | None = None,
            peephole: Operand | None = None,
            kind: str = "lstm",
            direction: str = "forward",
        ) -> Primitive: ...
        # Of training: results that gradients need, and gradients.
        def convolution_data_gradient(
            self,
            dy: Operand,
            weight: Operand,
            shape: Sequence[int],
            strides: Ints = None,
            pads: Ints = None,
            dilations: Ints = None,
            groups: int = 1,
        ) -> Primitive: ...
        def convolution_weight_gradient(
            self,
            x: Operand,
            dy: Operand,
            shape: Sequence[int],
            strides: Ints = None,
            pads: Ints = None,
            dilations: Ints = None,
            groups: int = 1,
        ) -> Primitive: ...
        def eltwise_gradient(
            self,
            dy: Operand,
            at: Operand,
            kind: str,
            alpha: float | None = None,
            beta: float | None = None,
            of_result: bool = False,
        ) -> Primitive: ...
        def mean_pooling_gradient(
            self,
            dy: Operand,
            shape: Sequence[int],
            kernel: Ints = None,
            strides: Ints = None,
            pads: Ints = None,
            dilations: Ints = None,
            ceil_mode: bool = False,
            count_include_pad: bool = False,
        ) -> Primitive: ...
        # Behind all that mean the classes above by these names.
        @property
        def Layout(self) -> LayoutClass: ...
        @property
        def Input(self) -> InputClass: ...
        @property
        def Weight(self) -> WeightClass: ...
        @property
        def PostOp(self) -> PostOpClass: ...


_PACKAGE = "onednn-cpu-gomp"
_SONAME = "libdnnl.so.3"
_PATH = os.path.join(os.path.dirname(_library.PATH), "libmxnet_onednn.so")


def _find() -> str:
    """The path of oneDNN's library. ImportError where the package or its file is missing."""
    try:
        files = metadata.distribution(_PACKAGE).files or ()
    except metadata.PackageNotFoundError:
        reason = f"the package {_PACKAGE} is not installed; pip install mxffi[graph]"
        raise ImportError(f"oneDNN cannot be used: {reason}") from None
    for file in files:
        path = str(file.locate())
        if file.name == _SONAME and os.path.exists(path):
            return os.path.realpath(path)
    raise ImportError(f"oneDNN cannot be used: the package {_PACKAGE} has lost its {_SONAME}")


@functools.cache
def load() -> OneDNN:
    """Loads oneDNN and the makers. ImportError, with the reason, where one of them is missing."""
    if not os.path.exists(_PATH):
        raise ImportError(f"oneDNN cannot be used: mx is built without it, {_PATH} is missing")
    path = _find()
    try:
        # For itself: the library of the makers finds it by its name, as it is there already.
        ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)
        library: Any = ffi.load_library(_PATH)
    except OSError as error:
        raise ImportError(f"oneDNN cannot be used: {error}") from error
    loaded: OneDNN = library
    return loaded
