"""The steps from the bytes of a model to a graph."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import BinaryIO, TypeAlias

import google.protobuf.message
import onnx
import onnx_ir
from onnx_ir import serde

from ...graph import _inference, _interfaces
from ...graph._errors import GraphError, GraphWarning
from ...graph._graph import Graph
from ...graph._opset import OPSET
from ...graph._unread import Unread
from . import _attributes, _converting, _external, _functions, _light, _names, _structure, _tensors

Source: TypeAlias = str | os.PathLike[str] | bytes | BinaryIO

# What a model is of once it is read: the oldest form with all that graphs have.
IR_VERSION = 11


def read(source: Source, folder: str | os.PathLike[str] | None = None) -> Graph:
    """The graph of an ONNX model: the path of a file, its bytes, or an open file.

    Weights in other files are read when they are looked up; these lie in the folder of the file, or
    in `folder`. Functions of the model are written out, its operators those of OPSET.

    Raises GraphError, which names file and node, for what is no model, and OSError where there is
    no file. Takes memory as large as the file and the weights that it has, at most.
    """
    light, aside, file, beside = _light_of(source, folder)
    structure = _interfaces.structure_of(aside.digest(light))
    interface = _interfaces.find(structure)

    def unread() -> Unread:
        """What is kept of the file beside the graph, or in its stead."""
        return Unread(
            structure,
            aside.elements,
            lambda: _model_of(light, aside, file, beside)[0],
            interface,
        )

    if interface is not None:
        return Graph._of_file(unread(), None, file)
    model, is_whole = _model_of(light, aside, file, beside)
    return Graph._of_file(unread(), model, file) if is_whole else Graph(model, file)


def _model_of(
    light: bytes, aside: _light.Aside, file: str, beside: Path | None
) -> tuple[onnx_ir.Model, bool]:
    """The model of a file, and whether all that it depends on is in these bytes and is silent."""
    try:
        proto = onnx.load_model_from_string(light)
    except (google.protobuf.message.DecodeError, ValueError) as error:
        raise GraphError(f"{file}: it is no ONNX model, or not all of one: {error}") from None
    _check_header(proto, file)
    _structure.check(proto, file)
    _tensors.check(proto, aside, file)
    is_whole = not _external.check(proto, beside, file)
    _functions.write_out(proto, file)
    _structure.sort(proto.graph, file)
    _attributes.check(proto, file)
    proto.ir_version = IR_VERSION
    weights = _tensors.take_out(proto.graph, beside)
    reason = None
    if _converting.version_of(proto) != OPSET:
        proto, reason = _converting.convert(proto, file)
        proto.ir_version = IR_VERSION
    _names.name_nodes(proto.graph)
    try:
        model = serde.deserialize_model(proto)
        _tensors.put_back(model, weights, aside, beside)
    except (serde.SerdeError, ValueError, TypeError, KeyError) as error:
        raise GraphError(f"{file}: it is no valid model: {_first_line(error)}") from None
    if reason is not None:
        message = f"{file}: its nodes stay of operator set {model.opset_imports.get('')}: {reason}"
        warnings.warn(message, GraphWarning, stacklevel=4)
    _inference.infer(model, file)
    return model, is_whole and reason is None


def _light_of(
    source: Source, folder: str | os.PathLike[str] | None
) -> tuple[bytes, _light.Aside, str, Path | None]:
    """A model and its big weights, what it is called in messages, and where its other files are."""
    beside = None if folder is None else Path(folder)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        with path.open("rb") as opened:
            name = os.fspath(source)
            return *_light.read(opened, name), name, beside or path.parent
    if isinstance(source, bytes | bytearray | memoryview):
        return *_light.read(io.BytesIO(source), "model"), "model", beside
    if not callable(getattr(source, "read", None)):
        raise TypeError(
            f"load: source: expected a path, bytes or an open file, got {type(source).__name__}"
        )
    data = source.read()
    if not isinstance(data, bytes):
        raise TypeError("load: source: expected a file that is open for reading bytes")
    known = getattr(source, "name", None)
    name = known if isinstance(known, str) else "model"
    return *_light.read(io.BytesIO(data), name), name, beside


def _check_header(proto: onnx.ModelProto, file: str) -> None:
    """Raises GraphError for what is no model at all, or of a form that is not known yet."""
    if not proto.HasField("graph"):
        raise GraphError(f"{file}: it is no ONNX model: it has no graph")
    if proto.ir_version > onnx.IR_VERSION:
        raise GraphError(
            f"{file}: it is of version {proto.ir_version} of ONNX's format, and onnx "
            f"{onnx.__version__} knows those up to {onnx.IR_VERSION}"
        )
    versions: dict[str, int] = {}
    for entry in proto.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        if versions.setdefault(domain, entry.version) != entry.version:
            raise GraphError(f"{file}: it is of two operator sets of {domain or 'ai.onnx'!r}")
    # The first versions of the format had one operator set.
    version = versions.setdefault("", 1 if proto.ir_version < 3 else OPSET)
    if not 1 <= version <= OPSET:
        raise GraphError(
            f"{file}: it is of operator set {version}, and those from 1 to {OPSET} are known"
        )
    for domain, other in versions.items():
        if not 0 < other < 1 << 31:
            raise GraphError(f"{file}: it is of operator set {other} of {domain!r}")
    del proto.opset_import[:]
    for domain, version in versions.items():
        proto.opset_import.add(domain=domain, version=version)


def _first_line(error: BaseException) -> str:
    """What an error of onnx-ir says first; the rest is where."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).strip().split("\n")[0]
