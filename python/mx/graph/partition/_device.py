"""Asking an accelerator's library about parts of a graph, and having it compile them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import onnx_ir

import ffi

from ... import numpy as np
from ...cache import _secret
from ...context import Context, cpu
from ._compiled import Compiler, Saved, Source, digest_of
from ._describe import describe, dtype_of, extents_of, onnx_of
from ._wiring import Part, Wiring

_ModelGraph: Any = ffi.get_class("mx.acc.ModelGraph")
_context = ffi.get_global_func("mx.acc.models.context")
_copy_costs = ffi.get_global_func("mx.acc.models.copy_costs")
_content_hash = ffi.get_global_func("mx.acc.models.content_hash")

# Weights of fewer bytes are copied and hashed sooner than a thread is told to.
_BYTES_OF_THREAD = 1 << 16
_ALIGNMENT = 64

# What the answers of libraries say, by MXAccNodeSupport::why.
WHYS = (
    "",
    "this operator never",
    "not this version of the operator",
    "not with these attributes",
    "not with this type of elements",
    "not in this layout",
    "not for these extents",
    "not for extents that are not known",
    "the device has not enough memory",
    "the CPU is faster",
)


@dataclass(frozen=True)
class Answer:
    """What a library says of one node; costs are 0 where it does not say."""

    group: int  # of MXAccNodeSupport: -1 for unsupported, 0 for any group
    reason: str = ""
    cost: float = 0.0  # microseconds
    group_cost: float = 0.0  # microseconds of a run of its group besides
    byte_cost: float = 0.0  # nanoseconds for each byte that is copied to it or from it


@dataclass(frozen=True)
class CopyCost:
    """What a copy takes, in microseconds: any, and each byte besides."""

    base: float
    per_byte: float


class Device:
    """A device that runs models, with the options that they are compiled with."""

    def __init__(
        self,
        ctx: Context,
        options: Mapping[str, Any],
        use_cache: bool = True,
        saved: Saved | None = None,
    ) -> None:
        self.ctx = ctx
        self.name = ctx.device_type
        self.memory = _context(ctx)
        self.compiler = Compiler(ctx, options, use_cache, saved)
        self.options = dict(options)
        # Hashes of weights are as fast as reading them, and nobody can choose equal ones who does
        # not know this.
        self.secret = _secret.secret() if saved is None else saved.secret
        self.hash_key = _secret.words_of(self.secret)
        # Copies of weights with their hashes, by the tensors, and those that had not changed.
        self._weights: dict[int, tuple[Any, Any, str]] = {}
        self._unchanged: dict[int, tuple[Any, Any, str]] = {}

    def answers(
        self, wiring: Wiring, part: Part, ids: Mapping[onnx_ir.Node, int], opset: Mapping[str, int]
    ) -> list[Answer]:
        """What the library says of the nodes of a part, in order."""
        rows = self.source(wiring, part, ids, opset).graph.supported(self.ctx)
        return [_answer_of(row) for row in rows]

    def copy_costs(self) -> dict[bool, CopyCost]:
        """Those of copies to the device, under True, and from it, measured once for each device.

        RuntimeError, MemoryError: what copies of 1 MiB fail with.
        """
        row = list(_copy_costs(self.ctx)) or [0.0] * 4
        return {True: CopyCost(*row[:2]), False: CopyCost(*row[2:])}

    def array(self, content: Any) -> Any:
        """An array where models take them from."""
        if isinstance(content, np.ndarray) and content.ctx == self.memory:
            return content
        return np.asarray(content, ctx=self.memory)

    def forget_weights(self) -> None:
        """Drops the copies of weights that were made to compile models: the next time the elements
        may be others."""
        self._weights.clear()
        self._unchanged.clear()

    def source(
        self,
        wiring: Wiring,
        part: Part,
        ids: Mapping[onnx_ir.Node, int],
        opset: Mapping[str, int],
        before: Sequence[str] = (),
    ) -> Source:
        """A part as the library gets it. `before` has the hashes of the weights of a model that is
        to be updated: those that still have them are not copied, and nothing else can be made of
        the source than such an update."""
        name = wiring.graph.name or ""
        text, onnx = describe(part, ids, opset, name), onnx_of(part, opset, name)
        graph = _ModelGraph(text, len(part.nodes), onnx)
        hashes = []
        for value in part.inputs:
            graph.add_input(value.name or "", dtype_of(value), *extents_of(value))
        known = list(before) if len(before) == len(part.weights) else [""] * len(part.weights)
        self._read_weights(wiring, part.weights, known)
        for value, old in zip(part.weights, known, strict=True):
            array, content_hash = self._weight(wiring, value, old)
            graph.add_weight(value.name or "", array, content_hash)
            hashes.append((value.name or "", content_hash))
        for value in part.outputs:
            graph.add_output(value.name or "", dtype_of(value), *extents_of(value))
        digest = digest_of(text, onnx, hashes, self.options)
        names = [(name, "") for name, _ in hashes]
        # By its name the library finds a weight that has changed.
        is_named = "" not in dict(hashes) and len(dict(hashes)) == len(hashes)
        structure = digest_of(text, onnx, names, self.options) if is_named else ""
        found = tuple(each for _, each in hashes)
        return Source(graph, digest, len(part.nodes), name, structure, found)

    def _read_weights(
        self, wiring: Wiring, values: Sequence[onnx_ir.Value], known: Sequence[str]
    ) -> None:
        """Has the large ones copied and hashed in threads, which takes most of a second start."""
        large = [
            (value, old)
            for value, old in zip(values, known, strict=True)
            if value.const_value is not None
            and value.const_value.nbytes >= _BYTES_OF_THREAD
            and id(value.const_value) not in self._weights
        ]
        if len(large) > 1:
            with ThreadPoolExecutor(min(len(large), os.cpu_count() or 1)) as threads:
                for _ in threads.map(lambda one: self._weight(wiring, *one), large):
                    pass

    def _weight(self, wiring: Wiring, value: onnx_ir.Value, old: str = "") -> tuple[Any, str]:
        # Copies of a graph, one for each shape of its inputs, share the tensors of its weights.
        key = value.const_value if value.const_value is not None else value
        found = self._weights.get(id(key))
        if found is None and old:
            found = self._unchanged.get(id(key))
            found = None if found is None or found[2] != old else found
        if found is not None:
            return found[1:]
        array: Any = wiring.elements(value)
        if not _is_fixed(array):
            if old and _is_plain(array):
                # A copy takes several times as long as the hash.
                digest = str(_content_hash(array, self.hash_key))
                if digest == old:
                    self._unchanged[id(key)] = (key, array, digest)
                    return array, digest
            # A copy, so that what is compiled is what the digest is of.
            with cpu():
                array = np.array(array)
        digest = str(_content_hash(array, self.hash_key))
        self._weights[id(key)] = (key, array, digest)
        return array, digest


def _is_plain(array: Any) -> bool:
    """Whether its memory has the elements as libraries read them."""
    return array.dtype.isbuiltin == 1 and array.dtype.isnative and bool(array.flags.c_contiguous)


def _is_fixed(array: Any) -> bool:
    """Whether nobody can change an array, as one of a file, and libraries can read it as it is."""
    is_aligned = array.ctypes.data % _ALIGNMENT == 0
    return _is_plain(array) and is_aligned and not array.flags.writeable


def _answer_of(row: Sequence[Any]) -> Answer:
    group, why, dtype, cost, group_cost, byte_cost, layout, reason = row
    if group < 0 and not reason:
        reason = WHYS[why] if 0 <= why < len(WHYS) else ""
        reason = reason or "its library gives no reason"
    if group < 0 and dtype:
        reason += f"; it would be with {dtype}"
    if group < 0 and layout:
        reason += f"; it would be in the layout {layout}"
    return Answer(group, reason, cost, group_cost, byte_cost)
