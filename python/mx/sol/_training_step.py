"""`sol.training_step`: the loss, its gradients and the optimizer's step, executed at once."""

from __future__ import annotations

from typing import Any

from ._limited import bytes_of_limit
from .devices import DeviceLike
from .devices import device as _device
from .frameworks import reader_of
from .passes import PASSES


def training_step(
    model: Any,
    loss: Any,
    optimizer: Any,
    *,
    device: DeviceLike = None,
    memory_limit: int | str | None = None,
) -> Any:
    """A function that does a step of training: `value = step(*inputs, target, **kwargs)`.

    It computes `loss(model(*inputs, **kwargs), target)`, a number, and its gradients, has the
    optimizer do its step, and returns the loss. Learning rates and other settings may change from
    step to step. Gradients are not kept.

    `model` is a `torch.nn.Module`, optimized or not, `loss` a function or a module, `optimizer` a
    `torch.optim.Optimizer`. Parameters, buffers and what the optimizer keeps of its own are changed
    in their own memory, so that `state_dict` of both is right at any time. Steps of SGD, Adam,
    AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam and RAdam are part of the plan; for other
    optimizers it gives the gradients, and calls `optimizer.step()`. What the plan cannot have is
    executed by torch: a model or a loss that cannot be exported, models and parameters with hooks,
    models that are wrapped for several processes, gradients of arguments or of parameters outside
    the model. The attribute `fused` of the function tells what the plan of the last call had: of
    "forward", "loss", "backward" and "optimizer".

    Or `model` is a `keras.Model` on TensorFlow or a `tf.Module`, optimized or not, `loss` what
    `compile` of Keras takes, and `optimizer` a `keras.optimizers.Optimizer`. The loss is then that
    of Keras, `loss(target, model(*inputs))`, its mean where it has one for each row, and what
    layers and weights of Keras add to it. A model is called with `training=True`, a module where it
    takes that. Variables are assigned to. Steps of SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta,
    Adamax and Nadam are part of the plan, and what that cannot have is executed by Keras or
    TensorFlow: in a tf.function or a strategy, too, and where the optimizer scales losses.

    A plan is made for each combination of shapes. Before a first call with some, nothing of it
    done, `step.memory(*inputs, target, **kwargs)` tells the memory of that, as `sol.memory` does;
    it is NotImplementedError, with the reason, for a step that the framework would do.

    `memory_limit`, in bytes or as "2GB", is what a step may take by that measure; by default what
    a model that was optimized with a limit has. As far as it asks for it, more is computed again in
    the backward pass, instead of kept. A call is a MemoryError where that does not suffice, with
    the least that does, and NotImplementedError where the framework would do the step, whose memory
    nobody knows; nothing is changed then. What an optimizer takes of which the framework does the
    step is not in it, but for what it keeps.

    Raises TypeError for what is no model or optimizer, for an optimizer whose step needs a closure,
    and where the loss is no number, ValueError for a limit that is none, for the name of no loss
    and for a tf.Module with nothing to train, NotImplementedError for models of other frameworks
    and for a limit on other devices than the CPU.
    """
    reader, context = reader_of(model, "training_step"), _device.find(device)
    limit = None
    if memory_limit is not None:
        limit = bytes_of_limit(memory_limit, "sol.training_step: memory_limit")
        if context.device_type != "cpu":
            raise NotImplementedError("sol.training_step: memory_limit: only on the CPU")
    return reader.training_step(model, loss, optimizer, context, PASSES.enabled, limit)
