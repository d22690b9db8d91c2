"""nanobind and pybind11, each in three forms.

The column with the plain name converts its arguments to C++ values, which is what the function
boundary does too. The forms "handle" (arguments passed on unconverted) and "args" (any number of
them, in a tuple) are columns of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.compare import cases
from benchmarks.compare.model import Call, Calls
from benchmarks.peers.build import SOURCES, build, load, python_include
from benchmarks.peers.common import (
    MESSAGE,
    catching,
    do_nothing,
    numpy_array,
    require,
    torch_tensor,
)

ZEROS_STATEMENT = "f((3, 4), 'float32', 'cpu(0)')"


def nanobind_root() -> Path:
    """Folder of nanobind's headers and sources; MissingPeer where it is not installed."""
    return Path(require("nanobind").include_dir()).parent


def nanobind_source() -> Path:
    """The file with all of the library that nanobind's modules are linked with."""
    return nanobind_root() / "src" / "nb_combined.cpp"


def nanobind_flags() -> list[str]:
    """What the compiler needs for a module or that file."""
    return [
        f"-I{python_include()}",
        f"-I{nanobind_root() / 'include'}",
        f"-I{nanobind_root() / 'ext' / 'robin_map' / 'include'}",
        "-fno-strict-aliasing",
    ]


def nanobind_calls() -> Calls:
    """nanobind, compiled together with its own sources as its build does."""
    sources = [SOURCES / "nanobind_peer.cpp", nanobind_source()]
    version = require("nanobind").__version__
    path = build("nanobind_peer", sources, nanobind_flags(), version)
    native = load("nanobind_peer", path)
    array = {"nanobind": native.array}
    return binding_calls("nanobind", native) | array_calls(array, array)


def pybind11_calls() -> Calls:
    """pybind11. Only its typed array accepts a tensor, by a conversion through NumPy."""
    pybind11 = require("pybind11")
    flags = [f"-I{python_include()}", f"-I{pybind11.get_include()}"]
    source = SOURCES / "pybind11_peer.cpp"
    path = build("pybind11_peer", [source], flags, pybind11.__version__)
    native = load("pybind11_peer", path)
    typed = {"pybind11": native.array_float}
    return binding_calls("pybind11", native) | array_calls(
        {**typed, "pybind11 handle": native.array, "pybind11 buffer": native.buffer}, typed
    )


def binding_calls(name: str, native: Any) -> Calls:
    """The cases both bindings spell alike, from an extension module of theirs."""

    def forms(statement: str, typed: Any, handle: Any = None) -> dict[str, Call]:
        functions = {name: typed, f"{name} handle": handle, f"{name} args": native.variadic}
        return {key: Call(statement, {"f": f}) for key, f in functions.items() if f is not None}

    callbacks = {name: native.apply_callable, f"{name} function": native.apply_function}
    return {
        cases.NO_ARGUMENTS: forms("f()", native.typed0),
        cases.THREE_INTS: forms("f(1, 2, 3)", native.typed3, native.handle3),
        cases.STRING: forms("f('str')", native.typed_str, native.handle1),
        cases.SHAPE: forms("f((3, 4))", native.typed_shape, native.handle1),
        cases.ZEROS: forms(ZEROS_STATEMENT, native.typed_zeros, native.handle3),
        cases.KEYWORDS: {name: Call("f(a=1, b=2, c=3)", {"f": native.keywords})},
        cases.ECHO: {name: Call("f('str')", {"f": native.echo})},
        cases.CALLBACK: {
            key: Call("f(g)", {"f": f, "g": do_nothing}) for key, f in callbacks.items()
        },
        cases.THROWN: {name: catching(native.throw_error, MESSAGE)},
        cases.RETURNED: {name: catching(native.return_error, MESSAGE)},
    }


def array_calls(numpy_forms: Mapping[str, Any], torch_forms: Mapping[str, Any]) -> Calls:
    """The array cases, for functions by column."""
    inputs = [
        (cases.NUMPY_IN, numpy_array(), numpy_forms),
        (cases.TORCH_IN, torch_tensor(), torch_forms),
    ]
    return {
        case: {column: Call("f(a)", {"f": f, "a": value}) for column, f in forms.items()}
        for case, value, forms in inputs
        if value is not None
    }
