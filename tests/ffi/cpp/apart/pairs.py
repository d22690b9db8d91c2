"""A program that loads two libraries, pair after pair, each in a process of its own."""

import ctypes
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable

import ffi


def error_of(call: Callable[..., object], *args: object) -> str:
    try:
        call(*args)
    except TypeError as error:
        return str(error)
    raise AssertionError("nothing was raised")


def check_without_provider(right: ffi.Module) -> None:
    """What a library says of classes and enums that another would have to register."""
    missing = "no library that is loaded registers"
    assert f"expected geo.Vertex ({missing} the class geo.Vertex), got int" in error_of(
        right.moved, 1
    )
    assert f"{missing} the class geo.Vertex" in error_of(right.made)
    assert f"{missing} the enum geo.Side" in error_of(right.other, "LEFT")


def check_own_types(left: ffi.Module, right: ffi.Module) -> None:
    """Types of one name in both libraries have nothing to do with each other."""
    assert left.mode("FAST") is ffi.get_enum("left.Mode").FAST
    assert right.mode("ROUNDED") is ffi.get_enum("right.Mode").ROUNDED
    assert [mode.name for mode in ffi.get_enum("right.Mode")] == ["EXACT", "ROUNDED"]
    turned = left.turned(ffi.get_class("left.Point")(1.0, 2.0))
    assert (type(turned), turned.x, turned.y) == (ffi.get_class("left.Point"), -2.0, 1.0)
    renamed = right.renamed(ffi.get_class("right.Point")("a"))
    assert (type(renamed), renamed.name) == (ffi.get_class("right.Point"), "a'")
    assert error_of(right.renamed, turned).endswith("expected right.Point, got left.Point")


def check_shared_types(left: ffi.Module, right: ffi.Module) -> None:
    """What one declares and the other registers goes both ways."""
    vertex = left.vertex(1.5)
    moved = right.moved(vertex)
    assert (type(moved), moved.x, vertex.x) == (ffi.get_class("geo.Vertex"), 2.5, 1.5)
    assert right.same(vertex) is vertex
    assert left.x(right.moved(moved)) == 3.5
    assert type(right.made()) is type(vertex)
    assert inspect.signature(right.moved).parameters["vertex"].annotation == "geo.Vertex"
    assert error_of(right.moved, ffi.get_class("left.Point")(1.0, 2.0)).endswith(
        "expected geo.Vertex, got left.Point"
    )
    assert right.other("LEFT") is ffi.get_enum("geo.Side").RIGHT
    assert right.other(ffi.get_enum("geo.Side").RIGHT) is ffi.get_enum("geo.Side").LEFT


def check_pair(paths: dict[str, str], order: list[str], everywhere: bool) -> None:
    loaded = {}
    for name in order:
        if everywhere:
            ctypes.CDLL(paths[name], ctypes.RTLD_GLOBAL)
        loaded[name] = ffi.load_library(paths[name])
        if order[0] == name == "right":
            check_without_provider(loaded[name])
    check_own_types(loaded["left"], loaded["right"])
    check_shared_types(loaded["left"], loaded["right"])


def fails(pair: dict[str, object]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            check_pair(**pair)  # type: ignore[arg-type]
            os._exit(0)
        except BaseException:
            print(f"{pair}:\n{traceback.format_exc()}", flush=True)
            os._exit(1)
    return os.waitpid(child, 0)[1] != 0


if __name__ == "__main__":
    sys.exit(sum([fails(pair) for pair in json.load(sys.stdin)]))
