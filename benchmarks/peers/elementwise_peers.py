"""Operators on arrays of 65,536 elements: ours, NumPy's and PyTorch's with one thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.compare import cases
from benchmarks.compare.model import OURS, Call, Calls
from benchmarks.peers.common import require

TORCH_STATEMENTS = {
    "power": ("pow", "f(a, b)"),
    "cumsum": ("cumsum", "f(a, 0)"),
}


def _calls(
    column: str,
    module: Any,
    array: Callable[[Any], Any],
    statements: Mapping[str, tuple[str, str]],
) -> Calls:
    """Every case through the functions of a module; `array` makes its arrays of NumPy's."""
    numpy = require("numpy")
    generator = numpy.random.default_rng(0)
    operands = {
        dtype: [array(generator.random(cases.ELEMENTS).astype(dtype) + 0.5) for _ in range(2)]
        for dtype in ("float32", "float64")
    }
    table: Calls = {}
    for case, (name, count, dtype) in cases.ELEMENTWISE_CASES.items():
        a, b = operands[dtype]
        function, statement = statements.get(name, (name, "f(a, b)" if count == 2 else "f(a)"))
        names = {"f": getattr(module, function), "a": a, "b": b}
        table[case] = {column: Call(statement, names)}
    return table


def own_calls() -> Calls:
    """`mx.np`."""
    mx = require("mx")
    return _calls(OURS, mx.np, mx.np.array, {})


def numpy_calls() -> Calls:
    """NumPy."""
    return _calls("numpy", require("numpy"), lambda array: array, {})


def torch_calls() -> Calls:
    """PyTorch; the group's environment gives it one thread."""
    torch = require("torch")
    return _calls("torch", torch, torch.from_numpy, TORCH_STATEMENTS)
