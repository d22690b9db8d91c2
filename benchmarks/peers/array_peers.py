"""NumPy and PyTorch, for the workloads on arrays. Everything is float32 on the CPU but `dtype=`."""

from __future__ import annotations

from typing import Any

from benchmarks.compare import cases
from benchmarks.compare.model import Call, Calls, attribute
from benchmarks.peers.common import require

AXES = "((1, 0), (0, 1))"


def numpy_workloads() -> Calls:
    """NumPy has no context, so its call with a dtype stands in those rows too."""
    numpy = require("numpy")

    def ones(*shape: int) -> Any:
        return numpy.ones(shape, numpy.float32)

    with_dtype = Call("f((3, 4), dtype='float64')", {"f": attribute("numpy.zeros", numpy)})
    table = {
        cases.NP_ZEROS: Call("f((3, 4))", {"f": attribute("numpy.zeros", numpy)}),
        cases.NP_ZEROS_DTYPE: with_dtype,
        cases.NP_ZEROS_CTX: with_dtype,
        cases.NP_ZEROS_CTX_MADE: with_dtype,
        cases.NP_ZEROS_CTX_STRING: with_dtype,
        cases.NP_TENSORDOT: Call(
            f"f(a, b, {AXES})",
            {"f": attribute("numpy.tensordot", numpy), "a": ones(2, 3, 4), "b": ones(3, 2, 5)},
        ),
        cases.NP_ADD: Call("a + b", {"a": ones(2, 2), "b": ones(2, 2)}),
    }
    return {case: {"numpy": call} for case, call in table.items()}


def numpy_large(size: int) -> Calls:
    """The products of two square matrices."""
    numpy = require("numpy")
    names = {"a": numpy.ones((size, size), numpy.float32)}
    names["b"] = numpy.ones((size, size), numpy.float32)
    return {
        cases.NP_MATMUL_LARGE: {"numpy": Call("f(a, b)", {"f": numpy.matmul, **names})},
        cases.NP_TENSORDOT_LARGE: {
            "numpy": Call("f(a, b, 1)", {"f": attribute("numpy.tensordot", numpy), **names})
        },
    }


def torch_workloads() -> Calls:
    """PyTorch, with its own dtype and device objects or, in the last row, a device string."""
    torch = require("torch")
    zeros = {
        "f": attribute("torch.zeros", torch),
        "dtype": torch.float64,
        "device": torch.device("cpu:0"),
    }
    with_device = Call("f((3, 4), dtype=dtype, device=device)", zeros)
    table = {
        cases.NP_ZEROS: Call("f((3, 4))", zeros),
        cases.NP_ZEROS_DTYPE: Call("f((3, 4), dtype=dtype)", zeros),
        cases.NP_ZEROS_CTX: with_device,
        cases.NP_ZEROS_CTX_MADE: Call(
            "f((3, 4), dtype=dtype, device=make('cpu:0'))",
            {**zeros, "make": attribute("torch.device", torch)},
        ),
        cases.NP_ZEROS_CTX_STRING: Call("f((3, 4), dtype=dtype, device='cpu:0')", zeros),
        cases.NP_TENSORDOT: Call(
            f"f(a, b, {AXES})",
            {
                "f": attribute("torch.tensordot", torch),
                "a": torch.ones(2, 3, 4),
                "b": torch.ones(3, 2, 5),
            },
        ),
        cases.NP_ADD: Call("a + b", {"a": torch.ones(2, 2), "b": torch.ones(2, 2)}),
    }
    return {case: {"torch": call} for case, call in table.items()}


def torch_large(size: int) -> Calls:
    """The products of two square matrices."""
    torch = require("torch")
    names = {"a": torch.ones(size, size), "b": torch.ones(size, size)}
    return {
        cases.NP_MATMUL_LARGE: {"torch": Call("f(a, b)", {"f": torch.matmul, **names})},
        cases.NP_TENSORDOT_LARGE: {
            "torch": Call("f(a, b, 1)", {"f": attribute("torch.tensordot", torch), **names})
        },
    }
