"""Which dimensions of a model may vary, which do, and why the others may not."""

from ._choice import Choice, VDims, choose
from ._dimensions import Dimensions, Shape

__all__ = ["Choice", "Dimensions", "Shape", "VDims", "choose"]
