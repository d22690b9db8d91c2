"""tvm-ffi in two columns: as it comes (it releases the GIL), and with release_gil=False."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.compare import cases
from benchmarks.compare.model import Attribute, Call, Calls, attribute
from benchmarks.peers.build import SOURCES, MissingPeer, build
from benchmarks.peers.common import (
    MESSAGE,
    catching,
    container_calls,
    do_nothing,
    echo_calls,
    numpy_array,
    optional,
    require,
    torch_tensor,
)

DEFAULT = "tvm-ffi"
HELD = "tvm-ffi, GIL held"


def calls() -> Calls:
    """The cases of both columns."""
    tvm_ffi = require("tvm_ffi")
    tables = {DEFAULT: column(tvm_ffi, None), HELD: column(tvm_ffi, False)}
    return {case: {name: table[case] for name, table in tables.items()} for case in tables[DEFAULT]}


def value_calls() -> Calls:
    """Objects, containers and texts, with the GIL held; each conversion is its fastest form."""
    tvm_ffi = require("tvm_ffi")
    testing = require("tvm_ffi.testing")
    echo = in_module(tvm_ffi, "testing.echo", False)
    apply = in_module(tvm_ffi, "testing.apply", False)
    containers = attribute("tvm_ffi.Array", tvm_ffi), attribute("tvm_ffi.Map", tvm_ffi)
    table = {
        **echo_calls(echo, testing.TestIntPair(1, 2)),
        **container_calls(*containers, "dict(x.items())"),
        cases.CALLBACK: Call("f(g)", {"f": apply, "g": tvm_ffi.convert(do_nothing)}),
    }
    return {case: {HELD: call} for case, call in table.items()}


def column(tvm_ffi: Any, release_gil: bool | None) -> dict[str, Call]:
    """The cases with functions of one kind."""

    def found(name: str) -> Attribute:
        return in_module(tvm_ffi, name, release_gil)

    nop = {"f": found("testing.nop")}
    # tvm-ffi has no call that returns an error by code and skips its machinery of a thrown one, so
    # both error cases have the thrown one to compare with.
    error = catching(found("testing.test_raise_error"), "ValueError", MESSAGE)
    zeros = "f((3, 4), 'float32', 'cpu(0)')"
    return {
        cases.NO_ARGUMENTS: Call("f()", nop),
        cases.THREE_INTS: Call("f(1, 2, 3)", nop),
        cases.STRING: Call("f('str')", nop),
        cases.SHAPE: Call("f((3, 4))", nop),
        cases.ZEROS: Call(zeros, nop),
        cases.KEYWORDS: Call("f(a=1, b=2, c=3)", {"f": with_keywords(nop["f"])}),
        cases.ECHO: Call("f('str')", {"f": found("testing.echo")}),
        cases.CALLBACK: Call(
            "f(g)", {"f": found("testing.apply"), "g": tvm_ffi.convert(do_nothing)}
        ),
        cases.THROWN: error,
        cases.RETURNED: error,
        **typed_call(tvm_ffi, zeros, release_gil),
        **array_calls(tvm_ffi, nop),
    }


def in_module(tvm_ffi: Any, name: str, release_gil: bool | None) -> Attribute:
    """A registered function as its init_ffi_api gives it to a module."""
    return held(tvm_ffi.get_global_func(name), release_gil)


def held(function: Any, release_gil: bool | None) -> Attribute:
    """A function in a module of its own."""
    if release_gil is not None:
        function.release_gil = release_gil
    module = ModuleType("module")
    module.f = function  # type: ignore[attr-defined]
    return attribute("module.f", module)


def array_calls(tvm_ffi: Any, nop: dict[str, Any]) -> dict[str, Call]:
    """Arrays as arguments, and NumPy's dtype; what is not installed is left out."""
    table = {}
    array, tensor, numpy = numpy_array(), torch_tensor(), optional("numpy")
    if numpy is not None:
        names = {**nop, "dtype": numpy.dtype("float32")}
        table[cases.ZEROS_NUMPY_DTYPE] = Call("f((3, 4), dtype, 'cpu(0)')", names)
        table[cases.NUMPY_IN] = Call("f(a)", {**nop, "a": array})
        table[cases.OWN_IN] = Call("f(a)", {**nop, "a": tvm_ffi.from_dlpack(array)})
    if tensor is not None:
        table[cases.TORCH_IN] = Call("f(a)", {**nop, "a": tensor})
    return table


def with_keywords(function: Attribute) -> Attribute:
    """tvm-ffi's own wrapper, with the signature of our testing.keywords_nop."""
    from tvm_ffi.utils.kwargs_wrapper import make_kwargs_wrapper

    return held(make_kwargs_wrapper(function.value, ["a", "b", "c", "d"], (2, 3, None)), None)


def library(tvm_ffi: Any) -> Any:
    """A module of typed functions; MissingPeer without a compiler."""
    from tvm_ffi import libinfo

    runtime = Path(libinfo.find_libtvm_ffi())
    flags = [*(f"-I{path}" for path in libinfo.include_paths()), str(runtime)]
    flags.append(f"-Wl,-rpath,{runtime.parent}")
    source = SOURCES / "tvm_ffi_peer.cc"
    return tvm_ffi.load_module(str(build("tvm_ffi_peer", [source], flags, tvm_ffi.__version__)))


def work() -> Any:
    """The module's function that computes; tvm-ffi releases the GIL unless told otherwise."""
    return library(require("tvm_ffi")).work


def typed_call(tvm_ffi: Any, statement: str, release_gil: bool | None) -> dict[str, Call]:
    """The call of the typed function; nothing without a compiler."""
    try:
        function = library(tvm_ffi).typed_zeros
    except MissingPeer:
        return {}
    return {cases.ZEROS_PARSED: Call(statement, {"f": held(function, release_gil)})}
