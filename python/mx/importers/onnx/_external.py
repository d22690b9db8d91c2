"""Weights in other files, which may be only those that lie in the folder of the model."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import onnx

from ...graph._errors import GraphError
from ._tensors import bytes_of, size_of
from ._walk import tensors_of


def check(proto: onnx.ModelProto, folder: Path | None, file: str) -> bool:
    """Whether there are tensors in other files.

    Raises GraphError for those in files elsewhere, in none, or beyond the end of one.
    """
    sizes: dict[str, int] = {}
    for tensor, where in tensors_of(proto.graph, file):
        if isinstance(tensor, onnx.SparseTensorProto):
            continue
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        told = {entry.key: entry.value for entry in tensor.external_data}
        location = told.get("location", "")
        if folder is None:
            raise GraphError(
                f"{file}: {where} is in the file {location!r}: load needs the folder that it is in"
            )
        if location not in sizes:
            sizes[location] = _size_of_file(location, folder, where, file)
        if tensor.data_type == onnx.TensorProto.STRING:
            raise GraphError(f"{file}: {where} has strings, which are in no other file")
        wanted = bytes_of(tensor, size_of(tensor, where, file))
        offset = _number(told.get("offset", "0"), "offset", where, file)
        length = _number(told.get("length", str(wanted)), "length", where, file)
        if length != wanted:
            raise GraphError(
                f"{file}: {where} is of shape {tuple(tensor.dims)}, {wanted:,} bytes, and has "
                f"{length:,} in {location!r}"
            )
        if offset + length > sizes[location]:
            raise GraphError(
                f"{file}: {where} ends at byte {offset + length:,} of {location!r}, which has "
                f"{sizes[location]:,}: is the file cut short?"
            )
    return bool(sizes)


def _size_of_file(location: str, folder: Path, where: str, file: str) -> int:
    """The size of a file; raises where it is not a plain one in the folder."""
    wrong = f"{file}: {where} is in the file {location[:200]!r}"
    if not location or "\0" in location or os.path.isabs(location):
        raise GraphError(f"{wrong}, and only files in the model's folder are read")
    if ".." in Path(location).parts:
        raise GraphError(f"{wrong}, and only files in the model's folder are read")
    real, base = os.path.realpath(folder / location), os.path.realpath(folder)
    if os.path.commonpath([real, base]) != base:
        raise GraphError(f"{wrong}, a link to {real!r}: only files in the model's folder are read")
    try:
        found = os.stat(real)
    except OSError as error:
        raise GraphError(f"{wrong}: {error.strerror}") from None
    if not stat.S_ISREG(found.st_mode):
        raise GraphError(f"{wrong}, which is no plain file")
    if found.st_nlink > 1:
        raise GraphError(
            f"{wrong}, which has another name elsewhere (a hard link): only files of the model's "
            "folder alone are read; copy it"
        )
    return found.st_size


def _number(text: str, key: str, where: str, file: str) -> int:
    """The value of an entry about a tensor's bytes."""
    if text.isascii() and text.isdigit() and len(text) < 20:
        return int(text)
    raise GraphError(f"{file}: {where}: expected a number as its {key}, got {text[:40]!r}")
