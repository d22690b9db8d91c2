"""The models that commands take: ONNX files, checkpoints of MXNet and programs of torch."""

from __future__ import annotations

import argparse
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..graph import Graph
    from ..graph._spec import Dim

_PARAMS = re.compile(r"(?P<prefix>.*)-(?P<epoch>[0-9]{4,})\.params")


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, and the shapes of inputs."""
    parser.add_argument(
        "model",
        type=Path,
        help="an ONNX file; PREFIX-0001.params for a checkpoint of MXNet, with PREFIX-symbol.json "
        "beside it; or FILE.pt2, as torch.export.save writes it",
    )
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1,3,224,224",
        help="the shape of an input; extents may be names; once for each input",
    )


def model_of(options: argparse.Namespace) -> Graph:
    """The graph that a file is, with the shapes that are given. Raises OSError and ValueError."""
    from .. import graph as graphs

    path, shapes = options.model, dict(_shape_of(text) for text in options.shape)
    if (checkpoint := checkpoint_of(path)) is not None:
        return _of_checkpoint(*checkpoint, shapes)
    if str(path).endswith(("-symbol.json", ".params")):
        raise ValueError(f"{path}: a checkpoint of MXNet is named by its PREFIX-0001.params")
    graph = _of_torch(path) if path.suffix == ".pt2" else graphs.load(path)
    if shapes:
        graph.infer(shapes)
    return graph


def checkpoint_of(path: Path) -> tuple[str, int] | None:
    """Prefix and epoch of a checkpoint of MXNet, by the file of its parameters."""
    found = _PARAMS.fullmatch(str(path))
    return None if found is None else (found["prefix"], int(found["epoch"]))


def _of_checkpoint(prefix: str, epoch: int, shapes: dict[str, tuple[Dim, ...]]) -> Graph:
    from .. import model

    symbol, arguments, states = model.load_checkpoint(prefix, epoch)
    unknown = sorted(set(shapes) - set(symbol.list_arguments()))
    if unknown:
        inputs = [name for name in symbol.list_arguments() if name not in arguments]
        raise ValueError(f"--shape: there is no input {unknown[0]!r}: inputs are {inputs}")
    return symbol.to_graph(shapes, params={**arguments, **states})


def _of_torch(path: Path) -> Graph:
    from ..importers import torch as importer

    try:
        import torch
    except ModuleNotFoundError as error:
        raise ImportError(f"{path}: needs the package torch: pip install torch") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch, about itself
        try:
            program = torch.export.load(path)
        except OSError:
            raise
        except Exception as error:
            raise ValueError(f"{path}: torch.export.load cannot read it: {error}") from error
    return importer.load(program)


def _shape_of(text: str) -> tuple[str, tuple[Dim, ...]]:
    """The name and the shape of an input."""
    name, equals, shape = text.rpartition("=")
    if not equals or not name:
        raise ValueError(f"--shape: expected NAME=1,3,224,224, got {text!r}")
    words = [word.strip() for word in shape.split(",")] if shape else []
    return name, tuple(int(word) if word.lstrip("-").isdigit() else word for word in words)
