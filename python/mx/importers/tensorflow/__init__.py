"""Models of TensorFlow and Keras as graphs, by way of a function's graph of operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mx.graph import Graph

from ._call import Unsupported, rule

__all__ = ["Unsupported", "load", "rule"]


def load(
    model: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic: bool | Mapping[str, Sequence[str | None]] = False,
) -> Graph:
    """Makes a graph of a `keras.Model`, a `tf.Module`, a `tf.function`, or another function of
    TensorFlow's tensors.

    It is traced for inference with the example `args` and `kwargs`, of which shapes and data types
    matter; the shapes that a Keras model was built for do without. With `dynamic` the first axis of
    all inputs varies, or what its names say, as `{"x": ("batch", None, None, 3)}`: axes of one name
    are equal, and None is the example's length.

    Inputs have the names of parameters, weights those of variables: the path of a Keras variable,
    the attributes that lead to one of a module, joined by "/", else its own name. Weights share
    memory with the variables. Outputs are flat, named `output`, `output_0` or by the keys of what
    the model returns. Nodes note their name scope, which has the layers of Keras, and source line
    as `"mx.module"` and `"mx.source"`. Axes are where the model has them: images keep their
    channels last.

    GraphError for operators without a rule, all of them named with layer and line; ImportError
    where TensorFlow is missing; what TensorFlow raises for a model that it cannot trace.
    """
    try:
        import tensorflow  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            "mx.importers.tensorflow.load needs the package tensorflow: pip install tensorflow-cpu",
            name="tensorflow",
        ) from error
    from ._trace import Traced

    return Traced(model, args, kwargs or {}).graph(dynamic)
