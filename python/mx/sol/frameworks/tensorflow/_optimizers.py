"""Optimizers of Keras whose steps can be nodes of a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy

from ....importers.tensorflow._trace import variable_of
from ..._step import Update

# Whatever of an optimizer's settings has a value leaves its step to Keras.
_UNSET = ("clipnorm", "global_clipnorm", "clipvalue", "use_ema", "gradient_accumulation_steps")


class Optimizer:
    """An optimizer of Keras, of which a graph does the step."""

    operator: str
    num_settings: int
    attributes: Mapping[str, int] = {"maximize": 0}

    def __init__(self, optimizer: Any) -> None:
        self._own = optimizer

    def kept(self) -> Mapping[str, Sequence[Any]]:
        """What it keeps of the shapes of variables: lists of variables, by a name for each."""
        raise NotImplementedError

    def numbers(self, rate: float, decay: float) -> list[float]:
        """The settings of the step that comes now, for variables of which so much decays."""
        raise NotImplementedError

    def signature(self) -> tuple[Any, ...]:
        """What its nodes depend on."""
        decays = tuple(map(self._decays, self._own._trainable_variables))
        return type(self).__name__, tuple(self.kept()), tuple(self.attributes.items()), decays

    def updates(self, wanted: Mapping[str, Any]) -> dict[str, Update]:
        """The nodes for variables, by the names of those."""
        return {
            name: Update(
                self.operator,
                f"settings.{self._decays(variable):d}",
                self.num_settings,
                tuple(f"{name}.{one}" for one in self.kept()),
                self.attributes,
            )
            for name, variable in wanted.items()
        }

    def states(self, variable: Any) -> list[Any]:
        """What it keeps for a variable, in the order of `kept`."""
        index = self._own._get_variable_index(variable)
        return [every[index] for every in self.kept().values()]

    def settings(self, variables: Sequence[Any]) -> list[Any]:
        """The numbers for the step that comes now, in the order of the inputs of a graph."""
        rate = float(self._own.learning_rate)
        decay = float(self._own.weight_decay or 0.0)
        groups = dict.fromkeys(map(self._decays, variables))
        return [numpy.array(self.numbers(rate, decay if one else 0.0)) for one in groups]

    def _decays(self, variable: Any) -> bool:
        if not self._own.weight_decay:
            return False
        # By the name that Keras looks for, which is that of TensorFlow's variable.
        return bool(self._own._use_weight_decay(variable_of(variable)))

    def note_step(self) -> None:
        """Counts a step that was done."""
        self._own.iterations.assign_add(1)


class _SGD(Optimizer):
    operator, num_settings = "SGDStep", 6

    def __init__(self, optimizer: Any) -> None:
        super().__init__(optimizer)
        nests = bool(optimizer.momentum and optimizer.nesterov)
        self.attributes = {"nesterov": int(nests), "maximize": 0}

    def kept(self) -> Mapping[str, Sequence[Any]]:
        return {"momentum": self._own.momentums} if self._own.momentum else {}

    def numbers(self, rate: float, decay: float) -> list[float]:
        # The operator has the learning rate outside of what is kept, as torch; Keras has it inside:
        # m = momentum m - rate g, w = w + m.
        return [-1.0, float(self._own.momentum), 0.0, 1.0, -rate, 1 - rate * decay]


class _Adam(Optimizer):
    operator, num_settings, attributes = "AdamStep", 7, {"decoupled": 1, "maximize": 0}

    def kept(self) -> Mapping[str, Sequence[Any]]:
        own = self._own
        found = {"momentum": own._momentums, "velocity": own._velocities}
        return {**found, "most": own._velocity_hats} if own.amsgrad else found

    def numbers(self, rate: float, decay: float) -> list[float]:
        own = self._own
        t, beta1, beta2 = int(own.iterations) + 1, float(own.beta_1), float(own.beta_2)
        bias = math.sqrt(1 - beta2**t)
        # The operator divides the root of the velocity by the bias before it adds epsilon, as
        # torch; Keras adds it as it is.
        return [rate, beta1, beta2, own.epsilon / bias, decay, 1 - beta1**t, bias]


class _Nadam(Optimizer):
    operator, num_settings = "NAdamStep", 9

    def kept(self) -> Mapping[str, Sequence[Any]]:
        return {"momentum": self._own._momentums, "velocity": self._own._velocities}

    def _momentum(self, t: int) -> float:
        return float(self._own.beta_1) * (1 - 0.5 * 0.96**t)

    def _product(self) -> float:
        """Of the momentums of all steps, the one that comes now among them."""
        return float(self._own._u_product) * self._momentum(int(self._own.iterations) + 1)

    def numbers(self, rate: float, decay: float) -> list[float]:
        own, t, product = self._own, int(self._own.iterations) + 1, self._product()
        now, following = self._momentum(t), self._momentum(t + 1)
        beta1, beta2 = float(own.beta_1), float(own.beta_2)
        rates = [rate * (1 - now) / (1 - product), rate * following / (1 - product * following)]
        kept = 1 - rate * decay
        return [*rates, 1 - beta1, beta2, 1 - beta2, own.epsilon, kept, 0.0, 1 - beta2**t]

    def note_step(self) -> None:
        self._own._u_product.assign(self._product())
        super().note_step()


class _Adadelta(Optimizer):
    operator, num_settings = "AdadeltaStep", 6

    def kept(self) -> Mapping[str, Sequence[Any]]:
        own = self._own
        return {"square": own._accumulated_grads, "delta": own._accumulated_delta_vars}

    def numbers(self, rate: float, decay: float) -> list[float]:
        rho = float(self._own.rho)
        return [rate, rho, 1 - rho, self._own.epsilon, 0.0, 1 - rate * decay]


class _RMSprop(Optimizer):
    operator, num_settings = "RMSpropStep", 9

    def __init__(self, optimizer: Any) -> None:
        super().__init__(optimizer)
        self.attributes = {"centered": int(bool(optimizer.centered)), "maximize": 0}

    def kept(self) -> Mapping[str, Sequence[Any]]:
        own = self._own
        found = {"square": own._velocities}
        if own.centered:
            found["mean"] = own._average_gradients
        return {**found, "velocity": own._momentums} if own.momentum > 0 else found

    def numbers(self, rate: float, decay: float) -> list[float]:
        own, rho = self._own, float(self._own.rho)
        numbers = [1.0, rho, 1 - rho, 0.0, 0.0, float(own.momentum)]
        return [*numbers, own.epsilon, rate, 1 - rate * decay]


class _Adagrad(Optimizer):
    operator, num_settings = "AdagradStep", 5

    def kept(self) -> Mapping[str, Sequence[Any]]:
        return {"sum": self._own._accumulators}

    def numbers(self, rate: float, decay: float) -> list[float]:
        return [rate, 0.0, 0.0, self._own.epsilon, 1 - rate * decay]


class _Adamax(Optimizer):
    operator, num_settings = "AdamaxStep", 7

    def kept(self) -> Mapping[str, Sequence[Any]]:
        return {"mean": self._own._m, "most": self._own._u}

    def numbers(self, rate: float, decay: float) -> list[float]:
        own, t = self._own, int(self._own.iterations) + 1
        beta1, beta2 = float(own.beta_1), float(own.beta_2)
        scaled, kept = rate / (1 - beta1**t), 1 - rate * decay
        return [scaled, 1 - beta1, beta2, 0.0, 0.0, own.epsilon, kept]


_KINDS: dict[type, Callable[[Any], Optimizer]] = {
    keras.optimizers.SGD: _SGD,
    keras.optimizers.Adam: _Adam,
    keras.optimizers.AdamW: _Adam,
    keras.optimizers.Nadam: _Nadam,
    keras.optimizers.Adadelta: _Adadelta,
    keras.optimizers.RMSprop: _RMSprop,
    keras.optimizers.Adagrad: _Adagrad,
    keras.optimizers.Adamax: _Adamax,
}


def _is_special(variable: Any) -> bool:
    """Whether Keras does something else with a variable than its step, or after it."""
    return variable.constraint is not None or getattr(variable, "overwrite_with_gradient", False)


def optimizer_of(optimizer: Any, variables: Sequence[Any]) -> Optimizer | None:
    """The optimizer for these variables of Keras, which it is built for if it is not yet; None
    where Keras has to do its step."""
    kind = _KINDS.get(type(optimizer))
    if kind is None or any(getattr(optimizer, name, None) for name in _UNSET):
        return None
    betas = [getattr(optimizer, name, 0.0) for name in ("beta_1", "beta_2")]
    if not all(0 <= one < 1 for one in betas):
        return None
    if any(map(_is_special, variables)):
        return None
    if not optimizer.built:
        optimizer.build(variables)
    try:
        optimizer._check_variables_are_known(variables)
    except ValueError:
        return None  # which its own step tells
    return kind(optimizer)
