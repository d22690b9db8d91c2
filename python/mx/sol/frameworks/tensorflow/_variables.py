"""Noticing that variables of TensorFlow have been assigned to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
        self.variables: dict[str, Any] = {}
        self._handles: list[tuple[Any, Any]] = []
        self._seen: list[Any] = []
        self.add(variables)

    def add(self, variables: Mapping[str, Any]) -> None:
        """Has the variables of another graph watched, too. What had been assigned to those that
        were watched before is still told afterwards."""
        new = [one for name, one in variables.items() if name not in self.variables]
        self._seen = [*self._seen, *_memory(map(_handle, new))]
        self.variables |= variables
        self._handles = list(map(_handle, self.variables.values()))

    def look(self) -> None:
        """Takes the elements as they are now for those that `has_changed` compares with."""
        self._seen = _memory(self._handles)

    def weights(self) -> dict[str, Weight]:
        """The elements that they have now."""
        return {name: tensor_of(one, name) for name, one in self.variables.items()}

    def has_changed(self) -> bool:
        """Whether one has been assigned to; False without `sol.config["watch_variables"]`."""
        if not config["watch_variables"]:
            return False
        return not all(map(_is_shared, _memory(self._handles), self._seen))


def _handle(variable: Any) -> tuple[Any, Any]:
    return variable.handle, variable.dtype


def _memory(handles: Iterable[tuple[Any, Any]]) -> list[Any]:
    with tf.init_scope():
        return [_read(resource=handle, dtype=dtype)._numpy_internal() for handle, dtype in handles]
