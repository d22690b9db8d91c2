"""Who takes part in which table, and the gathering of those that are installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.compare import cases
from benchmarks.compare.model import OURS, Call, Calls
from benchmarks.compare.timing import block_of
from benchmarks.peers import (
    array_peers,
    binding_peers,
    elementwise_peers,
    mxffi_peer,
    plain_peers,
    tvm_ffi_peer,
)
from benchmarks.peers.build import MissingPeer

LARGE_SIZE = 1024

Loader = tuple[str, Callable[[], Calls]]

CALLS: Sequence[Loader] = (
    (OURS, mxffi_peer.calls),
    (OURS, mxffi_peer.own_array_calls),
    ("tvm-ffi", tvm_ffi_peer.calls),
    ("nanobind", binding_peers.nanobind_calls),
    ("pybind11", binding_peers.pybind11_calls),
    ("cffi", plain_peers.cffi_calls),
    ("ctypes", plain_peers.ctypes_calls),
)

VALUES: Sequence[Loader] = (
    (OURS, mxffi_peer.value_calls),
    ("tvm-ffi", tvm_ffi_peer.value_calls),
)

LIBRARY: Sequence[Loader] = ((OURS, mxffi_peer.library_calls),)

WORKLOADS: Sequence[Loader] = (
    (OURS, mxffi_peer.workload_calls),
    ("numpy", array_peers.numpy_workloads),
    ("torch", array_peers.torch_workloads),
)

ELEMENTWISE: Sequence[Loader] = (
    (OURS, elementwise_peers.own_calls),
    ("numpy", elementwise_peers.numpy_calls),
    ("torch", elementwise_peers.torch_calls),
)

LARGE: Sequence[Loader] = (
    (OURS, partial(mxffi_peer.large_calls, LARGE_SIZE)),
    ("numpy", partial(array_peers.numpy_large, LARGE_SIZE)),
    ("torch", partial(array_peers.torch_large, LARGE_SIZE)),
)

OWN: Sequence[Loader] = (
    (OURS, mxffi_peer.calls),
    (OURS, mxffi_peer.own_array_calls),
    (OURS, mxffi_peer.value_calls),
    (OURS, mxffi_peer.workload_calls),
)


class Gathered:
    """The calls of everyone present, and a note on each peer or case that had to be left out.

    `failures` are the notes on this project's own column: a peer may be missing, ours may not.
    """

    def __init__(self, loaders: Sequence[Loader]) -> None:
        self.calls: Calls = {}
        self.notes: list[str] = []
        self.failures: list[str] = []
        for name, load in loaders:
            self._add(name, load)

    def _add(self, name: str, load: Callable[[], Calls]) -> None:
        try:
            table = load()
        except MissingPeer as error:
            self._leave_out(name, f"{name} is left out: {error}")
            return
        except Exception as error:
            self._leave_out(name, f"{name} is left out: {type(error).__name__}: {error}")
            return
        for case, columns in table.items():
            for column, call in columns.items():
                self._add_call(name, case, column, call.bound())
                typed = call.as_typed()
                if typed is not None:
                    self._add_call(name, cases.as_typed(case), column, typed)

    def _add_call(self, name: str, case: str, column: str, call: Call) -> None:
        """Keeps a call that works: one is made here before any is timed."""
        try:
            block_of(call)(1)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            self._leave_out(name, f"{column}, {case}: left out: {reason}")
            return
        self.calls.setdefault(case, {})[column] = call

    def _leave_out(self, name: str, note: str) -> None:
        if note in self.notes:
            return
        self.notes.append(note)
        if name == OURS:
            self.failures.append(note)
