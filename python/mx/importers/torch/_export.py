"""From a module to a program of ATen operators that rules exist for."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mx._deferred import try_without
from mx.graph import GraphError

from . import _rule
from ._dimensions import NamedDimensions, all_automatic, bound_arguments
from ._exporting import exporting
from ._recurrent import kept_whole
from ._statistics import statistics_followed
from ._training import detach_without_gradients

_PARTITIONS = ("graph_info_provider", "knapsack_evaluator")


def export(
    module: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic: Any,
    training: bool = False,
    own_modes: bool = False,
) -> tuple[Any, NamedDimensions | None]:
    """What torch.export makes of a module, and the dimensions that have names.

    The module is in eval mode for that, or, with `own_modes`, each of its modules in its own; for
    `training` in its own, and torch keeps to where gradients end.
    """
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
    mode = _for_training() if training else _for_inference(module, own_modes)
    exporter()
    with (
        exporting,
        mode,
        kept_whole(),
        statistics_followed(),
        torch.set_grad_enabled(training),
    ):
        program = torch.export.export(
            module, args, dict(kwargs), dynamic_shapes=shapes, strict=False
        )
    return program, names


def exporter() -> Any:
    """The module of torch that exports, which is imported without what takes 12 MB and is for
    partitions of graphs alone."""
    for one in _PARTITIONS:
        try_without(f"torch._functorch._activation_checkpointing.{one}", "networkx")
    from torch.export import _trace

    return _trace


@contextlib.contextmanager
def _for_inference(module: Any, own_modes: bool) -> Iterator[None]:
    """The module in eval mode, or in its own modes, and attention as separate operators."""
    import torch

    training = [one for one in module.modules() if one.training and not own_modes]
    fast = torch.backends.mha.get_fastpath_enabled()
    if training:
        with contextlib.suppress(NotImplementedError):  # of a program, which has no other mode
            module.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with _without_warnings():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for one in training:
            one.training = True


@contextlib.contextmanager
def _for_training() -> Iterator[None]:
    """Rejects functions whose gradients the module defines in Python, which torch leaves out."""
    import torch

    original = torch.autograd.Function.__dict__["apply"]
    this_thread = threading.get_ident()

    def reject(cls: Any, *args: Any, **kwargs: Any) -> Any:
        # That of torch.cond has the gradients of its branches, which graphs have, too.
        is_control = cls.__module__.startswith("torch._higher_order_ops.")
        if is_control or threading.get_ident() != this_thread:
            return original.__get__(None, cls)(*args, **kwargs)
        raise GraphError(
            f"{cls.__module__}.{cls.__qualname__} is a torch.autograd.Function: graphs have no"
            " operator with the gradient that it defines"
        )

    torch.autograd.Function.apply = classmethod(reject)
    try:
        with _without_warnings():
            yield
    finally:
        torch.autograd.Function.apply = original


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Without what torch says of its own inner workings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _quickly() -> Iterator[None]:
    """Has torch do once what it does for each program that it decomposes, which takes most of the
    time for a small one: it looks up its composite operators for each of the namespaces there are,
    and has each of them dispatched to its decomposition, which it is anyway."""
    from torch._export import utils
    from torch.export import exported_program

    look_up = utils._materialize_cpp_cia_ops
    override = exported_program._override_composite_implicit_decomp

    def override_others(table: dict[Any, Any]) -> Any:
        def is_its_own(operator: Any, function: Any) -> bool:
            return getattr(function, "keywords", {}).get("kernel") is operator

        return override({one: how for one, how in table.items() if not is_its_own(one, how)})

    look_up()
    utils._materialize_cpp_cia_ops = lambda: None
    exported_program._override_composite_implicit_decomp = override_others
    try:
        yield
    finally:
        utils._materialize_cpp_cia_ops = look_up
        exported_program._override_composite_implicit_decomp = override


def decomposed(program: Any, training: bool = False) -> Any:
    """The program with all operators decomposed that have no rule."""
    import torch

    if training:
        detach_without_gradients(program)
    with exporting, _without_warnings(), _quickly():
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
