"""The inputs of models that commands execute."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._models import add_model_arguments

if TYPE_CHECKING:
    from ..graph import Graph, Plan, ValueSpec


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, and what it is executed for."""
    add_model_arguments(parser)
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE.npy",
        help="the array for an input; once for each; or FILE.npz with arrays by name",
    )
    parser.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=N",
        help="an extent that varies, by the name that `inspect` shows; 1 where it is not given",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")


def add_context_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the model is executed, and how."""
    parser.add_argument(
        "--ctx",
        metavar="LIBRARY",
        help="the library of an accelerator, or a context such as 'foo(0)' (default: the CPU)",
    )
    parser.add_argument(
        "--fallback",
        choices=("auto", "whole", "error"),
        help="of --ctx: what happens to nodes that the library does not execute (default: auto, "
        "they run on the CPU)",
    )
    parser.add_argument(
        "--keep-nan",
        action="store_true",
        help="leaves out kernels of the CPU that make a number of a NaN",
    )


def add_threads_argument(parser: argparse.ArgumentParser) -> None:
    """How much of the CPU it uses."""
    parser.add_argument(
        "--threads", type=int, metavar="N", help="how many threads a kernel of the CPU uses"
    )


def context_of(options: argparse.Namespace) -> Any:
    """The context that --ctx means, of a library that is loaded for it; None for the CPU."""
    if options.ctx is None:
        return None
    from .. import Context, load_acc

    is_path = "/" in options.ctx or Path(options.ctx).exists()
    return load_acc(options.ctx) if is_path else Context(options.ctx)


def plan_of(graph: Graph, options: argparse.Namespace) -> Plan:
    """What executes a model where --ctx says. ValueError for options that need another --ctx."""
    from .. import graph as graphs
    from .. import set_num_threads

    verify = getattr(options, "verify", False)
    if getattr(options, "threads", None) is not None:
        set_num_threads(options.threads)
    ctx = context_of(options)
    if ctx is None or ctx.device_type == "cpu":
        for name, given in (("--verify", verify), ("--fallback", options.fallback)):
            if given:
                raise ValueError(f"{name}: needs an accelerator: give --ctx its library")
        return graphs.Plan(graph, keep_nan=options.keep_nan)
    return graphs.PartitionedPlan(
        graph, ctx, fallback=options.fallback, verify=verify, keep_nan=options.keep_nan
    )


def shapes_of(graph: Graph, options: argparse.Namespace) -> dict[str, tuple[int, ...]]:
    """The shapes of the inputs by name, with extents by --dim."""
    dims = _dims_of(graph, options)
    return {
        spec.name: tuple(_extent(dim, dims) for dim in spec.shape)
        for spec in graph.inputs
        if spec.shape is not None
    }


def inputs_of(graph: Graph, options: argparse.Namespace) -> dict[str, Any]:
    """The arrays: from files, others random. Raises OSError and ValueError."""
    import numpy

    dims = _dims_of(graph, options)
    names = [spec.name for spec in graph.inputs]
    given: dict[str, Any] = {}
    for text in options.input:
        name, equals, file = text.partition("=")
        if not equals:
            arrays = numpy.load(text, allow_pickle=False)
            if isinstance(arrays, numpy.ndarray):
                raise ValueError(f"--input: {text} has one array: expected NAME={text}")
            with arrays:
                given.update(arrays)
        else:
            given[name] = numpy.load(file, allow_pickle=False)
    for name in given:
        if name not in names:
            raise ValueError(f"--input: there is no input {name!r}: inputs are {', '.join(names)}")
    random = numpy.random.default_rng(options.seed)
    for spec in graph.inputs:
        if spec.name not in given:
            given[spec.name] = _random(spec, dims, random)
    return given


def _random(spec: ValueSpec, dims: dict[str, int], random: Any) -> Any:
    if spec.shape is None or spec.dtype is None:
        raise ValueError(f"--input: {spec.name!r} has no shape: give it one by --shape")
    shape = [_extent(dim, dims) for dim in spec.shape]
    if spec.dtype == "bool":
        return random.integers(0, 2, shape).astype("bool")
    if "int" in spec.dtype:
        return random.integers(0, 2, shape).astype(spec.dtype)
    if "float" not in spec.dtype:
        raise ValueError(f"--input: {spec.name!r} is of type {spec.dtype}: give it a file")
    return random.standard_normal(shape).astype(spec.dtype)


def _extent(dim: Any, dims: dict[str, int]) -> int:
    return dim if isinstance(dim, int) else dims.get(str(dim), 1)


def _dims_of(graph: Graph, options: argparse.Namespace) -> dict[str, int]:
    """The extents that --dim gives. ValueError for names that no input has."""
    dims = dict(_dim_of(text) for text in options.dim)
    known = {str(dim) for spec in graph.inputs for dim in spec.shape or ()}
    for name in dims:
        if name not in known:
            raise ValueError(f"--dim: no input has an extent {name!r}")
    return dims


def _dim_of(text: str) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    if not equals or not number.isdigit():
        raise ValueError(f"--dim: expected NAME=N, got {text!r}")
    return name, int(number)
