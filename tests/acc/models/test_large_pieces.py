"""Pieces of compiled models that have several checksums: damage anywhere is found."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mx
from mx.cache import FileError, _file
from tests.acc.models import test_models
from tests.acc.models.test_model_pieces import key_of

BLOCK = _file._BLOCK
# Bytes of a piece, and those of them that are changed.
SIZES = {
    "none": (0, []),
    "one byte": (1, [0]),
    "less than a block": (BLOCK - 1, [0, BLOCK - 2]),
    "a block": (BLOCK, [0, BLOCK - 1]),
    "a byte more": (BLOCK + 1, [0, BLOCK - 1, BLOCK]),
    "some blocks": (3 * BLOCK + 5, [0, BLOCK, 2 * BLOCK - 1, 3 * BLOCK, 3 * BLOCK + 4]),
}


def flip(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        (byte,) = os.pread(file.fileno(), 1, offset)
        os.pwrite(file.fileno(), bytes([byte ^ 4]), offset)


@pytest.mark.parametrize("processors", [1, 2, 3, 100])
@pytest.mark.parametrize(("size", "changed"), SIZES.values(), ids=SIZES)
def test_files(tmp_path, monkeypatch, size, changed, processors) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    path, data = tmp_path / "pieces", np.random.default_rng(size).bytes(size)

    def write(writer: _file.PieceWriter) -> dict[str, Any]:
        writer.add("one", data)
        return {}

    _file.write_whole(str(path), f"{path}.part", write)
    with _file.PieceFile(path) as file:
        file.check()
        assert file.data("one") == data
        for offset in changed:
            flip(path, file.rows["one"].offset + offset)
            with pytest.raises(FileError, match="is damaged: the piece 'one' has changed"):
                file.check()
            flip(path, file.rows["one"].offset + offset)
        file.check()


@pytest.mark.parametrize("most", [0, 1])
def test_files_where_the_system_has_no_more_threads(monkeypatch, tmp_path, most) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(np.random.default_rng(0).bytes(3 * BLOCK))
    start, started = threading.Thread.start, []

    def limited(thread: threading.Thread) -> None:
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr("os.cpu_count", lambda: 3)
    with path.open("rb") as file:
        expected = _file._checksums(file.fileno(), 0, 3 * BLOCK)
        monkeypatch.setattr(threading.Thread, "start", limited)
        assert _file._checksums(file.fileno(), 0, 3 * BLOCK) == expected
    assert len(started) == most


def test_seals(load_refacc, tmp_path, monkeypatch) -> None:
    """Those that libraries of the SDK put beside their pieces."""
    weight = np.ones((1024, 2 * BLOCK // 4096 + 8), "float32")
    monkeypatch.setattr(test_models, "WEIGHT", weight)
    columns = weight.shape[1]
    shapes = {"x": [1, 1024], "w": list(weight.shape)}
    shapes |= {name: [1, columns] for name in "hry"}
    ctx, graph, path = load_refacc("large"), test_models.graph_of(shapes=shapes), tmp_path / "p"
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        rows = graph.load(ctx, [], []).export(file, 0, weights=True)
        (at,) = [row[1] for row in rows if row[0] == "weight.0"]

        def imported() -> mx.np.ndarray:
            model = graph.import_model(ctx, key_of(ctx), file, rows, weights=False)
            return model.infer([mx.np.ones((1, 1024), ctx=ctx)])[1]

        for offset in (0, BLOCK - 1, BLOCK, 2 * BLOCK + 1, weight.nbytes - 1):
            flip(path, at + offset)
            with pytest.raises(ValueError, match="is damaged"):
                imported()
            flip(path, at + offset)
        assert imported().tolist() == [[1024] * columns]
    finally:
        os.close(file)
