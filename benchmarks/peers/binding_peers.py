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
from benchmarks.compare.model import Attribute, Call, Calls, attribute
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
    array = {"nanobind": attribute("module.array", native)}
    return binding_calls("nanobind", native) | array_calls(array, array)


def pybind11_calls() -> Calls:
    """pybind11. Only its typed array accepts a tensor, by a conversion through NumPy."""
    pybind11 = require("pybind11")
    flags = [f"-I{python_include()}", f"-I{pybind11.get_include()}"]
    source = SOURCES / "pybind11_peer.cpp"
    path = build("pybind11_peer", [source], flags, pybind11.__version__)
    native = load("pybind11_peer", path)
    typed = {"pybind11": attribute("module.array_float", native)}
    others = {
        "pybind11 handle": attribute("module.array", native),
        "pybind11 buffer": attribute("module.buffer", native),
    }
    return binding_calls("pybind11", native) | array_calls({**typed, **others}, typed)


def binding_calls(name: str, native: Any) -> Calls:
    """The cases both bindings spell alike, from an extension module of theirs."""

    def function(attribute_name: str) -> Attribute:
        return attribute(f"module.{attribute_name}", native)

    def forms(statement: str, typed: str, handle: str | None = None) -> dict[str, Call]:
        found = {name: typed, f"{name} handle": handle, f"{name} args": "variadic"}
        return {key: Call(statement, {"f": function(f)}) for key, f in found.items() if f}

    callbacks = {name: "apply_callable", f"{name} function": "apply_function"}
    return {
        cases.NO_ARGUMENTS: forms("f()", "typed0"),
        cases.THREE_INTS: forms("f(1, 2, 3)", "typed3", "handle3"),
        cases.STRING: forms("f('str')", "typed_str", "handle1"),
        cases.SHAPE: forms("f((3, 4))", "typed_shape", "handle1"),
        cases.ZEROS: forms(ZEROS_STATEMENT, "typed_zeros", "handle3"),
        cases.KEYWORDS: {name: Call("f(a=1, b=2, c=3)", {"f": function("keywords")})},
        cases.ECHO: {name: Call("f('str')", {"f": function("echo")})},
        cases.CALLBACK: {
            key: Call("f(g)", {"f": function(f), "g": do_nothing}) for key, f in callbacks.items()
        },
        cases.THROWN: {name: catching(function("throw_error"), MESSAGE)},
        cases.RETURNED: {name: catching(function("return_error"), MESSAGE)},
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
