"""Noticing that variables of TensorFlow have been assigned to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy
import tensorflow as tf

from ....importers.tensorflow._import import tensor_of
from ..._config import config
from .._framework import Holder, Weight

_read = tf.raw_ops.ReadVariableOp
_is_shared = numpy.may_share_memory


class Watched(Holder):
    """Variables by name, and the memory that they had when they were looked at.

    TensorFlow counts no versions of variables. But what is assigned to a variable whose elements
    are still in use is written to other memory, and they are in use here.
    """

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self.variables = dict(variables)
        self._handles = [(one.handle, one.dtype) for one in self.variables.values()]
        self._seen: list[Any] = []
        self.look()

    def look(self) -> None:
        """Takes the elements as they are now for those that `has_changed` compares with."""
        self._seen = self._memory()

    def weights(self) -> dict[str, Weight]:
        """The elements that they have now."""
        return {name: tensor_of(one, name) for name, one in self.variables.items()}

    def has_changed(self) -> bool:
        """Whether one has been assigned to; False without `sol.config["watch_variables"]`."""
        if not config["watch_variables"]:
            return False
        return not all(map(_is_shared, self._memory(), self._seen))

    def _memory(self) -> list[Any]:
        with tf.init_scope():
            return [
                _read(resource=handle, dtype=dtype)._numpy_internal()
                for handle, dtype in self._handles
            ]
