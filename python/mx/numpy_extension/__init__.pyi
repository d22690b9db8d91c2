# Written by tools/write_stubs.py from the descriptions in the registry; do not edit.
from numpy.typing import DTypeLike

from ..ndarray import ArrayLike, ndarray

def erf(x: ArrayLike, out: ndarray | None = None) -> ndarray: ...
def log_softmax(
    data: ArrayLike,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DTypeLike | None = None,
) -> ndarray: ...
def relu(x: ArrayLike, out: ndarray | None = None) -> ndarray: ...
def sigmoid(x: ArrayLike, out: ndarray | None = None) -> ndarray: ...
def softmax(
    data: ArrayLike,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DTypeLike | None = None,
) -> ndarray: ...
def softsign(x: ArrayLike, out: ndarray | None = None) -> ndarray: ...
