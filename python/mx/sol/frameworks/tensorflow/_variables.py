"""Noticing that variables of TensorFlow have been assigned to."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from itertools import compress
from typing import Any

import numpy
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.eager.execute import execute

from ....importers.tensorflow._import import tensor_of
from ..._config import config
from .._framework import Holder, Weight
from ._watch import Watch, is_copied, is_worth_it, watch_of

_is_shared = numpy.may_share_memory


class Watched(Holder):
    """Variables by name, and the memory that they had when they were looked at.

    TensorFlow counts no versions of variables. But what is assigned to a variable whose elements
    are still in use is written to other memory, and they are in use here.
    """

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self.variables: dict[str, Any] = {}
        self._lock = threading.Lock()
        # One after the other, so that another thread sees no part of a change.
        self._seen = _Seen(_Handles([]), [])
        self.add(variables)

    def add(self, variables: Mapping[str, Any]) -> None:
        """Has the variables of another graph watched, too. What had been assigned to those that
        were watched before is still told afterwards."""
        with self._lock:
            new = [one for name, one in variables.items() if name not in self.variables]
            memory = [*self._seen.memory, *_Handles(new).memory()]
            self.variables |= variables
            self._seen = _Seen(_Handles(self.variables.values()), memory)

    def look(self) -> None:
        """Takes the elements as they are now for those that `has_changed` compares with."""
        with self._lock:
            every = self._seen.every
            self._seen = _Seen(every, every.memory())

    def weights(self) -> dict[str, Weight]:
        """The elements that they have now."""
        return {name: tensor_of(one, name) for name, one in self.variables.items()}

    def has_changed(self) -> bool:
        """Whether one has been assigned to; False without `sol.config["watch_variables"]`."""
        if not config["watch_variables"]:
            return False
        return self._seen.has_changed()


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


class _Seen:
    """Elements that variables had when they were looked at, which are held as long."""

    def __init__(self, every: _Handles, memory: list[Any]) -> None:
        self.every = every
        self.memory = memory
        self._are_copied = list(map(is_copied, memory))
        self._are_shared = [not one for one in self._are_copied]
        # The first elements and the last: two slices of one tensor may have others in common.
        flat = [one.reshape(-1) for one in compress(memory, self._are_shared)]
        self._ends = [one[:1] for one in flat] + [one[-1:] for one in flat]
        self._values = self._values_of(memory)
        # What looks for others faster, if anything does; None where that has been found out.
        self._watches: list[Watch | None] = []

    def has_changed(self) -> bool:
        """Whether a variable has others."""
        watch = self._watches[0] if self._watches else None
        # Assignments may be waiting for their turn, which reading by TensorFlow comes after.
        is_in_turn = not context.context().executor.is_async()
        if watch is not None and is_in_turn and not watch.may_have_changed():
            return False
        if self._differs():
            return True
        if not self._watches and is_worth_it(len(self.memory)):
            made = watch_of(self.every.handles, self.memory)
            # It has those that are copied as they were when it was made.
            if self._values and self._differs():
                return True
            self._watches = [made]
        return False

    def _differs(self) -> bool:
        """Whether TensorFlow reads others."""
        now = self.every.memory()
        shared = list(compress(now, self._are_shared))
        if not all(map(_is_shared, shared * 2, self._ends)):
            return True
        return self._values_of(now) != self._values

    def _values_of(self, arrays: list[Any]) -> list[bytes]:
        return [one.tobytes() for one in compress(arrays, self._are_copied)]
