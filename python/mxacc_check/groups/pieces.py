"""Compiled models in pieces: given out, taken again, and rejected where they are not whole.

These checks belong to the group of graphs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import abi
from ..chains import WEIGHT, Chain, X, expect_equal, infer, loaded, supported
from ..plugin import AccError, tensors
from ..suite import Run
from .graphs import LOADS, group
from .models import key_of

# Name and bytes of each, in order.
Pieces = list[tuple[bytes, bytes]]

ALIGNMENT = 64
# MXAccTakePiece of a Python function, which gives no pointers but addresses.
_TAKE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(abi.MXAccPiece))


def _chain(run: Run) -> Chain:
    """A graph that the library compiles, with a weight if it executes an operator with one."""
    run.need("importModel", "modelKey", "checkModel")
    found = supported(run)
    binary = [name for name in found if Chain([name]).has_weight]
    return Chain(binary[:1] or found[:1])


def _export(run: Run, model: abi.MXAccModel, weights: int = 0, most: int = -1) -> Pieces:
    """The pieces of a model. With `most`, taking one more than that fails."""
    pieces: Pieces = []
    kept = abi.MXAccError(ctypes.sizeof(abi.MXAccError), abi.FAILED, b"there is no more room")

    def take(context: int | None, given: Any) -> int | None:
        if len(pieces) == most:
            return ctypes.addressof(kept)
        piece = given.contents
        data = ctypes.string_at(piece.data, piece.size) if piece.size else b""
        pieces.append((piece.key or b"", data))
        return None

    call = ctypes.cast(_TAKE(take), abi.MXAccTakePiece)
    with run.plugin.guard:
        run.progress.call("exportModel")
        status = model.exportModel(model.state, weights, call, None)
    run.plugin.check("exportModel", status)
    return pieces


def _exported(run: Run, chain: Chain, weights: int = 0) -> Pieces:
    """The pieces of a chain's model; the check is skipped where it is not exported."""
    with loaded(run, chain) as model:
        return exported(run, model, weights)


def exported(run: Run, model: abi.MXAccModel, weights: int) -> Pieces:
    """The pieces of a model; the check is skipped where it is not exported."""
    if not model.exportModel:
        run.skip("models have no exportModel")
    try:
        return _export(run, model, weights)
    except AccError as error:
        if error.code != "unsupported":
            raise
        run.skip(f"models are not exported with weights {weights}: {error.message}")


@contextmanager
def imported(run: Run, key: bytes, pieces: Pieces, weights: list[Any]) -> Iterator[abi.MXAccModel]:
    """A model of pieces, whose data stays until it is unloaded; names and structs do not."""
    model = abi.MXAccModel(ctypes.sizeof(abi.MXAccModel))
    rooms = []
    for _, data in pieces:
        room = np.zeros(len(data) + 2 * ALIGNMENT, "uint8")
        begin = -room.ctypes.data % ALIGNMENT
        room[begin : begin + len(data)] = np.frombuffer(data, "uint8")
        rooms.append((room, room.ctypes.data + begin))
    given = (abi.MXAccPiece * len(pieces))(
        *[
            abi.MXAccPiece(name, address, len(data))
            for (name, data), (_, address) in zip(pieces, rooms, strict=True)
        ]
    )
    arrays = tensors(weights, ["w"] * len(weights)) if weights else None
    run.plugin.call(
        *("importModel", run.device, key, given, len(pieces), arrays, len(weights)),
        ctypes.byref(model),
    )
    try:
        yield model
    finally:
        if model.unloadModel:
            with run.plugin.guard:
                run.progress.call("unloadModel")
                model.unloadModel(model.state)


def _weights_of(chain: Chain) -> list[Any]:
    return [WEIGHT.copy()] if chain.has_weight else []


@group.check("export", "Gives the compiled model out in pieces")
def export(run: Run) -> None:
    """Pieces have names of their own, are the same each time, and end where taking one fails"""
    chain = _chain(run)
    with run.step("names"):
        names = [name for name, _ in _exported(run, chain)]
        run.expect(len(names) > 0, "at least one piece", len(names))
        run.expect(all(names) and len(set(names)) == len(names), "a name of its own each", names)
    with loaded(run, chain) as model:
        with run.step("twice, and a run between"):
            first = _export(run, model)
            expect_equal(run, infer(run, model, X), chain.expected(X))
            second = [name for name, _ in _export(run, model)]
            run.expect(second == names, f"the pieces {names} again", second)
        for most in range(min(len(first), 3)):
            with run.step(f"taking piece {most} fails"):
                code = _error_of(lambda: _export(run, model, most=most))  # noqa: B023
                run.expect(code is not None, "an error", "success")
        with run.step("after that"):
            expect_equal(run, infer(run, model, X), chain.expected(X))


@group.check("import", "Makes a model, the same as loadModel did, of the pieces")
def imports(run: Run) -> None:
    """Imported models compute the same as those that were exported"""
    chain = _chain(run)
    key = key_of(run)
    with loaded(run, chain) as model:
        told = (model.num_in, model.num_out, model.flags)
    for weights in (0, 1):
        with run.step(f"exported with weights {weights}"):
            if weights:
                with loaded(run, chain) as model:
                    code = _error_of(lambda: _export(run, model, 1))  # noqa: B023
                if code == "unsupported":
                    run.note("models are exported without their weights only")
                    continue
            pieces = _exported(run, chain, weights)
            with imported(run, key, pieces, [] if weights else _weights_of(chain)) as model:
                came = (model.num_in, model.num_out, model.flags)
                run.expect(came == told, f"inputs, outputs and flags {told}", came)
                for x in (X, X[::-1].copy()):
                    expect_equal(run, infer(run, model, x), chain.expected(x))
                again = [name for name, _ in _export(run, model)] if model.exportModel else []
                expected = [name for name, _ in pieces]
                if again and not weights:
                    run.expect(again == expected, f"the pieces {expected} of it, too", again)


@group.check("wrong_pieces", "pieces that are missing, too short or not what was exported")
def wrong_pieces(run: Run) -> None:
    """Another key, pieces that are missing, cut, changed or swapped, and other weights: errors"""
    chain = _chain(run)
    key = key_of(run)
    whole = _exported(run, chain)
    weights = _weights_of(chain)
    cases: dict[str, tuple[bytes, Pieces, list[Any]]] = {
        "another key": (b"a key of nobody", whole, weights),
        "no key": (b"", whole, weights),
        "no pieces": (key, [], weights),
        "the pieces twice": (key, whole + whole, weights),
    }
    if len(whole) > 1:
        cases["in another order"] = (key, whole[::-1], weights)
    if weights:
        cases["a weight of another shape"] = (key, whole, [np.zeros((2, 7), "float32")])
        cases["a weight of another type"] = (key, whole, [np.zeros((3, 3), "int8")])
    for number, (name, data) in enumerate(whole):
        others = {"missing": None, "of no bytes": b"", "cut": data[: len(data) // 2]}
        others |= {"a byte longer": data + b"\0"}
        for position in {0, len(data) // 3, len(data) // 2, len(data) - 1} if data else ():
            changed = bytearray(data)
            changed[position] ^= 0x10
            others[f"with byte {position} changed"] = bytes(changed)
        for what, other in others.items():
            if other == data:
                continue
            pieces = [*whole[:number], *whole[number + 1 :]]
            if other is not None:
                pieces.insert(number, (name, other))
            cases[f"piece {name.decode(errors='replace')!r} {what}"] = (key, pieces, weights)
    for case, arguments in cases.items():
        with run.step(case):
            code = _error_of(lambda: _try(run, *arguments))  # noqa: B023
            run.expect(code is not None, "an error", "success")
    with run.step("the right pieces after all that"), imported(run, key, whole, weights) as model:
        expect_equal(run, infer(run, model, X), chain.expected(X))


def _try(run: Run, key: bytes, pieces: Pieces, weights: list[Any]) -> None:
    with imported(run, key, pieces, weights):
        pass


def _error_of(act: Callable[[], object]) -> str | None:
    """The code of the error of a call."""
    try:
        act()
    except AccError as error:
        return error.code
    return None


@group.check("import_again", "Makes a model, the same as loadModel did")
def import_again(run: Run) -> None:
    """Models that are imported and unloaded many times"""
    chain = _chain(run)
    key, pieces = key_of(run), _exported(run, chain)
    with run.step(f"{LOADS} times"):
        for _ in range(LOADS):
            with imported(run, key, pieces, _weights_of(chain)) as model:
                expect_equal(run, infer(run, model, X), chain.expected(X))
