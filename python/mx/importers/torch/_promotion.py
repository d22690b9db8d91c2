"""Data types of operands that differ, promoted as torch does."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

from ._builder import Builder, Number, dtype_of
from ._dtypes import type_of

Operand = ir.Value | Number


def _of_torch(operand: Operand) -> Any:
    return operand.meta["torch"] if isinstance(operand, ir.Value) else operand


def common_type(*operands: Operand) -> ir.DataType:
    """The data type that torch computes such operands in."""
    import torch
    from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KIND
    from torch._prims_common import elementwise_dtypes

    known = [_of_torch(one) for one in operands]
    if not any(isinstance(one, torch.Tensor) for one in known):
        kinds = {_number_type(one) for one in known}
        order = (ir.DataType.DOUBLE, ir.DataType.INT64, ir.DataType.BOOL)
        return next(kind for kind in order if kind in kinds)
    return type_of(elementwise_dtypes(*known, type_promotion_kind=KIND.DEFAULT)[1])


def _number_type(number: Any) -> ir.DataType:
    import torch

    if isinstance(number, (bool, torch.SymBool)):
        return ir.DataType.BOOL
    if isinstance(number, (int, torch.SymInt)):
        return ir.DataType.INT64
    return ir.DataType.DOUBLE


def promoted(b: Builder, *operands: Operand, dtype: ir.DataType | None = None) -> list[ir.Value]:
    """The operands in one data type: that given, or the one that torch computes them in."""
    wanted = common_type(*operands) if dtype is None else dtype
    return [b.cast(one, wanted) for one in operands]


def is_bool(*operands: Operand) -> bool:
    """Whether all operands are truth values."""
    return common_type(*operands) == ir.DataType.BOOL


def in_type_of(
    b: Builder, write: Any, allowed: frozenset[ir.DataType], wide: ir.DataType, *xs: ir.Value
) -> ir.Value:
    """What `write` gives for values in a type that the ONNX operator takes, in their own type."""
    own = dtype_of(xs[0])
    if own in allowed:
        result: ir.Value = write(*xs)
        return result
    return b.cast(write(*(b.cast(x, wide) for x in xs)), own)
