"""oneDNN as a backend: convolutions, products, pools and what surrounds them, in float32."""

from . import (  # noqa: F401  their rules
    _convolution,
    _elementwise,
    _gru_training,
    _normalization,
    _pooling,
    _product,
    _recurrence,
    _recurrent_training,
    _training,
)
from ._backend import ONEDNN, images_last

__all__ = ["ONEDNN", "images_last"]
