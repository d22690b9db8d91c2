"""Compiled models as pieces: written by a library, read by it again, and what is rejected."""

from __future__ import annotations

import gc
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ffi
import mx
from tests.acc.models.test_models import NODES, X, expected_for, graph_of

key_of = ffi.get_global_func("mx.acc.models.key")
check = ffi.get_global_func("mx.acc.models.check")
Rows = list[tuple[str, int, int]]


@pytest.fixture
def file(tmp_path) -> Iterator[int]:
    """The descriptor of an empty file."""
    descriptor = os.open(tmp_path / "pieces", os.O_RDWR | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


def same(model: Any, ctx: mx.Context) -> None:
    for result, expected in zip(
        model.infer([mx.np.array(X, ctx=ctx)]), expected_for(X), strict=True
    ):
        np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)


def test_comes_back_with_its_weights(load_refacc, file) -> None:
    ctx = load_refacc("pieces")
    graph = graph_of()
    rows = graph.load(ctx, [], []).export(file, 0, weights=True)
    assert [row[0] for row in rows] == ["graph", "wrong", "weight.0", "seal"]
    same(graph.import_model(ctx, key_of(ctx), file, rows, weights=False), ctx)
    few = graph.load(ctx, [], []).export(file, 1 << 16)
    with pytest.raises(ValueError, match="importModel failed: .*weight.0"):
        graph.import_model(ctx, key_of(ctx), file, few, weights=False)


@pytest.mark.parametrize("settings", [{}, {"STREAMS": "1"}, {"THREADS": "one"}])
def test_comes_back(load_refacc, file, settings) -> None:
    ctx = load_refacc("pieces", **settings)
    graph = graph_of()
    model = graph.load(ctx, [], [])
    same(model, ctx)
    rows = model.export(file, 100)
    assert [row[0] for row in rows] == ["graph", "wrong", "seal"]
    assert all(offset % 64 == 0 and offset >= 100 for _, offset, _ in rows)
    assert list(model.export(file, 100)) == list(rows)
    for device in mx.test_utils.list_acc(ctx):
        there = mx.Context("pieces", device)
        again = graph.import_model(there, key_of(there), file, rows)
        assert again.flags == model.flags and again.workspace_bytes == model.workspace_bytes
        same(again, there)
    del model, again
    gc.collect()
    mx.empty_cache(ctx)
    state = ctx.configure(check=1)
    assert (state["violations"], state["compiled"], state["imported"]) == ("0", "1", "1"), state


def flipped(file: int, rows: Rows) -> Rows:
    byte = os.pread(file, 1, rows[0][1] + 40)
    os.pwrite(file, bytes([byte[0] ^ 4]), rows[0][1] + 40)
    return rows


# What is done to the pieces, and what is said.
DAMAGE: dict[str, tuple[Callable[[int, Rows], Rows], str]] = {
    "a bit": (flipped, "is damaged, or of another key"),
    "cut": (lambda file, rows: [(rows[0][0], rows[0][1], rows[0][2] - 1), *rows[1:]], "is damaged"),
    "one lacks": (lambda file, rows: rows[1:], "is damaged"),
    "the last lacks": (lambda file, rows: rows[:-1], "is not whole"),
    "none": (lambda file, rows: [], "has no pieces"),
    "another order": (lambda file, rows: [rows[1], rows[0], rows[2]], "is damaged"),
    "another name": (lambda file, rows: [("Graph", *rows[0][1:]), *rows[1:]], "is damaged"),
    "behind the end": (lambda file, rows: [*rows[:2], ("seal", 1 << 20, 8)], "not in the file"),
    "before the beginning": (lambda file, rows: [("graph", -64, 9), *rows[1:]], "not in the file"),
    "too large": (lambda file, rows: [("graph", 64, 2**63 - 1), *rows[1:]], "not in the file"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_an_error(load_refacc, file, damage) -> None:
    ctx = load_refacc("pieces")
    graph = graph_of()
    change, said = DAMAGE[damage]
    rows = change(file, list(graph.load(ctx, [], []).export(file, 0)))
    with pytest.raises(ValueError, match=said):
        graph.import_model(ctx, key_of(ctx), file, rows)


def test_other_keys_and_graphs(load_refacc, file) -> None:
    ctx = load_refacc("pieces")
    graph = graph_of()
    rows = graph.load(ctx, [], []).export(file, 0)
    with pytest.raises(ValueError, match="importModel failed: compiled models of foo do not fit"):
        graph.import_model(ctx, "foo", file, rows)
    # It is checked against the graph, too: one output less, and a weight of another shape.
    with pytest.raises(RuntimeError, match="importModel gave 1 inputs and 2 outputs"):
        graph_of(outputs=("y", "r", "h")).import_model(ctx, key_of(ctx), file, rows)
    other = ffi.get_class("mx.acc.ModelGraph")("{}", len(NODES), b"")
    with mx.cpu():
        other.add_weight("w", mx.np.zeros((4, 3)), "")
    with pytest.raises(ValueError, match=r"weight 'w', float32 \(4, 3\), that is"):
        other.import_model(ctx, key_of(ctx), file, rows)
    # A graph that is compiled otherwise has another key.
    before = key_of(ctx)
    ctx.configure(wrong="Relu")
    assert key_of(ctx) != before and check(ctx, before) == "does not fit"


FAULTS = {
    "exportModel": "exportModel failed: the fault",
    "exportPiece@2": "exportModel failed: the fault that was asked for at exportPiece",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_export_that_fails(load_refacc, file, fault) -> None:
    ctx = load_refacc("pieces")
    model = graph_of().load(ctx, [], [])
    ctx.configure(faults=fault)
    with pytest.raises(RuntimeError, match=FAULTS[fault]):
        model.export(file, 0)
    ctx.configure(faults="")
    same(model, ctx)
    assert len(model.export(file, 0)) == 3


def test_an_import_that_fails(load_refacc, file) -> None:
    ctx = load_refacc("pieces", FAULTS="importModel@1=memory")
    graph = graph_of()
    rows = graph.load(ctx, [], []).export(file, 0)
    with pytest.raises(MemoryError, match="importModel"):
        graph.import_model(ctx, key_of(ctx), file, rows)
    same(graph.import_model(ctx, key_of(ctx), file, rows), ctx)


def test_a_disk_that_is_full(load_refacc, file) -> None:
    model = graph_of().load(load_refacc("pieces"), [], [])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        with pytest.raises(OSError, match="cannot be written: File too large"):
            model.export(file, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with pytest.raises(OSError, match="cannot be written: Bad file descriptor"):
        model.export(-1, 0)


@pytest.mark.parametrize(("verdict", "said"), [("fits", "fits"), ("recompile", "recompile")])
def test_verdicts(load_refacc, verdict, said) -> None:
    assert check(load_refacc("pieces", VERDICT=verdict), "any key") == said


# What no library may give: the body of exportModel, and what MXNet says.
BAD_PIECES = {
    "no piece": ("return take(context, NULL);", "NULL for a piece"),
    "no name": ('MXAccPiece p = {"", "x", 1}; return take(context, &p);', "a piece with no name"),
    "a name twice": (
        'MXAccPiece p = {"a", "x", 1}; take(context, &p); return take(context, &p);',
        "the name of another, a",
    ),
    "no data": (
        'MXAccPiece p = {"a", NULL, 8}; return take(context, &p);',
        "the data of the piece",
    ),
    "no matter what it is told": ("take(context, NULL); return NULL;", "NULL for a piece"),
}
LIBRARY = Path(__file__).parents[3] / "accelerators" / "template" / "mymodel.c"


@pytest.mark.parametrize("case", BAD_PIECES)
def test_pieces_that_are_none(compile_library, tmp_path, file, case) -> None:
    body, said = BAD_PIECES[case]
    source = LIBRARY.read_text().replace(
        "static MXAccStatus LoadModel(",
        "static MXAccStatus Export(void* s, int32_t w, MXAccTakePiece take, void* context) "
        f"{{ {body} }}\nstatic MXAccStatus LoadModel(",
    )
    source = source.replace("out->infer = Infer;", "out->infer = Infer; out->exportModel = Export;")
    ctx = mx.load_acc(compile_library(tmp_path, source), "badpieces")
    try:
        graph = ffi.get_class("mx.acc.ModelGraph")('{"operator": "Relu"}', 1, b"")
        graph.add_input("x", "float32", [2, 3], ["", ""])
        graph.add_output("y", "float32", [2, 3], ["", ""])
        model = graph.load(ctx, [], [])
        with pytest.raises(RuntimeError, match=said):
            model.export(file, 0)
        del model
        gc.collect()
    finally:
        mx.unload_acc("badpieces")
