"""Where in the user's program an operation of TensorFlow comes from."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import Any

_OWN = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


@lru_cache(maxsize=1)
def _not_the_users() -> tuple[str, ...]:
    """The folders of packages whose lines are none of the model's."""
    modules = [sys.modules.get(name) for name in ("tensorflow", "keras", "tf_keras", "wrapt")]
    folders = [os.path.dirname(str(one.__file__)) for one in modules if one is not None]
    return (*(folder + os.sep for folder in folders), _OWN + os.sep, "<")


def layer_path(op: Any) -> str:
    """The name scope that the operation is in: layers of Keras are such scopes."""
    return str(op.name).rpartition("/")[0]


def source_line(op: Any) -> str:
    """`file:line` of the innermost line that is not TensorFlow's or Keras's own."""
    outside = [
        frame for frame in op.traceback or () if not frame.filename.startswith(_not_the_users())
    ]
    return f"{outside[-1].filename}:{outside[-1].lineno}" if outside else ""


def metadata_of(op: Any) -> dict[str, str]:
    """What nodes of the graph note of where they come from."""
    found = {"mx.module": layer_path(op), "mx.source": source_line(op)}
    return {key: value for key, value in found.items() if value}


def describe(op: Any) -> str:
    """Names an operation in an error: its operator, its layer and its line."""
    path, source = layer_path(op), source_line(op)
    text = f"{op.type} (node {op.name!r}"
    text += f" in layer {path!r}" if path else ""
    return text + (f", {source})" if source else ")")


def has_own_gradient(op: Any) -> bool:
    """Whether it is what a function of the user's gives that has a gradient of its own.

    Those of TensorFlow and Keras compute the gradient that follows from their formula, too.
    """
    if "_gradient_op_type" not in op.node_def.attr:
        return False
    # What computes the result was called from the file that defines custom gradients.
    frames = [frame.filename for frame in op.inputs[0].op.traceback or ()]
    is_definition = [os.path.basename(name) == "custom_gradient.py" for name in frames]
    if True not in is_definition:
        return True
    inside = frames[len(frames) - is_definition[::-1].index(True) :]
    return not inside or not inside[0].startswith(_not_the_users())
