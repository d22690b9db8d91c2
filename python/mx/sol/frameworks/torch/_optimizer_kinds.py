"""The table of torch's optimizers: what each keeps, and the numbers that its step takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

Group = Mapping[str, Any]
Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Kind:
    """A class of optimizers."""

    operator: str
    num_settings: int
    # The settings of a group for its next step, of the numbers in the state of a parameter; "begun"
    # is 0 before it has a state.
    settings: Callable[[Group, Numbers], list[float]]
    # What it keeps of the shape of a parameter, by the names that these have in `optimizer.state`.
    state: Callable[[Group], tuple[str, ...]]
    attributes: Callable[[Group], dict[str, int]]
    # Numbers that it keeps for a parameter, with what they are before the first step.
    numbers: Numbers = field(default_factory=lambda: {"step": 0.0})
    # What changes others of these than "step" after that has been counted.
    advance: Callable[[Group, Sequence[dict[str, Any]]], None] | None = None
    begins: str = ""  # the default of the optimizer that states begin with, if that is not 0


def _betas(group: Group) -> tuple[float, float]:
    beta1, beta2 = group["betas"]
    return float(beta1), float(beta2)


def _sgd(group: Group, of: Numbers) -> list[float]:
    # The first gradient is the velocity as a whole.
    share = 1 - float(group["dampening"]) if of["begun"] else 1.0
    numbers = [float(group["lr"]), float(group["momentum"]), float(group["weight_decay"])]
    return [*numbers, share, 1.0, 1.0]


def _adam(group: Group, of: Numbers) -> list[float]:
    t, (beta1, beta2) = of["step"] + 1, _betas(group)
    numbers = [float(group["lr"]), beta1, beta2, group["eps"], group["weight_decay"]]
    return [*numbers, 1 - beta1**t, math.sqrt(1 - beta2**t)]


def _rmsprop(group: Group, of: Numbers) -> list[float]:
    alpha = float(group["alpha"])
    numbers = [float(group["lr"]), alpha, 1 - alpha, group["eps"], group["weight_decay"]]
    return [*numbers, group["momentum"], 0.0, 1.0, 1.0]


def _adagrad(group: Group, of: Numbers) -> list[float]:
    rate = float(group["lr"]) / (1 + of["step"] * group["lr_decay"])
    return [rate, group["eps"], group["weight_decay"], 0.0, 1.0]


def _adadelta(group: Group, of: Numbers) -> list[float]:
    rho = float(group["rho"])
    return [float(group["lr"]), rho, 1 - rho, group["eps"], group["weight_decay"], 1.0]


def _adamax(group: Group, of: Numbers) -> list[float]:
    beta1, beta2 = _betas(group)
    rate = float(group["lr"]) / (1 - beta1 ** (of["step"] + 1))
    return [rate, 1 - beta1, beta2, group["eps"], group["weight_decay"], 0.0, 1.0]


def _decay(group: Group) -> tuple[float, float]:
    """What a parameter is multiplied by, and what of it is added to the gradient."""
    decay = float(group["weight_decay"])
    if group["decoupled_weight_decay"]:
        return 1 - float(group["lr"]) * decay, 0.0
    return 1.0, decay


def _mu(group: Group, t: float) -> float:
    power: float = 0.96 ** (t * group["momentum_decay"])
    return _betas(group)[0] * (1 - 0.5 * power)


def _nadam(group: Group, of: Numbers) -> list[float]:
    t, rate, (beta1, beta2) = of["step"] + 1, float(group["lr"]), _betas(group)
    mu, following = _mu(group, t), _mu(group, t + 1)
    # Rounded as torch does, which keeps it as a tensor.
    product = float(torch.tensor(of["mu_product"]) * mu)
    rates = [rate * (1 - mu) / (1 - product), rate * following / (1 - product * following)]
    numbers = [1 - beta1, beta2, 1 - beta2, group["eps"], *_decay(group), 1 - beta2**t]
    return [*rates, *numbers]


def _multiply_mu(group: Group, states: Sequence[dict[str, Any]]) -> None:
    for state in states:
        state["mu_product"] *= _mu(group, float(state["step"]))


def _radam(group: Group, of: Numbers) -> list[float]:
    t, (beta1, beta2) = of["step"] + 1, _betas(group)
    rate, bias2 = float(group["lr"]) / (1 - beta1**t), 1 - beta2**t
    most = 2 / (1 - beta2) - 1
    length = most - 2 * t * beta2**t / bias2
    scale = 0.0
    if length > 5:
        share = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
        scale = math.sqrt(share) * math.sqrt(bias2)
    return [rate, 1 - beta1, beta2, 1 - beta2, group["eps"], *_decay(group), scale]


def _velocity(group: Group) -> tuple[str, ...]:
    return ("momentum_buffer",) if group["momentum"] else ()


def _of_rmsprop(group: Group) -> tuple[str, ...]:
    # torch's has no velocity for a negative momentum.
    velocity = ("momentum_buffer",) if group["momentum"] > 0 else ()
    return ("square_avg", *(("grad_avg",) if group["centered"] else ()), *velocity)


def _states(*names: str) -> Callable[[Group], tuple[str, ...]]:
    return lambda group: names


def _flags(*names: str) -> Callable[[Group], dict[str, int]]:
    return lambda group: {name: int(group[name]) for name in (*names, "maximize")}


def _of_adam(group: Group) -> dict[str, int]:
    decoupled = int(group.get("decoupled_weight_decay", False))
    return {"decoupled": decoupled, "maximize": int(group["maximize"])}


def _moments_of_adam(group: Group) -> tuple[str, ...]:
    return (*_moments(group), *(("max_exp_avg_sq",) if group["amsgrad"] else ()))


_moments = _states("exp_avg", "exp_avg_sq")
_ADAM = Kind("AdamStep", 7, _adam, _moments_of_adam, _of_adam)
KINDS = {
    torch.optim.SGD: Kind("SGDStep", 6, _sgd, _velocity, _flags("nesterov"), {}),
    torch.optim.Adam: _ADAM,
    torch.optim.AdamW: _ADAM,
    torch.optim.RMSprop: Kind("RMSpropStep", 9, _rmsprop, _of_rmsprop, _flags("centered")),
    torch.optim.Adagrad: Kind(
        "AdagradStep", 5, _adagrad, _states("sum"), _flags(), begins="initial_accumulator_value"
    ),
    torch.optim.Adadelta: Kind(
        "AdadeltaStep", 6, _adadelta, _states("square_avg", "acc_delta"), _flags()
    ),
    torch.optim.Adamax: Kind("AdamaxStep", 7, _adamax, _states("exp_avg", "exp_inf"), _flags()),
    torch.optim.NAdam: Kind(
        "NAdamStep", 9, _nadam, _moments, _flags(), {"step": 0.0, "mu_product": 1.0}, _multiply_mu
    ),
    torch.optim.RAdam: Kind("RAdamStep", 8, _radam, _moments, _flags()),
}
