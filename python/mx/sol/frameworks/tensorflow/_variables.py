"""Noticing that variables of TensorFlow have been assigned to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.eager.execute import execute

from ....importers.tensorflow._import import tensor_of
from ..._config import config
from .._framework import Holder, Weight
from ._watch import Watch, is_worth_it, watch_of

_is_shared = numpy.may_share_memory


class Watched(Holder):
    """Variables by name, and the memory that they had when they were looked at.

    TensorFlow counts no versions of variables. But what is assigned to a variable whose elements
    are still in use is written to other memory, and they are in use here.
    """

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self.variables: dict[str, Any] = {}
        self._all = _Handles([])
        self._seen: list[Any] = []
        # Elements that were seen, and what looks for others faster, if anything does.
        self._watched: tuple[list[Any], Watch | None] = ([], None)
        self.add(variables)

    def add(self, variables: Mapping[str, Any]) -> None:
        """Has the variables of another graph watched, too. What had been assigned to those that
        were watched before is still told afterwards."""
        new = [one for name, one in variables.items() if name not in self.variables]
        self._seen = [*self._seen, *_Handles(new).memory()]
        self.variables |= variables
        self._all = _Handles(self.variables.values())

    def look(self) -> None:
        """Takes the elements as they are now for those that `has_changed` compares with."""
        self._seen = self._all.memory()

    def weights(self) -> dict[str, Weight]:
        """The elements that they have now."""
        return {name: tensor_of(one, name) for name, one in self.variables.items()}

    def has_changed(self) -> bool:
        """Whether one has been assigned to; False without `sol.config["watch_variables"]`."""
        if not config["watch_variables"]:
            return False
        seen, (watched, watch) = self._seen, self._watched
        if watch is not None and watched is seen:
            return watch.has_changed()
        every = self._all
        if not all(map(_is_shared, every.memory(), seen)):
            return True
        if watched is not seen and is_worth_it(len(seen)):
            self._watched = seen, watch_of(every.handles, seen)
        return False


class _Handles:
    """Variables that one operation reads: one for each takes four times as long."""

    def __init__(self, variables: Iterable[Any]) -> None:
        every = list(variables)
        self.handles = [one.handle for one in every]
        types = [one.dtype.as_datatype_enum for one in every]
        self._attributes = ("N", len(every), "dtypes", types)

    def memory(self) -> list[Any]:
        """Arrays in the memory that the variables have now."""
        if not self.handles:
            return []
        given, count = self.handles, len(self.handles)
        with tf.init_scope():
            inside = context.context()
            found = execute(b"_ReadVariablesOp", count, given, self._attributes, inside)
        return [one._numpy_internal() for one in found]
