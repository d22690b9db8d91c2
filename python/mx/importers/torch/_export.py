"""From a module to a program of ATen operators that rules exist for."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mx.graph import GraphError

from . import _rule
from ._dimensions import NamedDimensions, all_automatic, bound_arguments
from ._recurrent import kept_whole


def export(
    module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic: Any
) -> tuple[Any, NamedDimensions | None]:
    """What torch.export makes of a module in eval mode, and the dimensions that have names."""
    import torch
    from torch.utils import _pytree as pytree

    arguments = bound_arguments(module, args, kwargs)
    names, shapes = None, None
    if dynamic in (True, "auto"):
        shapes = all_automatic(arguments)
    elif isinstance(dynamic, Mapping):
        names = NamedDimensions(arguments, dynamic)
        shapes = names.shapes
        grown = names.grown({"args": tuple(args), "kwargs": dict(kwargs)})
        args, kwargs = grown["args"], grown["kwargs"]
    elif dynamic not in (None, False):
        raise TypeError(
            "mx.importers.torch.load: dynamic: expected None, True, 'auto' or a mapping of"
            f" arguments to names of axes, got {dynamic!r}"
        )
    # torch takes one tensor that is two arguments of the example for one argument.
    args, kwargs = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, (tuple(args), kwargs))
    with _for_inference(module), kept_whole(), torch.no_grad():
        program = torch.export.export(
            module, args, dict(kwargs), dynamic_shapes=shapes, strict=False
        )
    return program, names


@contextlib.contextmanager
def _for_inference(module: Any) -> Iterator[None]:
    """The module in eval mode, and attention as separate operators."""
    import torch

    training = [one for one in module.modules() if one.training]
    fast = torch.backends.mha.get_fastpath_enabled()
    module.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with warnings.catch_warnings():
            # What torch says of its own inner workings.
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for one in training:
            one.training = True


def decomposed(program: Any) -> Any:
    """The program with all operators decomposed that have no rule."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = torch.export.default_decompositions()
        for operator in list(table):
            if _rule.has_rule(operator):
                table.pop(operator)
        # With an example torch checks the inputs while it decomposes, where some are missing.
        example = program.example_inputs
        program.example_inputs = None
        try:
            return program.run_decompositions(table)
        except Exception as error:
            raise GraphError(f"torch cannot decompose the program: {error}") from error
        finally:
            program.example_inputs = example
