"""Models of torch as graphs, by way of torch.export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mx.graph import Graph

from ._rule import Unsupported, rule

__all__ = ["Unsupported", "load", "rule"]


def load(
    module_or_exported_program: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic: bool | str | Mapping[str, Any] | None = None,
) -> Graph:
    """Makes a graph of a `torch.nn.Module` or of what `torch.export.export` gave.

    A module is exported in eval mode with the example `args` and `kwargs`, of which shapes and data
    types matter; its own mode is as before afterwards. `dynamic` tells which dimensions may vary:
    none by default; `True` or `"auto"` for all that torch finds free to; or a mapping of the names
    of forward's parameters to names of axes, as `{"x": {0: "batch"}}` or `{"x": ("batch", None)}`.
    Dimensions of one name are equal. An example may have length 1 along a dimension that has a
    name.

    Inputs have the names of forward's parameters, weights those of the module's state, with which
    they share memory where that is on the CPU. Outputs are flat, named `output`, `output_0` or by
    the keys of what forward returns; the structure is `"mx.torch.outputs"` in the model's metadata.
    Buffers that the model changes are further outputs, which note the buffer as `"mx.mutation"`.
    Nodes note their module and source line as `"mx.module"` and `"mx.source"`.

    GraphError for operators without a rule, all of them named with module and line; ImportError
    where torch is missing; what `torch.export` raises for a module that it cannot export.
    """
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ImportError(
            "mx.importers.torch.load needs the package torch: pip install torch", name="torch"
        ) from error

    from ._export import decomposed, export
    from ._import import import_program

    names, name = None, "torch"
    if isinstance(module_or_exported_program, torch.export.ExportedProgram):
        if args or kwargs or dynamic:
            raise TypeError(
                "mx.importers.torch.load: an ExportedProgram takes no args, kwargs and dynamic: it"
                " has been exported with them"
            )
        program = module_or_exported_program
    elif isinstance(module_or_exported_program, torch.nn.Module):
        # The rules say what torch is not to decompose.
        from . import rules  # noqa: F401

        name = type(module_or_exported_program).__name__
        program, names = export(
            module_or_exported_program, tuple(args), dict(kwargs or {}), dynamic
        )
    else:
        raise TypeError(
            "mx.importers.torch.load: module_or_exported_program: expected a torch.nn.Module or a"
            f" torch.export.ExportedProgram, got {type(module_or_exported_program).__name__}"
        )
    return import_program(decomposed(program), names, name)
