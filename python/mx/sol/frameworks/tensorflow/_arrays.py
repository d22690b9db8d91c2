"""Arrays of plans as tensors of TensorFlow, and gradients between the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf


def tensor_of(array: Any) -> Any:
    """An array of a plan as a tensor, in the same memory."""
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())


def dense(grads: Sequence[Any]) -> list[Any]:
    """Gradients as tensors; those of what rows were gathered from come as tf.IndexedSlices."""
    return [None if one is None else tf.convert_to_tensor(one) for one in grads]


def eager(name: str, grads: Sequence[Any]) -> list[Any]:
    """The same for an eager call of the model of that name. NotImplementedError where TensorFlow
    traces what computes gradients, to have many of them at once: there are no elements then."""
    if any(map(tf.is_symbolic_tensor, grads)):
        raise NotImplementedError(
            f"{name}: an optimized model has one gradient at a time: give tape.jacobian and"
            " tape.batch_jacobian experimental_use_pfor=False"
        )
    return dense(grads)


def without_second(name: str, grads: Sequence[Any], sources: Sequence[Any]) -> list[Any]:
    """Gradients of the model of that name, which depend on the sources, as what NotImplementedError
    is differentiated by: another tape would find no gradient of them, without an error."""
    which = [n for n, one in enumerate(grads) if one is not None]
    if not which:
        return list(grads)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def call(*_: Any) -> Any:
        def second(*_: Any) -> Any:
            text = "an optimized model has no second gradients: differentiate the original"
            raise NotImplementedError(f"{name}: {text}")

        return [tf.identity(grads[n]) for n in which], second

    result = list(grads)
    for n, one in zip(which, call(*sources), strict=True):
        result[n] = one
    return result
