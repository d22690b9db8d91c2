"""Steps of optimizers, by the formulas of torch.optim.

`settings` are float64 numbers, so that a learning rate can be another one at each step without
another graph.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ._describe import Array, operator
from ._inference import Call, Spec


def _sgd(call: Call) -> Sequence[Spec]:
    return [call.spec(0), call.spec(0)]


@operator("SGDStep", "new_w new_velocity", _sgd)
def sgd_step(
    w: Array,
    g: Array,
    settings: Array,
    velocity: Array | None = None,
    *,
    nesterov: int = 0,
    maximize: int = 0,
) -> tuple[Array, ...]:
    """Stochastic gradient descent: a parameter `w` and its velocity after a step along `g`.

    settings = (learning rate, momentum, weight decay, 1 - dampening, what the gradient is
    multiplied by, what the parameter is multiplied by before all else). Without a velocity momentum
    is 0, and new_velocity is the direction of the step.
    """
    rate, momentum, decay, share, scale, kept = (w.dtype.type(item) for item in settings)
    w = w * kept
    direction = scale * (-g if maximize else g) + decay * w
    new = direction if velocity is None else momentum * velocity + share * direction
    taken = direction + momentum * new if nesterov else new
    return w - rate * taken, new


@operator("SGDProductStep", "new_w new_velocity", _sgd)
def sgd_product_step(
    w: Array,
    a: Array,
    b: Array,
    settings: Array,
    velocity: Array | None = None,
    *,
    nesterov: int = 0,
    maximize: int = 0,
) -> tuple[Array, ...]:
    """SGDStep along the gradient a^T b, a product of two matrices.

    Where they have few rows, as for small batches, the product is not written to memory.
    """
    gradient = (a.T @ b).astype(w.dtype)
    made: tuple[Array, ...] = sgd_step(
        w, gradient, settings, velocity, nesterov=nesterov, maximize=maximize
    )
    return made


def _adam(call: Call) -> Sequence[Spec]:
    most = call.spec(0) if len(call.inputs) < 6 or call.inputs[5] is None else call.spec(5)
    return [call.spec(0), call.spec(3), call.spec(4), most]


@operator("AdamStep", "new_w new_mean new_square new_most", _adam)
def adam_step(
    w: Array,
    g: Array,
    settings: Array,
    mean: Array,
    square: Array,
    most: Array | None = None,
    *,
    decoupled: int = 0,
    maximize: int = 0,
) -> tuple[Array, ...]:
    """Adam: a parameter `w` and the moments of its gradient after a step along `g`.

    settings = (learning rate, beta1, beta2, epsilon, weight decay, 1 - beta1 ** t,
    sqrt(1 - beta2 ** t)), where t is the number of the step, from 1 on. With `decoupled` the weight
    decay is that of AdamW; with `most`, the largest mean of squares there was, the step is that of
    AMSGrad.
    """
    rate, beta1, beta2, epsilon, decay, bias1, bias2 = (float(item) for item in settings)
    number = w.dtype.type
    given = -g if maximize else g
    if decoupled:
        w = w * number(1 - rate * decay)
    else:
        given = given + number(decay) * w
    new_mean = mean + number(1 - beta1) * (given - mean)
    new_square = number(beta2) * square + number(1 - beta2) * given * given
    states = [new_mean, new_square]
    if most is not None:
        states.append(numpy.maximum(most, new_square))
    spread = numpy.sqrt(states[-1]) / number(bias2) + number(epsilon)
    return (w - number(rate / bias1) * new_mean / spread, *states)
