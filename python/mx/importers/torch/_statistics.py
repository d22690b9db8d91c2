"""Running statistics of normalizations while torch exports.

`torch.instance_norm` changes them without saying so in its schema, and a batch norm without a
momentum makes a number of Python of how many batches it has seen: an export would lose the first
and cannot follow the second. What is here computes the same of operators that it follows.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any


def _update(
    x: Any, axes: Sequence[int], statistics: Sequence[Any], factor: Any, mean_of_batch: bool
) -> None:
    """Moves the running mean and variance, either of which may be None, towards those of x."""
    import torch

    variance, mean = torch.var_mean(x.detach(), axes, correction=1)
    for running, new in zip(statistics, (mean, variance), strict=True):
        if running is not None:
            new = (new.mean(0) if mean_of_batch else new).to(running.dtype)
            running.copy_(running * (1 - factor) + new * factor)


@contextlib.contextmanager
def statistics_followed() -> Iterator[None]:
    """Has normalizations that this thread calls change their statistics by operators."""
    import torch
    from torch.nn import functional
    from torch.nn.modules.batchnorm import _BatchNorm

    exporting = threading.get_ident()
    of_instances, of_batches = torch.instance_norm, _BatchNorm.forward

    def instance_norm(x: Any, weight: Any, bias: Any, mean: Any, variance: Any, own: bool,
                      momentum: float, eps: float, cudnn: bool) -> Any:  # fmt: skip
        kept = not own or (mean is None and variance is None)
        if kept or threading.get_ident() != exporting:
            return of_instances(x, weight, bias, mean, variance, own, momentum, eps, cudnn)
        result = of_instances(x, weight, bias, None, None, True, momentum, eps, cudnn)
        _update(x, list(range(2, x.ndim)), (mean, variance), momentum, mean_of_batch=True)
        return result

    def forward(self: Any, x: Any) -> Any:
        counts = self.training and self.track_running_stats and self.momentum is None
        count = self.num_batches_tracked if counts else None
        if count is None or threading.get_ident() != exporting:
            return of_batches(self, x)
        self._check_input_dim(x)
        count.add_(1)
        result = functional.batch_norm(x, None, None, self.weight, self.bias, True, 0.0, self.eps)
        axes = [axis for axis in range(x.ndim) if axis != 1]
        _update(x, axes, (self.running_mean, self.running_var), 1 / count, mean_of_batch=False)
        return result

    torch.instance_norm, _BatchNorm.forward = instance_norm, forward
    try:
        yield
    finally:
        torch.instance_norm, _BatchNorm.forward = of_instances, of_batches
