"""The type expressions of descriptions that Python has no type for, as stubs import them."""

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
    """What NumPy sees an array in, its own scalars among them."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


# What a function that takes a tensor accepts, without a copy.
ArrayLike: TypeAlias = SupportsDLPack | SupportsArrayInterface
# What names an element type: 'float32', numpy.float32, numpy.dtype('float32'), float.
DTypeLike: TypeAlias = "str | type[Any] | numpy.dtype[Any]"
