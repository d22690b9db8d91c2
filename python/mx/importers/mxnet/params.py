"""MXNet's files of arrays: `prefix-0000.params`, and what `mx.nd.save` writes.

A file is a magic number, a list of arrays and a list of names; numbers are little-endian. An array
begins with a word that tells its generation: V0 has none and begins with its number of dimensions,
V1 has 64-bit shapes, V2 storage types too (dense, rows of which most are missing, CSR matrices), V3
NumPy's shapes, in which no dimensions mean a number. MXNet 2.0 writes `.npz` files as well, which
are read too.

Nothing is allocated for what a file only promises: each count and shape is held against the bytes
that are left.
"""

from __future__ import annotations

import math
import os
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mx.graph import GraphError

LIST_MAGIC = 0x112
V1_MAGIC, V2_MAGIC, V3_MAGIC = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
MOST_DIMENSIONS = 32

# By the number that a file has for each.
DTYPES = (
    "float32",
    "float64",
    "float16",
    "uint8",
    "int32",
    "int8",
    "int64",
    "bool",
    "int16",
    "uint16",
    "uint32",
    "uint64",
    "bfloat16",
)
DENSE, ROW_SPARSE, CSR = 0, 1, 2

Dense = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class RowSparseArray:
    """An array most of whose rows are zero: `data[i]` is row `indices[i]`."""

    shape: tuple[int, ...]
    data: Dense
    indices: Dense

    def to_dense(self, most_bytes: int = 1 << 32) -> Dense:
        """The whole array. ValueError where it would take more than `most_bytes`."""
        out = _zeros(self, most_bytes)
        out[self.indices.astype(np.int64)] = self.data
        return out


@dataclass(frozen=True)
class CSRArray:
    """A matrix by its rows: row i has `data[indptr[i]:indptr[i + 1]]` in the columns `indices`."""

    shape: tuple[int, ...]
    data: Dense
    indptr: Dense
    indices: Dense

    def to_dense(self, most_bytes: int = 1 << 32) -> Dense:
        """The whole matrix. ValueError where it would take more than `most_bytes`."""
        out = _zeros(self, most_bytes)
        ends = self.indptr.astype(np.int64)
        rows = np.repeat(np.arange(self.shape[0]), ends[1:] - ends[:-1])
        out[rows, self.indices.astype(np.int64)] = self.data
        return out


Stored = Dense | RowSparseArray | CSRArray


def _zeros(array: RowSparseArray | CSRArray, most_bytes: int) -> Dense:
    needed = math.prod(array.shape) * array.data.dtype.itemsize
    if needed > most_bytes:
        raise GraphError(
            f"{type(array).__name__}.to_dense: shape {array.shape} takes {needed} bytes, "
            f"more than most_bytes={most_bytes}"
        )
    return np.zeros(array.shape, array.data.dtype)


def dtype_of(name: str) -> np.dtype[Any]:
    """NumPy's data type of one of `DTYPES`; ImportError for bfloat16 without ml_dtypes."""
    if name == "bfloat16":
        import ml_dtypes

        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    return np.dtype(name)


class _Reader:
    """Reads a file of known length, and knows which of its arrays it is at."""

    def __init__(self, stream: BinaryIO, length: int, file: str) -> None:
        self.stream, self.length, self.file = stream, length, file
        self.offset = 0
        self.at = "the header"

    def error(self, expected: str, came: object, offset: int | None = None) -> GraphError:
        where = self.offset if offset is None else offset
        return GraphError(
            f"{self.file}: {self.at}, offset {where}: expected {expected}, but {came} came"
        )

    @property
    def left(self) -> int:
        return self.length - self.offset

    def take(self, n: int, what: str) -> bytes:
        if n > self.left:
            raise self.error(f"{n} bytes of {what}", f"the end of the file after {self.left}")
        data = self.stream.read(n)
        if len(data) != n:
            raise self.error(f"{n} bytes of {what}", f"the end of the file after {len(data)}")
        self.offset += n
        return data

    def number(self, code: str, what: str) -> int:
        (value,) = struct.unpack("<" + code, self.take(struct.calcsize(code), what))
        return int(value)

    def count(self, what: str, least: int) -> int:
        """How many items follow, each of at least so many bytes."""
        start = self.offset
        value = self.number("Q", f"the number of {what}")
        if value * least > self.left:
            raise self.error(
                f"at most {self.left // least} {what} in the {self.left} bytes left", value, start
            )
        return value

    def shape(self, code: str, ndim: int, start: int) -> tuple[int, ...]:
        if not 0 <= ndim <= MOST_DIMENSIONS:
            raise self.error(f"at most {MOST_DIMENSIONS} dimensions", ndim, start)
        data = self.take(ndim * struct.calcsize(code), "the shape")
        return struct.unpack(f"<{ndim}{code}", data)

    def dtype(self) -> np.dtype[Any]:
        start = self.offset
        code = self.number("i", "the data type")
        if not 0 <= code < len(DTYPES):
            raise self.error(f"a data type from 0 to {len(DTYPES) - 1}", code, start)
        return dtype_of(DTYPES[code])

    def elements(self, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> Dense:
        self.check_shape(shape)
        needed = math.prod(shape) * dtype.itemsize
        if needed > self.left:
            raise self.error(
                f"{needed} bytes of {what}, of shape {shape} and data type {dtype}",
                f"the end of the file after {self.left}",
            )
        data = bytearray(self.take(needed, what))
        return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype, copy=False).reshape(shape)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if any(n < 0 for n in shape) or math.prod(max(n, 1) for n in shape) >= 1 << 60:
            raise self.error("dimensions of 0 or more, of fewer than 2**60 elements", shape)


def _read_array(read: _Reader) -> Stored | None:
    """One array; None where nothing was stored, as for an array that had no shape yet."""
    start = read.offset
    magic = read.number("I", "the array's generation")
    if magic in (V2_MAGIC, V3_MAGIC):
        return _read_stored(read, has_numpy_shape=magic == V3_MAGIC)
    if magic == V1_MAGIC:
        ndim = read.number("i", "the number of dimensions")
        shape = read.shape("q", ndim, start + 4)
    else:
        if magic > MOST_DIMENSIONS:
            raise read.error(
                f"{V1_MAGIC:#x}, {V2_MAGIC:#x}, {V3_MAGIC:#x} or at most {MOST_DIMENSIONS} "
                "dimensions",
                f"{magic:#x}",
                start,
            )
        shape = read.shape("I", magic, start)
    if not shape:
        return None
    read.take(8, "the context")
    return read.elements(shape, read.dtype(), "elements")


def _read_stored(read: _Reader, has_numpy_shape: bool) -> Stored | None:
    start = read.offset
    storage = read.number("i", "the storage type")
    if storage not in (DENSE, ROW_SPARSE, CSR):
        raise read.error("a storage type from 0 to 2", storage, start)

    def shape_here() -> tuple[int, ...]:
        at = read.offset
        return read.shape("q", read.number("i", "the number of dimensions"), at)

    stored_shape = () if storage == DENSE else shape_here()
    start = read.offset
    ndim = read.number("i", "the number of dimensions")
    if has_numpy_shape and ndim == -1:
        return None
    shape = read.shape("q", ndim, start)
    if (not shape and not has_numpy_shape) or (has_numpy_shape and -1 in shape):
        return None
    read.take(8, "the context")
    dtype = read.dtype()
    if storage == DENSE:
        return read.elements(shape, dtype, "elements")
    read.check_shape(shape)
    told = [(read.dtype(), shape_here()) for _ in range(storage)]
    data = read.elements(stored_shape, dtype, "elements")
    others = [read.elements(other, kind, "indices") for kind, other in told]
    return (_row_sparse if storage == ROW_SPARSE else _csr)(read, shape, data, *others)


def _row_sparse(read: _Reader, shape: tuple[int, ...], *stored: Dense) -> RowSparseArray:
    data, indices = stored
    n = len(indices) if indices.ndim == 1 else -1
    if not data.size and not indices.size:
        data = np.zeros((0, *shape[1:]), data.dtype)
        indices, n = indices.reshape(0), 0
    if data.shape != (n, *shape[1:]):
        raise read.error(f"as many rows of {shape} as indices", f"{data.shape}, {indices.shape}")
    _check_indices(read, indices, shape[0])
    return RowSparseArray(shape, data, indices)


def _csr(read: _Reader, shape: tuple[int, ...], *stored: Dense) -> CSRArray:
    data, indptr, indices = stored
    if len(shape) != 2 or indptr.ndim != 1 or data.ndim != 1 or data.shape != indices.shape:
        raise read.error("a matrix with as many elements as columns", f"{data.shape}, {shape}")
    if not indptr.size:
        indptr = np.zeros(shape[0] + 1 if shape[0] * 8 <= read.length else 0, np.int64)
    ends = indptr.astype(np.int64)
    whole = len(ends) == shape[0] + 1 and ends[0] == 0 and ends[-1] == len(data)
    if not whole or (np.diff(ends) < 0).any():
        raise read.error(
            f"{shape[0] + 1} rising positions from 0 to {len(data)}", f"{len(ends)} of others"
        )
    _check_indices(read, indices, shape[1])
    return CSRArray(shape, data, indptr, indices)


def _check_indices(read: _Reader, indices: Dense, n: int) -> None:
    if indices.dtype.kind not in "iu":
        raise read.error("indices of an integer type", indices.dtype)
    if indices.size and not (0 <= int(indices.min()) and int(indices.max()) < n):
        raise read.error(f"indices from 0 to {n - 1}", f"{indices.min()} to {indices.max()}")


def load_arrays(path: str | os.PathLike[str]) -> tuple[list[Stored | None], list[str]]:
    """The arrays of a file and their names, of which there are none or as many.

    An array that was stored without elements is None. GraphError (a ValueError) tells what is
    wrong with a file: its name, which array, at what offset, what was expected and what came.
    """
    file = os.fspath(path)
    with open(path, "rb") as stream:
        if stream.read(2) == b"PK":
            return _load_zip(file)
        length = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        read = _Reader(stream, length, file)
        magic = read.number("Q", "the magic number")
        if magic != LIST_MAGIC:
            raise read.error(f"the magic number {LIST_MAGIC:#x}", f"{magic:#x}", 0)
        read.number("Q", "the reserved word")
        arrays: list[Stored | None] = []
        for i in range(read.count("arrays", 4)):
            read.at = f"array {i}"
            arrays.append(_read_array(read))
        read.at = "the names"
        count_offset = read.offset
        n = read.count("names", 8)
        if n not in (0, len(arrays)):
            raise read.error(f"no names or {len(arrays)}", n, count_offset)
        names = []
        for i in range(n):
            read.at = f"name {i}"
            start = read.offset
            raw = read.take(read.count("bytes", 1), "the name")
            try:
                names.append(raw.decode())
            except UnicodeDecodeError as error:
                raise read.error("UTF-8", repr(raw[:32]), start) from error
    return arrays, names


def _load_zip(file: str) -> tuple[list[Stored | None], list[str]]:
    """An .npz file as MXNet 2.0 writes it: its members are stored as they are."""
    arrays: list[Stored | None] = []
    names = []
    try:
        with zipfile.ZipFile(file) as archive:
            left = os.path.getsize(file)
            for member in archive.infolist():
                left -= member.file_size
                if member.compress_type != zipfile.ZIP_STORED or left < 0:
                    raise GraphError(
                        f"{file}: member {member.filename!r}: expected bytes stored as they are, "
                        f"{member.file_size} of which do not fit into the file's"
                    )
                with archive.open(member) as stream:
                    array = np.lib.format.read_array(stream, allow_pickle=False)
                arrays.append(array)
                names.append(member.filename.removesuffix(".npy"))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        if isinstance(error, GraphError):
            raise
        at = f", member {names and len(names)}"
        raise GraphError(f"{file}{at}: expected a whole .npz file, but: {error}") from error
    return arrays, names


def load_params(
    path: str | os.PathLike[str], *, most_bytes: int = 1 << 34
) -> tuple[dict[str, Dense], dict[str, Dense]]:
    """The arguments and the auxiliary states of a checkpoint, by name, all of them dense.

    GraphError where a file is damaged, where a name begins with neither `arg:` nor `aux:`, comes
    twice, or where sparse arrays become larger than `most_bytes` together.
    """
    file = os.fspath(path)
    arrays, names = load_arrays(path)
    if arrays and not names:
        raise GraphError(f"{file}: expected names of the {len(arrays)} arrays, but none came")
    found: dict[str, dict[str, Dense]] = {"arg": {}, "aux": {}}
    for i, (array, name) in enumerate(zip(arrays, names, strict=True)):
        kind, colon, rest = name.partition(":")
        if not colon or kind not in found:
            raise GraphError(
                f"{file}: array {i}: expected a name that begins with 'arg:' or 'aux:', "
                f"but {name!r} came"
            )
        if rest in found[kind]:
            raise GraphError(f"{file}: array {i}: expected each name once, but {name!r} came twice")
        if array is None:
            raise GraphError(f"{file}: array {i} ({name!r}): expected elements, but none came")
        if not isinstance(array, np.ndarray):
            array = array.to_dense(most_bytes)
            most_bytes -= array.nbytes
        found[kind][rest] = array
    return found["arg"], found["aux"]


def _array_bytes(array: Stored, version: int, at: str) -> Iterable[bytes]:
    shapes = array.shape
    data = array if isinstance(array, np.ndarray) else array.data
    name = str(data.dtype)
    if name not in DTYPES:
        raise TypeError(f"{at}: expected one of {', '.join(DTYPES)}, but {name} came")

    def shape_bytes(shape: tuple[int, ...]) -> bytes:
        return struct.pack(f"<i{len(shape)}q", len(shape), *shape)

    def flat(values: Dense) -> bytes:
        return np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()

    others: list[Dense] = []
    if isinstance(array, RowSparseArray):
        others = [array.indices]
    elif isinstance(array, CSRArray):
        others = [array.indptr, array.indices]
    if others and version == 3:
        raise ValueError(f"{at}: expected a dense array in version 3, but a sparse one came")
    if version == 2 and (not shapes or 0 in shapes):
        raise ValueError(
            f"{at}: expected one dimension or more, none of them 0, but shape {shapes} came, "
            "which version 3 has"
        )
    yield struct.pack("<Ii", V3_MAGIC if version == 3 else V2_MAGIC, len(others))
    if others:
        yield shape_bytes(data.shape)
    yield shape_bytes(shapes)
    yield struct.pack("<iii", 1, 0, DTYPES.index(name))
    for other in others:
        yield struct.pack("<i", DTYPES.index(str(other.dtype))) + shape_bytes(other.shape)
    yield flat(data)
    yield from map(flat, others)


def save_arrays(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Stored] | Sequence[Stored],
    version: int | None = None,
) -> None:
    """Writes arrays by name, or without names, in generation V2 or V3.

    Without a version it is V3 where an array has no dimensions or no elements, which V2 has no
    form for, else V2, which every MXNet from 1.0 reads. The file appears whole or not at all.
    """
    if version not in (None, 2, 3):
        raise ValueError(f"save_arrays: version: expected 2 or 3, but {version!r} came")
    stored = dict(arrays) if isinstance(arrays, Mapping) else dict(enumerate(arrays))
    if version is None:
        needed = any(not a.shape or 0 in a.shape for a in stored.values())
        version = 3 if needed else 2
    target = Path(path)
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(scratch, "wb") as stream:
            stream.write(struct.pack("<QQQ", LIST_MAGIC, 0, len(stored)))
            for name, array in stored.items():
                stream.writelines(_array_bytes(array, version, f"{target}: {name!r}"))
            names = list(arrays) if isinstance(arrays, Mapping) else []
            stream.write(struct.pack("<Q", len(names)))
            for name in names:
                raw = name.encode()
                stream.write(struct.pack("<Q", len(raw)) + raw)
        os.replace(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)


def save_params(
    path: str | os.PathLike[str],
    arguments: Mapping[str, Stored],
    auxiliary: Mapping[str, Stored],
    version: int | None = None,
) -> None:
    """Writes the arrays of a checkpoint; `version` as for `save_arrays`."""
    arrays = {f"arg:{name}": array for name, array in arguments.items()}
    arrays |= {f"aux:{name}": array for name, array in auxiliary.items()}
    save_arrays(path, arrays, version)
