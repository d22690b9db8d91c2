"""Steps of optimizers that kernels of `adaptive_steps.cc` compute, of float32."""

from __future__ import annotations

from collections.abc import Callable

from .._lowering import Lowering
from .._value import Value
from ._backend import rule
from ._training import DOMAIN, add_step, check_float, maker


@rule(f"{DOMAIN}::RMSpropStep")
def _rmsprop_step(
    to: Lowering,
    w: Value,
    g: Value,
    settings: Value,
    square: Value,
    second: Value | None = None,
    third: Value | None = None,
    *,
    centered: int = 0,
    maximize: int = 0,
) -> list[Value]:
    check_float(w, g, square, second, third)
    has_velocity = (third if centered else second) is not None
    kernel = maker("rmsprop_step")(w.shape, bool(maximize), bool(centered), has_velocity)
    return add_step(to, kernel, w, g, settings, square, second, third)


def _step(name: str) -> Callable[..., list[Value]]:
    def lower(
        to: Lowering, w: Value, g: Value, settings: Value, *states: Value, maximize: int = 0
    ) -> list[Value]:
        check_float(w, g, *states)
        return add_step(to, maker(name)(w.shape, bool(maximize)), w, g, settings, *states)

    return lower


for _optimizer in ("Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam"):
    rule(f"{DOMAIN}::{_optimizer}Step")(_step(f"{_optimizer.lower()}_step"))
