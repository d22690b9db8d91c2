"""Batches of data for modules, and an iterator that makes them of arrays."""

from ._batch import DataBatch, DataDesc, DataIter
from ._ndarray_iter import NDArrayIter

__all__ = ["DataBatch", "DataDesc", "DataIter", "NDArrayIter"]
