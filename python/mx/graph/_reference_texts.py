"""Operators of texts and of sequences, for which onnx's reference implementations fail, or give
something else than ONNX describes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy
from onnx.reference.op_run import OpRun

Array: TypeAlias = numpy.ndarray[Any, Any]


class SequenceInsert(OpRun):
    """A sequence with one more item, at a position or at the end."""

    op_domain = ""

    def _run(self, items: Any, item: Array, position: Any = None) -> tuple[list[Any]]:
        made = list(items)
        made.insert(len(made) if position is None else int(numpy.asarray(position).item()), item)
        return (made,)


class StringConcat(OpRun):
    """Texts with others behind them."""

    op_domain = ""

    def _run(self, x: Array, y: Array) -> tuple[Array]:
        made = numpy.add(numpy.asarray(x, object), numpy.asarray(y, object))
        return (numpy.asarray(made, object),)


_CASES: dict[str, Callable[[str], str]] = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}


class StringNormalizer(OpRun):
    """Texts without some words, all in upper or in lower case. One empty text stands for none."""

    op_domain = ""

    def _run(
        self,
        x: Array,
        case_change_action: str = "NONE",
        is_case_sensitive: int = 0,
        locale: str | None = None,
        stopwords: Sequence[str] | None = None,
    ) -> tuple[Array]:
        if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[0] != 1):
            raise ValueError(f"input 'X': expected shape (any,) or (1, any), got {x.shape}")
        same: Callable[[str], str] = str if is_case_sensitive else str.lower
        left_out = {same(word) for word in stopwords or ()}
        change = _CASES[case_change_action]
        kept = [change(str(one)) for one in x.reshape(-1) if same(str(one)) not in left_out]
        made = numpy.array(kept or [""], object)
        return (made.reshape(1, -1) if x.ndim == 2 else made,)


class StringSplit(OpRun):
    """The parts of texts, and how many there are of each."""

    op_domain = ""

    def _run(
        self, x: Array, delimiter: str | None = None, maxsplit: int | None = None
    ) -> tuple[Array, Array]:
        most = -1 if maxsplit is None else maxsplit
        parts = [str(one).split(delimiter or None, most) for one in numpy.asarray(x).reshape(-1)]
        counts = numpy.array([len(one) for one in parts], "int64").reshape(x.shape)
        width = int(counts.max(initial=0))
        made = numpy.full((len(parts), width), "", object)
        for row, one in zip(made, parts, strict=True):
            row[: len(one)] = one
        return made.reshape(*x.shape, width), counts


OPERATORS = [SequenceInsert, StringConcat, StringNormalizer, StringSplit]
