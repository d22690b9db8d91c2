"""Types that descriptions name and Python lacks; stubs import them from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import numpy

__all__ = ["ArrayLike", "DTypeLike", "SupportsArrayInterface", "SupportsDLPack"]


@runtime_checkable
class SupportsDLPack(Protocol):
    """A tensor of any library that speaks DLPack: NumPy, PyTorch, JAX, ffi and mx themselves."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...


@runtime_checkable
class SupportsArrayInterface(Protocol):
    """Objects with __array_interface__, scalars of NumPy among them."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


# Accepted without a copy by functions that take a tensor.
ArrayLike: TypeAlias = SupportsDLPack | SupportsArrayInterface
# Ways to name an element type: 'float32', numpy.float32, numpy.dtype('float32'), float.
DTypeLike: TypeAlias = "str | type[Any] | numpy.dtype[Any]"
