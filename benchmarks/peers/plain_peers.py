"""ctypes and cffi, calling plain C functions the way their manuals do."""

from __future__ import annotations

import contextlib
import ctypes
import io
import re
from typing import Any

from benchmarks.compare import cases
from benchmarks.compare.model import Call, Calls, attribute
from benchmarks.peers.build import SOURCES, build, load, python_include
from benchmarks.peers.common import do_nothing, numpy_array, require

ARRAY_TYPES = {
    "nop_shape": [ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t],
    "nop_zeros": [
        ctypes.POINTER(ctypes.c_int64),
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_char_p,
    ],
}


def ctypes_calls() -> Calls:
    """ctypes with argtypes set. It converts no tuple, so the call itself makes the array."""
    library = ctypes.CDLL(
        str(build("plain_peer", [SOURCES / "plain_peer.c"], ["-fvisibility=default"]))
    )
    callback_type = ctypes.CFUNCTYPE(None)
    signatures: dict[str, list[Any]] = {
        "nop0": [],
        "nop3": [ctypes.c_int64] * 3,
        "nop_str": [ctypes.c_char_p],
        "echo": [ctypes.c_char_p],
        "apply": [callback_type],
        **ARRAY_TYPES,
    }
    for name, types in signatures.items():
        getattr(library, name).argtypes = types
        getattr(library, name).restype = ctypes.c_char_p if name == "echo" else None
    pair = {"pair": ctypes.c_int64 * 2}
    table = {
        cases.NO_ARGUMENTS: Call("f()", {"f": attribute("library.nop0", library)}),
        cases.THREE_INTS: Call("f(1, 2, 3)", {"f": attribute("library.nop3", library)}),
        cases.STRING: Call("f(b'str')", {"f": attribute("library.nop_str", library)}),
        cases.SHAPE: Call(
            "f(pair(3, 4), 2)", {"f": attribute("library.nop_shape", library), **pair}
        ),
        cases.ZEROS: Call(
            "f(pair(3, 4), 2, b'float32', b'cpu(0)')",
            {"f": attribute("library.nop_zeros", library), **pair},
        ),
        cases.ECHO: Call("f(b'str')", {"f": attribute("library.echo", library)}),
        cases.CALLBACK: Call(
            "f(g)", {"f": attribute("library.apply", library), "g": callback_type(do_nothing)}
        ),
    }
    table |= ctypes_array_call(library)
    return {case: {"ctypes": call} for case, call in table.items()}


def ctypes_array_call(library: ctypes.CDLL) -> dict[str, Call]:
    """A NumPy array through numpy.ctypeslib, the documented way; nothing without NumPy."""
    array = numpy_array()
    if array is None:
        return {}
    from numpy.ctypeslib import ndpointer

    function = library.nop_array
    function.argtypes = [ndpointer("float32", flags="C_CONTIGUOUS"), ctypes.c_size_t]
    function.restype = None
    return {
        cases.NUMPY_IN: Call(
            "f(a, a.size)", {"f": attribute("library.nop_array", library), "a": array}
        )
    }


def cffi_module() -> Any:
    """cffi's fastest form: an extension module it generates and this compiles."""
    cffi = require("cffi")
    declarations = (SOURCES / "plain_peer.h").read_text()
    declarations = re.sub(r"/\*.*?\*/|^#[^\n]*$", "", declarations, flags=re.DOTALL | re.M)
    builder = cffi.FFI()
    builder.cdef(declarations + 'extern "Python" void callback(void);')
    builder.set_source("cffi_peer", '#include "plain_peer.h"')
    generated = SOURCES.parents[1] / "build" / "benchmarks" / "cffi_peer.c"
    generated.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.redirect_stdout(io.StringIO()):  # it announces the file it writes
        builder.emit_c_code(str(generated))
    flags = [f"-I{python_include()}", f"-I{SOURCES}"]
    sources = [generated, SOURCES / "plain_peer.c"]
    return load("cffi_peer", build("cffi_peer", sources, flags, cffi.__version__))


def cffi_calls() -> Calls:
    """cffi, which makes the integer array of a tuple itself."""
    module = cffi_module()
    ffi, lib = module.ffi, module.lib
    ffi.def_extern(name="callback")(do_nothing)
    table = {
        cases.NO_ARGUMENTS: Call("f()", {"f": attribute("lib.nop0", lib)}),
        cases.THREE_INTS: Call("f(1, 2, 3)", {"f": attribute("lib.nop3", lib)}),
        cases.STRING: Call("f(b'str')", {"f": attribute("lib.nop_str", lib)}),
        cases.SHAPE: Call("f((3, 4), 2)", {"f": attribute("lib.nop_shape", lib)}),
        cases.ZEROS: Call(
            "f((3, 4), 2, b'float32', b'cpu(0)')", {"f": attribute("lib.nop_zeros", lib)}
        ),
        cases.ECHO: Call(
            "s(f(b'str'))", {"f": attribute("lib.echo", lib), "s": attribute("ffi.string", ffi)}
        ),
        cases.CALLBACK: Call("f(g)", {"f": attribute("lib.apply", lib), "g": lib.callback}),
    }
    array = numpy_array()
    if array is not None:
        names = {
            "f": attribute("lib.nop_array", lib),
            "a": array,
            "from_buffer": attribute("ffi.from_buffer", ffi),
        }
        table[cases.NUMPY_IN] = Call("f(from_buffer('float[]', a), a.size)", names)
    return {case: {"cffi": call} for case, call in table.items()}
