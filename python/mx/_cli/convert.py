"""Writes a model in another format: as an ONNX file or as a checkpoint of MXNet.

Reads what all commands read. PREFIX-symbol.json is written with PREFIX-0000.params beside it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ._models import add_model_arguments, checkpoint_of, model_of

_SYMBOL = "-symbol.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_model_arguments(parser)
    parser.add_argument(
        "output", type=Path, metavar="OUT", help="FILE.onnx, or PREFIX-symbol.json for MXNet"
    )
    parser.add_argument("--epoch", type=int, metavar="N", help="of PREFIX-000N.params (default: 0)")
    parser.add_argument(
        "--external-data",
        action="store_true",
        help="of FILE.onnx: writes the weights into a file of their own beside it",
    )


def run(options: argparse.Namespace) -> None:
    """Does it; raises GraphError, OSError and ValueError."""
    from .. import model

    out: Path = options.output
    is_symbol = out.name.endswith(_SYMBOL)
    if not is_symbol and out.suffix != ".onnx":
        raise ValueError(f"{out}: expected FILE.onnx or PREFIX{_SYMBOL}")
    if options.epoch is not None and not is_symbol:
        raise ValueError("--epoch: only what is written for MXNet has one")
    if options.external_data and is_symbol:
        raise ValueError("--external-data: what is written for MXNet has its parameters apart")
    read = options.model
    if (checkpoint := checkpoint_of(read)) is not None:
        read = Path(f"{checkpoint[0]}{_SYMBOL}")
    if out.exists() and read.exists() and out.samefile(read):
        raise ValueError(f"{out}: is what is read: expected another file to write")
    graph = model_of(options)
    if not is_symbol:
        graph.save(out, external_data=options.external_data or None)
        print(f"{out}: {graph!r}")
        return
    symbol, arguments, states = model.from_graph(graph)
    prefix, epoch = str(out)[: -len(_SYMBOL)], options.epoch or 0
    model.save_checkpoint(prefix, epoch, symbol, arguments, states)
    count = len(arguments) + len(states)
    print(f"{out}, {prefix}-{epoch:04d}.params: {graph.name or 'graph'}, {count} arrays")
