"""Executes a model on the CPU or an accelerator and shows its outputs, or how long its steps took.

Inputs are read from .npy or .npz files; those that are not given are random numbers.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ._inputs import (
    add_context_arguments,
    add_input_arguments,
    add_threads_argument,
    inputs_of,
    plan_of,
)
from ._models import model_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_input_arguments(parser)
    add_context_arguments(parser)
    add_threads_argument(parser)
    parser.add_argument(
        "--verify",
        action="store_true",
        help="of --ctx: compares with what the CPU computes, and names the first node that differs",
    )
    parser.add_argument("--output", type=Path, metavar="FILE.npz", help="writes the outputs")
    parser.add_argument("--profile", action="store_true", help="shows how long each step took")
    parser.add_argument("--most", type=int, metavar="N", help="of --profile: the N slowest steps")
    parser.add_argument(
        "--trace", type=Path, metavar="FILE.json", help="writes the steps for trace viewers"
    )


def run(options: argparse.Namespace) -> None:
    """Does it; raises GraphError, OSError and ValueError."""
    import numpy

    model = model_of(options)
    plan = plan_of(model, options)
    inputs = inputs_of(model, options)
    if options.profile or options.trace is not None:
        profile = plan.profile(inputs)
        outputs: list[Any] = list(profile.outputs)
        if options.profile:
            print(profile.table(options.most))
        if options.trace is not None:
            profile.save_trace(options.trace)
    else:
        outputs = plan.run(inputs)
        for spec, output in zip(model.outputs, outputs, strict=True):
            print(f"{spec.name}: {_said(_on_cpu(output))}")
    print(plan.summary())
    if options.output is not None:
        named = {spec.name: output for spec, output in zip(model.outputs, outputs, strict=True)}
        _save(options.output, {name: numpy.asarray(_on_cpu(a)) for name, a in named.items()})


def _save(path: Path, arrays: dict[str, Any]) -> None:
    """Writes an .npz file; `numpy.savez` does not take all names."""
    import zipfile

    import numpy

    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, array, allow_pickle=False)


def _on_cpu(output: Any) -> Any:
    from .. import cpu, np

    return output.as_in_ctx(cpu()) if isinstance(output, np.ndarray) else output


def _said(output: Any) -> str:
    if not hasattr(output, "dtype"):
        return repr(output)
    shape = tuple(output.shape)
    if output.size == 0 or output.dtype.kind not in "fiu":
        return f"{output.dtype} {shape}"
    least, most, mean = (float(value) for value in (output.min(), output.max(), output.mean()))
    return f"{output.dtype} {shape}, {least:.6g} to {most:.6g}, mean {mean:.6g}"
