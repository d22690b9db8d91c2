"""Packages for Python."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import keyword
import platform
import re
import zipfile

from ._deployment import Build, Deployment
from ._interface import STATUSES, Argument, Interface
from ._names import identifier, unique

# What the package is made of, besides the library; see `_modules` for the words between @. Names
# that users choose are in the first file only, so that they hide nothing that the other needs.
_INIT = '''\
"""A model as a function of NumPy's arrays. Made by mx.sol.deploy, for @PROCESSOR@."""

from ._model import call as _call

__all__ = ["@NAME@"]


def @NAME@(@PARAMETERS@):
    """Executes the model.

@DESCRIPTION@

    Several threads may call it at the same time. Raises TypeError and ValueError for arguments of
    other types and shapes.
    """
    return _call([@PARAMETERS@])
'''
_MODEL = '''\
"""Calls the library of a model. Made by mx.sol.deploy, for @PROCESSOR@."""

import ctypes
import mmap
import threading
from pathlib import Path

import numpy

_FOLDER = Path(__file__).parent
_INPUTS = @INPUTS@
_OUTPUTS = @OUTPUTS@
_STATUSES = @STATUSES@
# Types that NumPy lacks, as their bits.
_BITS = {"bfloat16": "uint16"}

_library = ctypes.CDLL(str(_FOLDER / "@LIBRARY@"))
_function, _check = _library.@NAME@, _library.@NAME@_check
_function.restype = _check.restype = ctypes.c_int
_local = threading.local()


def _weights():
    """The pointer and the size of the weights beside the library."""
    if @WEIGHTS@ is None:
        return ()
    with open(_FOLDER / @WEIGHTS@, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    array = numpy.frombuffer(mapped, "uint8")
    return ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.size), array


def _raise(status):
    if status:
        raise RuntimeError(f"@NAME@: {_STATUSES.get(status, status)}")


_beside = _weights()
_raise(_check(*_beside[:2]))


def _array(position, given):
    name, dtype, shape = _INPUTS[position]
    array = numpy.ascontiguousarray(given)
    if str(array.dtype) not in (dtype, _BITS.get(dtype)):
        bits = f", or its bits as {_BITS[dtype]}" if dtype in _BITS else ""
        raise TypeError(f"@NAME@: {name}: expected {dtype}{bits}, got {array.dtype}")
    if numpy.shape(given) != shape:
        raise ValueError(f"@NAME@: {name}: expected shape {shape}, got {numpy.shape(given)}")
    return array


def call(arguments):
    """Executes the model."""
    arrays = [_array(n, given) for n, given in enumerate(arguments)]
    outputs = [numpy.empty(shape, _BITS.get(dtype, dtype)) for _, dtype, shape in _OUTPUTS]
    if not hasattr(_local, "arena"):
        _local.arena = numpy.empty(@ARENA@, "uint8")
    pointers = [ctypes.c_void_p(one.ctypes.data) for one in (*arrays, *outputs, _local.arena)]
    _raise(_function(*pointers, ctypes.c_size_t(@ARENA@), *_beside[:2], None))
    return outputs[0] if len(outputs) == 1 else outputs
'''


class Wheel(Deployment):
    """A wheel with the library and a module that calls it by ctypes."""

    name = "wheel"
    description = "<name>-<version>-py3-none-linux_<machine>.whl, which needs NumPy only"

    def write(self, build: Build) -> list[str]:
        """Compiles, links and packs."""
        toolchain, library = build.toolchain(), f"lib{build.name}.so"
        objects = toolchain.compile(build.write_sources(), build.folder)
        toolchain.link(objects, library, build.folder)
        contents = {
            f"{build.name}/{file}": (build.folder / file).read_bytes()
            for file in (library, *build.beside())
        }
        for file, text in _modules(build.interface, library).items():
            contents[f"{build.name}/{file}"] = text.encode()
        tag = f"py3-none-linux_{build.target.machine or platform.machine()}"
        info = f"{build.name}-{build.version}.dist-info"
        contents[f"{info}/METADATA"] = (
            f"Metadata-Version: 2.1\nName: {build.name}\nVersion: {build.version}\n"
            f"Summary: A model, compiled by mx.sol.deploy\nRequires-Dist: numpy\n"
        ).encode()
        contents[f"{info}/WHEEL"] = (
            f"Wheel-Version: 1.0\nGenerator: mx.sol\nRoot-Is-Purelib: false\nTag: {tag}\n"
        ).encode()
        return [build.write(f"{build.name}-{build.version}-{tag}.whl", _packed(contents, info))]


def _packed(contents: dict[str, bytes], info: str) -> bytes:
    """The bytes of a wheel, with the list of what is in it."""
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(data)])
    rows.writerow([f"{info}/RECORD", "", ""])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**contents, f"{info}/RECORD": record.getvalue().encode()}.items():
            # Of no date, so that the same model makes the same bytes.
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _modules(to: Interface, library: str) -> dict[str, str]:
    """The files of the package in Python."""
    names = unique(identifier(one.value.name) for one in to.inputs)
    names = [f"{name}_" if keyword.iskeyword(name) else name for name in names]
    described = [
        f"    {name}: {one.value.dtype} {one.value.shape}"
        for name, one in zip(names, to.inputs, strict=True)
    ]
    described += [f"    returns: {_returned(one)} {one.value.shape}" for one in to.outputs]
    words = {
        "PROCESSOR": to.made_for,
        "NAME": to.func_name,
        "LIBRARY": library,
        "INPUTS": repr(_specs(to.inputs, names)),
        "OUTPUTS": repr(_specs(to.outputs, [one.value.name for one in to.outputs])),
        "STATUSES": repr({number: text for number, (_, text) in enumerate(STATUSES)}),
        "WEIGHTS": repr(None if to.is_inside else f"{to.lib_name}.weights"),
        "PARAMETERS": ", ".join(names),
        "DESCRIPTION": "\n".join(described),
        "ARENA": str(to.arena_bytes),
    }
    return {
        file: re.sub("@([A-Z]+)@", lambda found: words[found[1]], text)
        for file, text in (("__init__.py", _INIT), ("_model.py", _MODEL))
    }


def _returned(output: Argument) -> str:
    dtype = str(output.value.dtype)
    return "uint16 (the bits of bfloat16)" if dtype == "bfloat16" else dtype


def _specs(arguments: tuple[Argument, ...], names: list[str]) -> list[tuple[str, str, object]]:
    """Name, type and shape."""
    values = [one.value for one in arguments]
    return [(name, one.dtype, one.shape) for name, one in zip(names, values, strict=True)]


DEPLOYMENT = Wheel()
