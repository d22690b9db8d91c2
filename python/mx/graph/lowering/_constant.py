"""Tensors whose elements are known, and what the plans of a graph share of them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy
import onnx_ir

from ... import numpy as np
from .._proto import elements_of
from .._shared import empty, shared

# With fewer elements it is not worth while to give them up.
_FEW = 1024


class Constant:
    """A tensor whose elements are known: a weight, or what follows from weights.

    All plans of a graph share it, and kernels of oneDNN share what they pack of it. Elements that
    only such kernels read are given up (`release`); who asks for them again gets them from what is
    packed, or turned.
    """

    def __init__(self, source: numpy.ndarray[Any, Any] | onnx_ir.TensorProtocol) -> None:
        """`source` is not changed any more; a tensor of onnx-ir is read when it is needed."""
        self._lock = Lock()
        self._source: Any = source
        self._array: Any = None
        self._weight: Any = None  # of oneDNN
        self._turned: Constant | None = None
        # By the axis that is cut and their number.
        self._parts: dict[tuple[int, int], tuple[Constant, ...]] = {}
        if isinstance(source, numpy.ndarray):
            self.shape, self.dtype = source.shape, str(source.dtype)
        else:
            self.shape = tuple(source.shape.numpy())
            self.dtype = str(source.dtype.numpy())

    @staticmethod
    def of(array: Any) -> Constant:
        """That of an array of mx, which it has for its own."""
        made = Constant(numpy.asarray(array))
        made._array = array
        return made

    @property
    def elements(self) -> numpy.ndarray[Any, Any]:
        """The elements as NumPy has them."""
        with self._lock:
            if self._source is None and self._weight is not None:
                self._source = numpy.asarray(self._weight.array())
            elif self._source is None and self._turned is not None:
                self._source = numpy.ascontiguousarray(self._turned.elements.T)
            elif self._source is None:
                (axis, _), parts = next(iter(self._parts.items()))
                self._source = numpy.concatenate([part.elements for part in parts], axis)
            elif not isinstance(self._source, numpy.ndarray):
                self._source = elements_of(self._source)
            elements: numpy.ndarray[Any, Any] = self._source
        return elements

    @property
    def array(self) -> Any:
        """The elements as an array of mx, made once."""
        elements = self.elements
        with self._lock:
            if self._array is None:
                self._array = np.asarray(elements)
                if elements.flags.owndata:  # else they are somebody's weights, and stay anyway
                    self._source = numpy.asarray(self._array)  # of the same memory
            return self._array

    @property
    def bytes_beside(self) -> int:
        """The bytes of elements that nobody else has, neither who has made this nor a plan."""
        with self._lock:
            source = self._source
            is_own = isinstance(source, numpy.ndarray) and source.flags.owndata
            return source.nbytes if is_own and self._array is None else 0

    def weight(self, make: Callable[[Any], Any]) -> Any:
        """The mx.onednn.Weight of it, which `make` makes of an array, once."""
        if self._weight is None:
            # Not copied: what is packed is soon all that is left.
            array = shared(numpy.ascontiguousarray(self.elements).reshape(self.shape))
            with self._lock:
                if self._weight is None:
                    self._weight = make(array)
        return self._weight

    def turned(self) -> Constant:
        """A matrix with its axes in the other order, in large pages of memory; made once."""
        elements = self.elements
        with self._lock:
            if self._turned is None:
                made = empty(elements.size, elements.dtype).reshape(elements.shape[::-1])
                made[...] = elements.T
                self._turned = Constant.of(shared(made))
            return self._turned

    def parts(self, axis: int, count: int) -> tuple[Constant, ...]:
        """So many parts along an axis, the longer ones first, which kernels pack each by itself;
        made once."""
        elements = self.elements
        with self._lock:
            if (axis, count) not in self._parts:
                cut = numpy.array_split(elements, count, axis)
                self._parts[axis, count] = tuple(map(Constant, cut))
            return self._parts[axis, count]

    def release(self) -> bool:
        """Gives the elements up if kernels have packed all of them; whether they are given up."""
        with self._lock:
            if numpy.prod(self.shape) < _FEW:
                return False
            if self._weight is not None:
                is_packed = bool(self._weight.release())
            elif self._turned is not None:
                is_packed = True
            else:
                released = [[part.release() for part in parts] for parts in self._parts.values()]
                is_packed = any(map(all, released))
            if is_packed:
                self._source = self._array = None
            return is_packed
