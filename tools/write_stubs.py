"""Writes the type stubs of mx, whose functions `python -m ffi stubgen` would write alike.

`python tools/write_stubs.py && make format`, after a change to what an operator is described as.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ffi
from ffi import stubgen
from ffi.stubgen.classes import list_class_keys
from ffi.stubgen.modules import NOTICE as MODULE_NOTICE
from mx import _dtypes, _onednn
from mx._registry import EXTENSION, NUMPY, Namespace
from mx.ndarray._install import MEMBERS
from mx.numpy import _functions

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "mx"
NOTICE = "# Written by tools/write_stubs.py from the descriptions in the registry; do not edit."
CLASS_HEAD = """
from builtins import bool as _bool
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy
from numpy.typing import ArrayLike as _NumPyArrayLike
from numpy.typing import DTypeLike

import ffi
from ffi import Context

__all__ = ["ndarray"]

ArrayLike: TypeAlias = _NumPyArrayLike | ffi.NDArray

class ndarray(ffi.NDArray):
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
"""
NAMESPACE_HEAD = """
from builtins import bool as _bool
from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from ffi import Context

from ..ndarray import ArrayLike
from ..ndarray import ndarray as ndarray

pi: float
e: float
euler_gamma: float
inf: float
nan: float
newaxis: None
bfloat16: Any
"""
EXTENSION_HEAD = """
from numpy.typing import DTypeLike

from ..ndarray import ArrayLike, ndarray
"""

BINARY = "(self, other: ArrayLike, /) -> ndarray: ..."
# What the operators give, which their Python code does not say.
SIGNATURES = {
    "__eq__": "(self, other: object, /) -> ndarray: ...  # type: ignore[override]",
    "__ne__": "(self, other: object, /) -> ndarray: ...  # type: ignore[override]",
    "__iter__": "(self) -> Iterator[ndarray]: ...",
    "__getitem__": "(self, key: Any, /) -> ndarray: ...",
    "__pow__": BINARY,
    "__divmod__": "(self, other: ArrayLike, /) -> tuple[ndarray, ndarray]: ...",
    "__rdivmod__": "(self, other: ArrayLike, /) -> tuple[ndarray, ndarray]: ...",
}


# The heads above import what descriptions mention. `bool` means Python's, which mx.np.bool hides.
NAMES = ("Any", "ArrayLike", "Context", "DTypeLike", "Sequence", "ndarray")
OWN = {name: name for name in NAMES} | {"bool": "_bool", "numpy.dtype": "numpy.dtype"}
EXPRESSIONS = stubgen.Expressions(own=OWN)


def shown_type(described: str | None) -> str:
    """A type expression of a description."""
    return EXPRESSIONS.rewrite(described)


def method(name: str, function: ffi.Function) -> str:
    """A function whose first parameter is the array."""
    others = stubgen.parameters(function.info, EXPRESSIONS, front_end=True, skip=1)
    shown = ", ".join(["self", *([others] if others else [])])
    return f"    def {name}({shown}) -> {shown_type(function.info.returns)}: ..."


def member(name: str, value: Any) -> str:
    """One member of the array class."""
    if isinstance(value, property):
        setter = f"\n    @{name}.setter\n    def {name}(self, value: Any) -> None: ..."
        return f"    @property\n    def {name}(self) -> Any: ...{setter if value.fset else ''}"
    if name in SIGNATURES:
        return f"    def {name}{SIGNATURES[name]}"
    if isinstance(value, ffi.Function):
        return method(name, value)
    shown = inspect.signature(value)
    if list(shown.parameters) == ["self", "other"] and name.startswith("__"):
        return f"    def {name}{BINARY}"
    plain = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(shown)).replace("self: Any", "self")
    unhidden = re.sub(r"\bbool\b", "_bool", plain)
    return f"    def {name}{unhidden}: ..."


def ndarray_stub() -> Iterator[str]:
    """The lines of the stub of mx.ndarray."""
    yield NOTICE + CLASS_HEAD
    yield "    __hash__ = None  # type: ignore[assignment]"
    yield from (member(name, value) for name, value in MEMBERS.items() if value is not None)


def numpy_stub() -> Iterator[str]:
    """The lines of the stub of mx.np."""
    imported = [f"from numpy import {name} as {name}" for name in _dtypes.SCALAR_TYPES]
    imported += [f"from ._functions import {name} as {name}" for name in _functions.__all__]
    head, constants = NAMESPACE_HEAD.split("\n\npi")
    yield "\n".join([NOTICE + head, *imported, "\npi" + constants])
    yield from functions(NUMPY)


def functions(namespace: Namespace) -> Iterator[str]:
    """The lines about the operators of a namespace."""
    public = namespace.public_functions()
    aliases = {name: namespace.aliases[name] for name in public if name in namespace.aliases}
    for name, function in public.items():
        if name not in aliases:
            yield from stubgen.function(
                name, function.info, EXPRESSIONS, front_end=True, with_doc=False
            )
    yield from (f"{alias} = {name}" for alias, name in aliases.items())


def onednn_stub() -> Iterator[str]:
    """The lines of the stub of the classes and functions that mx._onednn loads."""
    _onednn.load()
    prefix = "mx.onednn."
    classes = [name for name in list_class_keys() if name.startswith(prefix)]
    functions = [name for name in ffi.list_global_func_names() if name.startswith(prefix)]
    text = stubgen.module_stub("mx.onednn", functions, [], classes)
    # Kernels are handed on to plans; no module of Python has their class.
    for old, new in (
        (MODULE_NOTICE, NOTICE),
        ("import mx.graph\n", ""),
        ("mx.graph.Kernel", "ffi.Object"),
    ):
        text = text.replace(old, new)
    head, *declared = re.split(r"^(?=def )", text, flags=re.MULTILINE)
    yield head
    names = [name.removeprefix(prefix) for name in classes]
    # In the class below these names are its own.
    yield from (f"_{name} = {name}" for name in names)
    yield 'class OneDNN:\n    """What the library has registered."""'
    for function in declared:
        yield textwrap.indent(f"@staticmethod\n{function}", "    ")
    yield from (f"    {name} = _{name}" for name in names)


def stubs() -> dict[Path, str]:
    """What each stub should hold, by its path."""
    return {
        PACKAGE / "ndarray" / "__init__.pyi": "\n".join(ndarray_stub()) + "\n",
        PACKAGE / "numpy" / "__init__.pyi": "\n".join(numpy_stub()) + "\n",
        PACKAGE / "numpy_extension" / "__init__.pyi": "\n".join(
            [NOTICE + EXTENSION_HEAD, *functions(EXTENSION)]
        )
        + "\n",
        PACKAGE / "_onednn_types.pyi": "\n".join(onednn_stub()) + "\n",
    }


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
