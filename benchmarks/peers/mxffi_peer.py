"""This project: the argument cases, and the NumPy workloads of its front end."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.compare import cases
from benchmarks.compare.model import OURS, Attribute, Call, Calls, attribute
from benchmarks.peers.build import SOURCES, MissingPeer
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

BUILT_IN = "built in"


def calls() -> Calls:
    """The argument cases through whichever path `ffi.backend` names."""
    ffi = require("ffi")
    nop = {"f": built_in("nop")}
    throw, by_code = built_in("throw_error"), built_in("return_error")
    table = {
        cases.NO_ARGUMENTS: Call("f()", nop),
        cases.THREE_INTS: Call("f(1, 2, 3)", nop),
        cases.STRING: Call("f('str')", nop),
        cases.SHAPE: Call("f((3, 4))", nop),
        cases.ZEROS: Call("f((3, 4), 'float32', 'cpu(0)')", nop),
        cases.KEYWORDS: Call("f(a=1, b=2, c=3)", {"f": built_in("keywords_nop")}),
        cases.ECHO: Call("f('str')", {"f": built_in("echo")}),
        cases.CALLBACK: Call("f(g)", {"f": built_in("call"), "g": ffi.convert(do_nothing)}),
        cases.THROWN: catching(throw, "ValueError", MESSAGE),
        cases.RETURNED: catching(by_code, "ValueError", MESSAGE),
        **typed_call(),
        **array_calls(nop),
    }
    return {case: {OURS: call} for case, call in table.items()}


def library() -> Any:
    """The library outside the package, built and loaded as users do; MissingPeer if it fails."""
    cpp = require("ffi").cpp
    try:
        return cpp.load_inline("benchmarks", SOURCES / "mxffi_peer.cc", extra_cflags=["-O3"])
    except cpp.BuildError as error:
        raise MissingPeer(str(error)) from error


def work() -> Any:
    """That library's function that computes with the GIL released."""
    return library().work


@cache
def runtime() -> Any:
    """The runtime as a library whose functions are typed as those of a user's are."""
    ffi = require("ffi")
    folder = Path(ffi.__file__).parent / "lib"
    return ffi.load_library(folder / "libmxnet_runtime.so")


def testing() -> Any:
    """The library that the tests load, too."""
    require("ffi")
    from tests import library

    return library.load()


def built_in(name: str) -> Attribute:
    """The function `ffi.<name>` of the runtime, or `testing.<name>` of the tests' library."""
    if name in ("echo", "call"):
        return Attribute(f"library.{name}", runtime(), runtime()[f"ffi.{name}"])
    return Attribute(f"library.{name}", testing(), testing()[f"testing.{name}"])


def typed_call() -> dict[str, Call]:
    """A typed C++ function of that library; nothing without a compiler."""
    try:
        function = attribute("library.typed_zeros", library())
    except MissingPeer:
        return {}
    return {cases.ZEROS_PARSED: Call("f((3, 4), 'float32', 'cpu(0)')", {"f": function})}


def library_calls() -> Calls:
    """The same bodies in two columns: those built before, and those of that library."""
    built = library()
    tables = {
        BUILT_IN: twice_built(lambda name: built_in(name).value),
        OURS: twice_built(lambda name: built[f"benchmarks.{name}"]),
    }
    return {
        case: {column: table[case] for column, table in tables.items()} for case in cases.LIBRARY
    }


def twice_built(found: Callable[[str], Any]) -> dict[str, Call]:
    """Calls of the functions that both libraries have, looked up by `found`."""
    nop = {"f": found("nop")}
    return {
        cases.NO_ARGUMENTS: Call("f()", nop),
        cases.THREE_INTS: Call("f(1, 2, 3)", nop),
        cases.STRING: Call("f('str')", nop),
        cases.SHAPE: Call("f((3, 4))", nop),
        cases.ZEROS: Call("f((3, 4), 'float32', 'cpu(0)')", nop),
        cases.KEYWORDS: Call("f(a=1, b=2, c=3)", {"f": found("keywords_nop")}),
        cases.ECHO: Call("f('str')", {"f": found("echo")}),
    }


def array_calls(nop: dict[str, Any]) -> dict[str, Call]:
    """Arrays as arguments, and NumPy's dtype; what is not installed is left out."""
    table = {}
    array, tensor = numpy_array(), torch_tensor()
    numpy = optional("numpy")
    if numpy is not None:
        names = {**nop, "dtype": numpy.dtype("float32")}
        table[cases.ZEROS_NUMPY_DTYPE] = Call("f((3, 4), dtype, 'cpu(0)')", names)
        table[cases.NUMPY_IN] = Call("f(a)", {**nop, "a": array})
    if tensor is not None:
        table[cases.TORCH_IN] = Call("f(a)", {**nop, "a": tensor})
    return table


def value_calls() -> Calls:
    """Objects, containers and texts."""
    ffi = require("ffi")
    table = {
        **echo_calls(built_in("echo"), testing()["testing.Counter"](1)),
        **container_calls(attribute("ffi.Array", ffi), attribute("ffi.Map", ffi)),
        cases.CALLBACK: Call("f(g)", {"f": built_in("call"), "g": ffi.convert(do_nothing)}),
    }
    return {case: {OURS: call} for case, call in table.items()}


def own_array_calls() -> Calls:
    """An array of the front end as an argument."""
    mx = require("mx")
    names = {"f": built_in("nop"), "a": mx.np.ones((2, 2))}
    return {cases.OWN_IN: {OURS: Call("f(a)", names)}}


def workload_calls() -> Calls:
    """The workloads on small arrays."""
    mx = require("mx")
    zeros = {"f": attribute("mx.np.zeros", mx)}
    small = {
        cases.NP_ZEROS: Call("f((3, 4))", zeros),
        cases.NP_ZEROS_DTYPE: Call("f((3, 4), dtype='float64')", zeros),
        cases.NP_ZEROS_CTX: Call(
            "f((3, 4), dtype='float64', ctx=context)", {**zeros, "context": mx.cpu(0)}
        ),
        cases.NP_ZEROS_CTX_MADE: Call(
            "f((3, 4), dtype='float64', ctx=mx.cpu(0))", {**zeros, "mx": mx}
        ),
        cases.NP_ZEROS_CTX_STRING: Call("f((3, 4), dtype='float64', ctx='cpu(0)')", zeros),
        cases.NP_TENSORDOT: Call(
            "f(a, b, ((1, 0), (0, 1)))",
            {
                "f": attribute("mx.np.tensordot", mx),
                "a": mx.np.ones((2, 3, 4)),
                "b": mx.np.ones((3, 2, 5)),
            },
        ),
        cases.NP_ADD: Call("a + b", {"a": mx.np.ones((2, 2)), "b": mx.np.ones((2, 2))}),
    }
    return {case: {OURS: call} for case, call in small.items()}


def large_calls(size: int) -> Calls:
    """The products of two square matrices."""
    mx = require("mx")
    names = {"a": mx.np.ones((size, size)), "b": mx.np.ones((size, size))}
    return {
        cases.NP_MATMUL_LARGE: {OURS: Call("f(a, b)", {"f": mx.np.matmul, **names})},
        cases.NP_TENSORDOT_LARGE: {OURS: Call("f(a, b, 1)", {"f": mx.np.tensordot, **names})},
    }
