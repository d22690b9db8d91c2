"""What the gradients of functions of matrices need."""

from __future__ import annotations

import numpy

from ._describe import Array, operator
from ._inference import like


@operator("Cofactors", "Y", like(0))
def cofactors(X: Array) -> Array:
    """The cofactors of the last two axes' matrices: det(X) * inv(X) transposed, where that is.

    They are computed by singular values, so a matrix without an inverse has them, too.
    """
    wide = X.astype(numpy.result_type(X.dtype, "float32"))
    left, values, right = numpy.linalg.svd(wide)
    sign = numpy.linalg.det(left) * numpy.linalg.det(right)
    count = values.shape[-1]
    others = (
        numpy.stack([numpy.delete(values, index, -1).prod(-1) for index in range(count)], -1)
        if count
        else values
    )
    made = (left * (others * sign[..., None])[..., None, :]) @ right
    return made.astype(X.dtype)
