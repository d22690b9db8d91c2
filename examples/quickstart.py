"""What mxffi does, in a few seconds: `python examples/quickstart.py`.

Calls an operator through the function boundary, registers one from Python, and compares a few small
calls with NumPy's own. The comparison is short; docs/benchmarks.md has the careful one.
"""

from __future__ import annotations

import platform
import statistics
import timeit

import numpy

import ffi
import mx
from mx import _api_internal

ROUNDS = 30
ROUND_SECONDS = 0.005


def call_an_operator() -> None:
    """The same operator three ways: by name, as the front end has it, and as a method."""
    print("An operator of the C++ registry")
    by_name = ffi.get_global_func("_npi.zeros")
    print("   ffi.get_global_func('_npi.zeros')((2, 3), 'float32', 'cpu(0)')")
    print("     ", repr(by_name((2, 3), "float32", "cpu(0)")).replace("\n", "\n      "))
    print("   _api_internal.zeros((2, 3), 'float64', mx.cpu(0)).dtype")
    print("     ", _api_internal.zeros((2, 3), "float64", mx.cpu(0)).dtype)
    a, b = mx.np.ones((2, 3, 4)), mx.np.ones((3, 2, 5))
    print("   mx.np.tensordot(a, b, ((1, 0), (0, 1))).shape")
    print("     ", mx.np.tensordot(a, b, ((1, 0), (0, 1))).shape)
    try:
        mx.np.zeros((2, 3), dtype="float33")
    except TypeError as error:
        print("   mx.np.zeros((2, 3), dtype='float33')")
        print("      TypeError:", error)


def register_from_python() -> None:
    """A Python function in the registry, where C++ finds it as well."""
    print("\nA function registered from Python")

    @ffi.register_func("example.scale")
    def scale(array: mx.np.ndarray, factor: float) -> mx.np.ndarray:
        """Multiplies an array by a number."""
        return array * factor

    registered = ffi.get_global_func("example.scale")
    print("   ffi.get_global_func('example.scale')(mx.np.ones(3), 2.5)")
    print("     ", registered(mx.np.ones(3), 2.5))
    called_by_cpp = ffi.get_global_func("ffi.call")
    print("   the same, called by C++")
    print("     ", called_by_cpp(registered, mx.np.ones(3), 2.5))
    ffi.remove_global_func("example.scale")


A, B = numpy.ones((2, 3, 4), "float32"), numpy.ones((3, 2, 5), "float32")
C = numpy.ones((2, 2), "float32")
NAMES = {
    "numpy": numpy,
    "np": mx.np,
    "A": A,
    "B": B,
    "C": C,
    "a": mx.np.array(A),
    "b": mx.np.array(B),
    "c": mx.np.array(C),
}
# What both compute, and how it is written for each.
CALLS = [
    ("zeros((3, 4))", "np.zeros((3, 4))", "numpy.zeros((3, 4))"),
    (
        "zeros((3, 4), dtype='float64')",
        "np.zeros((3, 4), dtype='float64')",
        "numpy.zeros((3, 4), dtype='float64')",
    ),
    (
        "the same in ctx='cpu(0)'",
        "np.zeros((3, 4), dtype='float64', ctx='cpu(0)')",
        "numpy.zeros((3, 4), dtype='float64')",
    ),
    ("(2, 2) + (2, 2)", "c + c", "C + C"),
    (
        "tensordot(a, b, ((1, 0), (0, 1)))",
        "np.tensordot(a, b, ((1, 0), (0, 1)))",
        "numpy.tensordot(A, B, ((1, 0), (0, 1)))",
    ),
]


def compare(statements: list[str]) -> list[float]:
    """Median time of each statement in ns; they take turns, so that all see the same machine."""
    timers = [timeit.Timer(statement, globals=NAMES) for statement in statements]
    numbers = [max(1, int(ROUND_SECONDS / (timer.timeit(200) / 200))) for timer in timers]
    times: list[list[float]] = [[] for _ in timers]
    for _ in range(ROUNDS):
        for samples, timer, number in zip(times, timers, numbers, strict=True):
            samples.append(timer.timeit(number) / number * 1e9)
    return [statistics.median(samples) for samples in times]


def compare_with_numpy() -> None:
    """The table: medians in ns, and the ratio of the two."""
    print(
        f"\nSmall calls, {ffi.backend} path, median of {ROUNDS} rounds in turns, in ns "
        f"(Python {platform.python_version()}, NumPy {numpy.__version__}, mx {mx.__version__})"
    )
    print(f"   {'':36}{'mx.np':>8}{'numpy':>8}{'ratio':>8}")
    for title, ours, numpys in CALLS:
        own, reference = compare([ours, numpys])
        print(f"   {title:36}{own:8.0f}{reference:8.0f}{own / reference:8.2f}")


if __name__ == "__main__":
    call_an_operator()
    register_from_python()
    compare_with_numpy()
