"""Operators that ONNX lacks: gradients, layers in training. Their domain is `mxffi.sol`.

`OPERATORS` has their descriptions by name. Importing this package makes them known to the onnx
package, whose inference then has their shapes, and to the plans of `mx.graph`. Other packages add
operators with the decorator `operator`; `like` and `shaped` describe shapes of what they give.
"""

# Each of them adds the operators of a family to OPERATORS.
from . import activations as _activations  # noqa: F401, I001
from . import adaptive_steps as _adaptive_steps  # noqa: F401
from . import attention as _attention  # noqa: F401
from . import dropout as _dropout  # noqa: F401
from . import gru as _gru  # noqa: F401
from . import losses as _losses  # noqa: F401
from . import lstm as _lstm  # noqa: F401
from . import matrices as _matrices  # noqa: F401
from . import movement as _movement  # noqa: F401
from . import normalization as _normalization  # noqa: F401
from . import random as _random  # noqa: F401
from . import rnn as _rnn  # noqa: F401
from . import steps as _steps  # noqa: F401
from . import windows as _windows  # noqa: F401
from ._describe import DOMAIN, OPERATORS, VERSION, Array, Operator, operator
from ._inference import like, shaped

__all__ = ["DOMAIN", "OPERATORS", "VERSION", "Array", "Operator", "like", "operator", "shaped"]
