"""`sol.training_step`: the loss, its gradients and the optimizer's step, executed at once."""

from __future__ import annotations

from typing import Any

from .devices import DeviceLike
from .devices import device as _device
from .frameworks import reader_of
from .passes import PASSES


def training_step(model: Any, loss: Any, optimizer: Any, *, device: DeviceLike = None) -> Any:
    """A function that does a step of training: `value = step(*inputs, target, **kwargs)`.

    It computes `loss(model(*inputs, **kwargs), target)`, a number, and its gradients, has the
    optimizer do its step, and returns the loss. Parameters, buffers and what the optimizer keeps of
    its own are changed in their own memory, so that `state_dict` of both is right at any time;
    learning rates and other settings may change from step to step. Gradients are not kept.

    `model` is a `torch.nn.Module`, optimized or not, `loss` a function or a module, `optimizer` a
    `torch.optim.Optimizer`. Steps of SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam
    and RAdam are part of the plan; for other optimizers it gives the gradients, and calls
    `optimizer.step()`. What the plan cannot have is executed by torch: a model or a loss that
    cannot be exported, models and parameters with hooks, models that are wrapped for several
    processes, gradients of arguments or of parameters outside the model.
    The attribute `fused` of the function tells what the plan of the last
    call had: of "forward", "loss", "backward" and "optimizer".

    A plan is made for each combination of shapes. Raises TypeError for what is no model or
    optimizer, for an optimizer whose step needs a closure, and where the loss is no number.
    """
    return reader_of(model, "training_step").training_step(
        model, loss, optimizer, _device.find(device), PASSES.enabled
    )
