"""Hashes of weights: which arrays have equal ones, and the secret that they are made with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import ffi
from mx.cache import _secret

KEY = _secret.words_of(bytes(range(32)))
content_hash = ffi.get_global_func("mx.acc.models.content_hash")


def hash_of(content: Any, key: Any = KEY) -> str:
    """The digits for an array, or for bytes."""
    array = numpy.frombuffer(content, "uint8") if isinstance(content, bytes) else content
    return str(content_hash(array, key))


def expected(data: bytes) -> str:
    """The same by the formula, with integers of any size."""
    key = [int(word) for word in KEY]
    prime, low, values = 2**61 - 1, 2**60 - 1, [1, 1]
    padded = data + bytes(-len(data) % 1024)
    coefficients = []
    for begin in range(0, len(padded), 1024):
        words = [int(x) for x in numpy.frombuffer(padded[begin : begin + 1024], "uint64")]
        added = [(word + key[i]) % 2**64 for i, word in enumerate(words)]
        total = sum(added[i] * added[i + 1] for i in range(0, 128, 2)) % 2**128
        coefficients += [total & low, total >> 60 & low, total >> 120]
    for coefficient in [*coefficients, len(data)]:
        for i in range(2):
            values[i] = (values[i] * (key[128 + i] & low) + coefficient) % prime
    return "".join(f"{value:016x}" for value in values)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 1023, 1024, 1025, 5000])
def test_formula(size: int) -> None:
    """Lengths around those of words and blocks."""
    data = numpy.random.default_rng(size).integers(0, 256, size, "uint8").tobytes()
    assert hash_of(data) == expected(data)


def test_all_that_differs_has_other_hashes() -> None:
    """A bit anywhere, zeros at the end, another order, another key."""
    data = bytearray(2048)
    contents = [bytes(data[:size]) for size in (0, 1, 2, 1024, 1025, 2048)]
    for bit in range(0, 2048 * 8, 61):
        data[bit // 8] ^= 1 << bit % 8
        contents.append(bytes(data))
        contents.append(bytes(data[::-1]))
    assert len({hash_of(one) for one in contents}) == len(set(contents))
    assert hash_of(b"abc", _secret.words_of(b"")) != hash_of(b"abc")


def test_shape_does_not_matter_and_gaps_are_rejected() -> None:
    """What counts is bytes in order."""
    array = numpy.arange(12, dtype="float32")
    assert hash_of(array.reshape(3, 4)) == hash_of(array) == hash_of(array.tobytes())
    with pytest.raises(ValueError, match="row-major"):
        hash_of(array[::2])
    with pytest.raises(ValueError, match="130 uint64"):
        hash_of(array, KEY[:5])


@pytest.mark.parametrize("before", [None, b"", b"cut off", bytes(33)])
def test_the_secret_of_a_folder(
    before: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made once, for its owner alone, and anew where the file is no secret."""
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    path = tmp_path / "secret"
    if before is not None:
        path.write_bytes(before)
    made = _secret.secret()
    assert path.read_bytes() == made and len(made) == 32
    assert path.stat().st_mode & 0o77 == 0
    _secret._of_folder.cache_clear()
    assert _secret.secret() == made
    assert [one.name for one in tmp_path.iterdir()] == ["secret"]


def test_without_a_folder_there_is_a_secret_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same for all its plans."""
    monkeypatch.setenv("MXNET_CACHE", "0")
    assert _secret.secret() == _secret.secret()
