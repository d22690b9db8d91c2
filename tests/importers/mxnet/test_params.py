"""MXNet's files of arrays: every generation, every data type, and files that are damaged."""

import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from mx.importers.mxnet import params
from mx.importers.mxnet.params import CSRArray, RowSparseArray

DTYPES = [params.dtype_of(name) for name in params.DTYPES]
CONTEXT = struct.pack("<ii", 1, 0)


def word(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def shape32(*dims: int) -> bytes:
    return struct.pack(f"<{len(dims) + 1}I", len(dims), *dims)


def shape64(*dims: int) -> bytes:
    return struct.pack(f"<i{len(dims)}q", len(dims), *dims)


def magic(value: int) -> bytes:
    return struct.pack("<I", value)


V1, V2, V3 = magic(params.V1_MAGIC), magic(params.V2_MAGIC), magic(params.V3_MAGIC)
F32 = np.arange(6, dtype="float32").reshape(2, 3)


def file_of(arrays: list[bytes], names: list[str]) -> bytes:
    raw = struct.pack("<QQQ", 0x112, 0, len(arrays)) + b"".join(arrays)
    raw += struct.pack("<Q", len(names))
    return raw + b"".join(struct.pack("<Q", len(n)) + n.encode() for n in names)


GENERATIONS = {
    "V0": shape32(2, 3) + CONTEXT + word(0) + F32.tobytes(),
    "V1": V1 + shape64(2, 3) + CONTEXT + word(0) + F32.tobytes(),
    "V2": V2 + word(0) + shape64(2, 3) + CONTEXT + word(0) + F32.tobytes(),
    "V3": V3 + word(0) + shape64(2, 3) + CONTEXT + word(0) + F32.tobytes(),
    "V2 of a GPU": V2 + word(0) + shape64(2, 3) + word(2, 3) + word(0) + F32.tobytes(),
}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_generations(tmp_path: Path, generation: str) -> None:
    path = tmp_path / "a-0000.params"
    path.write_bytes(file_of([GENERATIONS[generation]] * 2, ["arg:w", "aux:m"]))
    arguments, auxiliary = params.load_params(path)
    assert list(arguments) == ["w"] and list(auxiliary) == ["m"]
    np.testing.assert_array_equal(arguments["w"], F32)
    np.testing.assert_array_equal(auxiliary["m"], F32)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_data_types_round_trip(tmp_path: Path, dtype: np.dtype, version: int) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    params.save_arrays(tmp_path / "a", {"x": array.T, "y": array}, version=version)
    (x, y), names = params.load_arrays(tmp_path / "a")
    assert names == ["x", "y"] and x.dtype == y.dtype == dtype
    np.testing.assert_array_equal(x, array.T)
    np.testing.assert_array_equal(y, array)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_shapes_of_numpy_choose_version_3(tmp_path: Path, shape: tuple[int, ...]) -> None:
    params.save_arrays(tmp_path / "a", {"x": np.ones(shape, "float32")})
    assert (tmp_path / "a").read_bytes()[24:28] == V3
    (x,), _ = params.load_arrays(tmp_path / "a")
    assert x.shape == shape
    with pytest.raises(ValueError, match="'x'.*version 3 has"):
        params.save_arrays(tmp_path / "a", {"x": x}, version=2)


def test_sparse_arrays(tmp_path: Path) -> None:
    rows = RowSparseArray((5, 2), np.array([[1, 2], [3, 4]], "float32"), np.array([1, 3]))
    matrix = CSRArray(
        (3, 4), np.array([1, 2, 3], "float64"), np.array([0, 2, 2, 3]), np.array([0, 3, 1])
    )
    params.save_params(tmp_path / "a", {"rows": rows}, {"matrix": matrix})
    (read_rows, read_matrix), _ = params.load_arrays(tmp_path / "a")
    assert isinstance(read_rows, RowSparseArray) and isinstance(read_matrix, CSRArray)
    arguments, auxiliary = params.load_params(tmp_path / "a")
    np.testing.assert_array_equal(arguments["rows"], [[0, 0], [1, 2], [0, 0], [3, 4], [0, 0]])
    np.testing.assert_array_equal(auxiliary["matrix"], [[1, 0, 0, 2], [0, 0, 0, 0], [0, 3, 0, 0]])


def test_arrays_without_elements_are_none(tmp_path: Path) -> None:
    none = [shape32(), V1 + shape64(), V2 + word(0) + shape64(), V3 + word(0, -1)]
    (tmp_path / "a").write_bytes(file_of(none, []))
    assert params.load_arrays(tmp_path / "a") == ([None] * 4, [])


def test_npz_of_2_0(tmp_path: Path) -> None:
    with open(tmp_path / "a.params", "wb") as stream:
        np.savez(stream, **{"arg:w": F32, "aux:m": F32 + 1})
    arguments, auxiliary = params.load_params(tmp_path / "a.params")
    np.testing.assert_array_equal(arguments["w"], F32)
    np.testing.assert_array_equal(auxiliary["m"], F32 + 1)


HUGE = V2 + word(0) + shape64(1 << 40, 1 << 10) + CONTEXT + word(0)
SPARSE = V2 + word(1) + shape64(2, 2) + shape64(5, 2) + CONTEXT + word(0) + word(6) + shape64(2)
CSR = V2 + word(2) + shape64(1) + shape64(2, 2) + CONTEXT + word(0) + word(6) + shape64(3)
CSR += word(6) + shape64(1) + struct.pack("<f", 1)

HOSTILE = {
    "empty": (b"", "the header, offset 0: expected 8 bytes of the magic number"),
    "magic": (struct.pack("<QQ", 0x113, 0), "magic number 0x112, but 0x113 came"),
    "more arrays than bytes": (struct.pack("<QQQ", 0x112, 0, 1 << 60), "at most 0 arrays"),
    "array's magic": (file_of([magic(0xF993FACB)], ["arg:x"]), "array 0, offset 24: expected"),
    "dimensions": (file_of([V1 + word(33)], ["arg:x"]), "at most 32 dimensions, but 33 came"),
    "negative dimensions": (file_of([V2 + word(0, -1)], []), "at most 32 dimensions, but -1"),
    "storage": (file_of([V2 + word(7)], ["arg:x"]), "storage type from 0 to 2, but 7 came"),
    "type": (
        file_of([V1 + shape64(1) + CONTEXT + word(13)], ["arg:x"]),
        "data type from 0 to 12, but 13 came",
    ),
    "huge": (file_of([HUGE], ["arg:x"]), "bytes of elements, of shape (1099511627776, 1024)"),
    "overflow": (
        file_of([V1 + shape64(1 << 62, 0, 1 << 62) + CONTEXT + word(0)], []),
        "fewer than 2**60 elements",
    ),
    "negative": (
        file_of([V1 + shape64(-2, -3) + CONTEXT + word(0)], ["arg:x"]),
        "dimensions of 0 or more",
    ),
    "names": (file_of([GENERATIONS["V2"]], ["arg:x", "y"]), "no names or 1, but 2 came"),
    "no names": (file_of([GENERATIONS["V2"]], []), "expected names of the 1 arrays"),
    "kind": (file_of([GENERATIONS["V2"]], ["w"]), "array 0: expected a name that begins with"),
    "twice": (file_of([GENERATIONS["V2"]] * 2, ["arg:w"] * 2), "'arg:w' came twice"),
    "none": (file_of([shape32()], ["arg:w"]), "array 0 ('arg:w'): expected elements"),
    "rows": (
        file_of([SPARSE + bytes(16) + struct.pack("<qq", 1, 5)], ["arg:x"]),
        "indices from 0 to 4, but 1 to 5 came",
    ),
    "columns": (
        file_of([CSR + struct.pack("<qqqq", 0, 1, 1, 2)], ["arg:x"]),
        "indices from 0 to 1, but 2 to 2 came",
    ),
    "positions": (
        file_of([CSR + struct.pack("<qqqq", 0, 2, 1, 0)], ["arg:x"]),
        "3 rising positions from 0 to 1",
    ),
    "zip": (b"PK\3\4" + bytes(40), "expected a whole .npz file"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_damaged_files(tmp_path: Path, case: str) -> None:
    content, message = HOSTILE[case]
    (tmp_path / "bad.params").write_bytes(content)
    with pytest.raises(ValueError) as caught:
        params.load_params(tmp_path / "bad.params")
    assert "bad.params" in str(caught.value) and message in str(caught.value)


def test_a_sparse_array_that_would_be_huge(tmp_path: Path) -> None:
    huge = RowSparseArray((1 << 40, 1 << 10), np.ones((0, 1 << 10), "float32"), np.ones(0, int))
    params.save_arrays(tmp_path / "a", {"arg:x": huge})
    with pytest.raises(ValueError, match="more than most_bytes"):
        params.load_params(tmp_path / "a")


def test_every_cut_of_a_file_is_an_error(tmp_path: Path) -> None:
    arrays = {
        "arg:a": np.ones((2, 2), ml_dtypes.bfloat16),
        "arg:b": RowSparseArray((4, 1), np.ones((2, 1), "float16"), np.array([0, 3])),
        "aux:c": CSRArray((1, 2), np.ones(1, "int8"), np.array([0, 1]), np.array([1])),
    }
    params.save_arrays(tmp_path / "whole", arrays)
    whole = (tmp_path / "whole").read_bytes()
    for n in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:n])
        with pytest.raises(ValueError, match="cut: .* expected "):
            params.load_arrays(tmp_path / "cut")


def test_changed_bytes_are_read_or_rejected(tmp_path: Path) -> None:
    params.save_arrays(tmp_path / "whole", {"arg:a": F32, "aux:b": F32})
    whole = (tmp_path / "whole").read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(2000):
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] = rng.integers(256)
        (tmp_path / "changed").write_bytes(changed)
        try:
            params.load_params(tmp_path / "changed")
        except ValueError as error:
            assert "changed" in str(error)


@pytest.mark.parametrize(
    ("array", "version", "kind", "message"),
    [
        (np.ones(2, "complex64"), None, TypeError, "expected one of float32"),
        (RowSparseArray((1, 1), F32, F32), 3, ValueError, "dense array in version 3"),
        (F32, 1, ValueError, "version: expected 2 or 3, but 1 came"),
    ],
)
def test_arrays_that_cannot_be_written(
    tmp_path: Path, array: np.ndarray, version: int | None, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        params.save_arrays(tmp_path / "a", {"x": array}, version)
    assert not list(tmp_path.iterdir())
