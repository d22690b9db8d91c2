"""What several peers share: optional imports, and the inputs every peer is given."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from benchmarks.compare import cases
from benchmarks.compare.model import Attribute, Call, attribute
from benchmarks.peers.build import MissingPeer

MESSAGE = "expected a positive number"


def require(name: str) -> Any:
    """The module `name`; MissingPeer where it cannot be imported."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPeer(f"{name} cannot be imported: {error}") from error


def optional(name: str) -> ModuleType | None:
    """The module `name`, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def numpy_array() -> Any:
    """A 2 x 2 float32 NumPy array, or None without NumPy."""
    numpy = optional("numpy")
    return None if numpy is None else numpy.ones((2, 2), numpy.float32)


def torch_tensor() -> Any:
    """A 2 x 2 float32 tensor on the CPU, or None without PyTorch."""
    torch = optional("torch")
    return None if torch is None else torch.ones(2, 2)


def do_nothing() -> None:
    """The callback."""


def container_calls(
    array: Attribute, mapping: Attribute, dict_of: str = "dict(x)"
) -> dict[str, Call]:
    """Containers of this library made of Python's, and Python's made of them.

    `dict_of` is the fastest expression that makes a dict of a map `x`.
    """
    table = {}
    for size in cases.SIZES:
        items = list(range(size))
        entries = {f"key{item}": item for item in items}
        table[cases.ARRAY_IN[size]] = Call("f(x)", {"f": array, "x": items})
        table[cases.ARRAY_OUT[size]] = Call("list(x)", {"x": array.value(items)})
        table[cases.MAP_IN[size]] = Call("f(x)", {"f": mapping, "x": entries})
        table[cases.MAP_OUT[size]] = Call(dict_of, {"x": mapping.value(entries)})
    return table


def echo_calls(echo: Attribute, own_object: Any) -> dict[str, Call]:
    """Values that go in and come out again."""
    values = {
        cases.OBJECT_ECHO: own_object,
        cases.SHORT_ECHO: "s" * 7,
        cases.LONG_ECHO: "s" * 200,
    }
    table = {case: Call("f(x)", {"f": echo, "x": value}) for case, value in values.items()}
    tensor = torch_tensor()
    if tensor is not None:
        table[cases.TENSOR_ECHO] = tensor_echo(echo, tensor)
    return table


def tensor_echo(echo: Attribute, tensor: Any) -> Call:
    """A tensor in and out. Where an array of the library's own comes out, a tensor is made of it.

    So everyone ends with the same, whatever the function gives.
    """
    names = {"f": echo, "x": tensor}
    if isinstance(echo.value(tensor), type(tensor)):
        return Call("f(x)", names)
    tensor_of = attribute("torch.from_dlpack", require("torch"))
    return Call("tensor_of(f(x))", {**names, "tensor_of": tensor_of})


def catching(function: Attribute, *arguments: Any) -> Call:
    """A call that raises ValueError, and its handler."""
    names = {f"v{index}": value for index, value in enumerate(arguments)}
    return Call(
        f"try:\n    f({', '.join(names)})\nexcept ValueError:\n    pass", {"f": function, **names}
    )
