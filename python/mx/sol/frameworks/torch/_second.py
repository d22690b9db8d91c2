"""Second gradients, which plans do not have: an error wherever they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch


class _First(torch.autograd.Function):  # type: ignore[misc]
    """First gradients as what was computed of all that they depend on.

    A path through them has to exist: without one torch takes a second gradient for zero.
    """

    @staticmethod
    def forward(ctx: Any, name: str, grads: Sequence[Any], *sources: Any) -> tuple[Any, ...]:
        """The gradients as they are."""
        ctx.name = name
        return tuple(grads)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """RuntimeError."""
        raise RuntimeError(
            f"{ctx.name}: an optimized model has no second gradients: differentiate the original"
        )


class _Link(torch.autograd.Function):  # type: ignore[misc]
    """A tensor without elements that autograd has computed of another one, and does not keep."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.new_empty(0)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None


link = _Link.apply


def without_second(name: str, grads: Sequence[Any], sources: Iterable[Any]) -> list[Any]:
    """Gradients that raise where gradients of themselves are asked for.

    `sources` are what they depend on, None and tensors without gradients among it.
    """
    known = [grad for grad in grads if grad is not None]
    parts = [one for one in sources if one is not None and one.requires_grad]
    if not known or not parts:
        return list(grads)
    found = iter(_First.apply(name, known, *parts))
    return [None if grad is None else next(found) for grad in grads]
