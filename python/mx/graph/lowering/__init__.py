"""From nodes of a graph to kernels of a plan: backends, each with a rule an operator."""

from ._choice import Chooser, Layer
from ._table import Backend
from .blas import BLAS, MKL
from .onednn import ONEDNN
from .operators import OPERATORS

# In the order in which they are asked; what all decline is executed by the onnx package.
BACKENDS = (ONEDNN, BLAS, OPERATORS)

__all__ = ["BACKENDS", "BLAS", "Backend", "MKL", "ONEDNN", "OPERATORS", "Chooser", "Layer"]
