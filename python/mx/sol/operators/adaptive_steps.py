"""Steps of optimizers that scale elements by what their gradients were, by torch.optim's formulas,
and by those of Keras: numbers of `settings` are what only one of the two has, and 0 or 1 for the
other.

`settings` are float64 numbers, which are rounded to the type of the parameter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ._describe import Array, operator
from ._inference import Call, Infer, Spec


def _renewed(states: int) -> Infer:
    """The parameter and so many states, of which the last may be missing."""

    def infer(call: Call) -> Sequence[Spec]:
        given = [call.inputs[3 + index] for index in range(states)]
        return [call.spec(0), *(call.spec(0) if one is None else one for one in given)]

    return infer


def _begin(
    w: Array, g: Array, settings: Array, decay: int, kept: int, maximize: int
) -> tuple[list[Array], Array, Array]:
    """The numbers of the parameter's type; the parameter, and the gradient with weight decay, where
    these stand among the numbers."""
    n = list(settings.astype(w.dtype))
    w = w * n[kept]
    return n, w, (-g if maximize else g) + n[decay] * w


@operator("RMSpropStep", "new_w new_square new_second new_third", _renewed(3))
def rmsprop_step(
    w: Array,
    g: Array,
    settings: Array,
    square: Array,
    second: Array | None = None,
    third: Array | None = None,
    *,
    centered: int = 0,
    maximize: int = 0,
) -> tuple[Array, ...]:
    """RMSprop: a parameter `w` and its states after a step along `g`.

    settings = (learning rate, alpha, 1 - alpha, epsilon, weight decay, momentum, epsilon under the
    root, learning rate in the velocity, what the parameter is multiplied by). The states are the
    mean of squares, the mean of gradients where `centered`, and, with a momentum, the velocity.
    """
    n, w, g = _begin(w, g, settings, 4, 8, maximize)
    states = [n[1] * square + n[2] * g * g]
    spread = states[0]
    velocity = second
    if centered:
        assert second is not None
        states.append(second + n[2] * (g - second))
        spread = spread - states[1] * states[1]
        velocity = third
    step = n[7] * g / (numpy.sqrt(spread + n[6]) + n[3])
    if velocity is not None:
        step = n[5] * velocity + step
        states.append(step)
    return (w - n[0] * step, *states)


@operator("AdagradStep", "new_w new_sum", _renewed(1))
def adagrad_step(
    w: Array, g: Array, settings: Array, sum: Array, *, maximize: int = 0
) -> tuple[Array, ...]:
    """Adagrad: a parameter `w` and the sum of squares after a step along `g`.

    settings = (learning rate, decayed; epsilon, weight decay, epsilon under the root, what the
    parameter is multiplied by).
    """
    n, w, g = _begin(w, g, settings, 2, 4, maximize)
    new_sum = sum + g * g
    return w - n[0] * g / (numpy.sqrt(new_sum + n[3]) + n[1]), new_sum


@operator("AdadeltaStep", "new_w new_square new_delta", _renewed(2))
def adadelta_step(
    w: Array, g: Array, settings: Array, square: Array, delta: Array, *, maximize: int = 0
) -> tuple[Array, ...]:
    """Adadelta: a parameter `w`, the means of squares of its gradient and of its steps.

    settings = (learning rate, rho, 1 - rho, epsilon, weight decay, what the parameter is multiplied
    by).
    """
    n, w, g = _begin(w, g, settings, 4, 5, maximize)
    new_square = n[1] * square + n[2] * g * g
    step = numpy.sqrt(delta + n[3]) / numpy.sqrt(new_square + n[3]) * g
    return w - n[0] * step, new_square, n[1] * delta + n[2] * step * step


@operator("AdamaxStep", "new_w new_mean new_most", _renewed(2))
def adamax_step(
    w: Array, g: Array, settings: Array, mean: Array, most: Array, *, maximize: int = 0
) -> tuple[Array, ...]:
    """Adamax: a parameter `w`, the mean of its gradient, and the largest one, which decays.

    settings = (learning rate / (1 - beta1 ** t), 1 - beta1, beta2, epsilon, weight decay, epsilon
    that is not kept, what the parameter is multiplied by), where t is the number of the step, from
    1 on.
    """
    n, w, g = _begin(w, g, settings, 4, 6, maximize)
    new_mean = mean + n[1] * (g - mean)
    new_most = numpy.maximum(n[2] * most, numpy.abs(g) + n[3])
    return w - n[0] * new_mean / (new_most + n[5]), new_mean, new_most


@operator("NAdamStep", "new_w new_mean new_square", _renewed(2))
def nadam_step(
    w: Array, g: Array, settings: Array, mean: Array, square: Array, *, maximize: int = 0
) -> tuple[Array, ...]:
    """NAdam: a parameter `w` and the moments of its gradient after a step along `g`.

    settings = (rate of the gradient, rate of its mean, 1 - beta1, beta2, 1 - beta2, epsilon, what
    the parameter is multiplied by, weight decay, 1 - beta2 ** t), where t is the number of the
    step, from 1 on.
    """
    n, w, g = _begin(w, g, settings, 7, 6, maximize)
    new_mean = mean + n[2] * (g - mean)
    new_square = n[3] * square + n[4] * g * g
    spread = numpy.sqrt(new_square / n[8]) + n[5]
    return w - n[0] * g / spread - n[1] * new_mean / spread, new_mean, new_square


@operator("RAdamStep", "new_w new_mean new_square", _renewed(2))
def radam_step(
    w: Array, g: Array, settings: Array, mean: Array, square: Array, *, maximize: int = 0
) -> tuple[Array, ...]:
    """RAdam: a parameter `w` and the moments of its gradient after a step along `g`.

    settings = (learning rate / (1 - beta1 ** t), 1 - beta1, beta2, 1 - beta2, epsilon, what the
    parameter is multiplied by, weight decay, what is divided by the root of the square), where t is
    the number of the step, from 1 on. The last one is 0 in the first steps, which scale nothing.
    """
    n, w, g = _begin(w, g, settings, 6, 5, maximize)
    new_mean = mean + n[1] * (g - mean)
    new_square = n[2] * square + n[3] * g * g
    scale = n[7] / (numpy.sqrt(new_square) + n[4]) if n[7] else w.dtype.type(1)
    return w - n[0] * new_mean * scale, new_mean, new_square
