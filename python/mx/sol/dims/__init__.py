"""Which dimensions of a model may vary, which do, and why the others may not."""

from ._batch import with_batch_size
from ._choice import Choice, VDims, choose
from ._dimensions import Dimensions, Shape

__all__ = ["Choice", "Dimensions", "Shape", "VDims", "choose", "with_batch_size"]
