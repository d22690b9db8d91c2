"""Operators write to `out` once: none makes an array of its own first, which is then copied.
Elementwise ones do so whatever its type and those of the operands are: they convert in blocks;
sums, products and means if its type is wider than that of their result: they compute in it. Scans
convert in blocks, too.

Such an array shows in the peak of the process's memory, which the kernel keeps and can be reset.
"""

import inspect
import itertools
import json
import os
import subprocess
import sys

import pytest

import ffi
from mx import _registry

from .. import library

pytestmark = pytest.mark.host_memory

BYTES = 4 << 20
# What blocks take on each of a few threads, which have some memory of their own.
BYTES_OF_BLOCKS = 256 << 10
PROGRAM = """
import json, sys
import mx
X, npx = mx.np, mx.npx

def status(name):
    with open("/proc/self/status") as lines:
        (line,) = [line for line in lines if line.startswith(name)]
    return int(line.split()[1]) * 1024

def growth(call, size, dtype, dtype_of_out=None):
    names = {"X": X, "npx": npx, "n": size}
    for name in "ab":
        names[name] = X.ones(size, dtype=dtype)
    names["rows"] = X.ones((2, size), dtype=dtype)
    names["wide"] = X.ones(2 * size, dtype=dtype)
    names["where"] = X.ones(size, dtype="int64")
    names["out"] = None
    exec("result = " + call, names)
    names["out"] = X.empty_like(names["result"], dtype=dtype_of_out)
    names["out"][...] = 0
    del names["result"]
    bytes_of_out = names["out"].nbytes
    exec(call, names)  # what happens at first only
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    before = status("VmRSS:")
    exec(call, names)
    return max(status("VmHWM:") - before, 0), bytes_of_out

print(json.dumps([growth(*case) for case in json.loads(sys.argv[1])]))
"""

# Number of elements and data type of operands, such that `out` has BYTES.
FLOATS = (BYTES // 4, "float32")
INTEGERS = (BYTES // 4, "int32")
TO_BOOL = (BYTES, "float32")
TO_INT64 = (BYTES // 8, "float32")

WIDER = {"float32": "float64", "int32": "int64"}

OF_BOOLS = set(
    "equal greater greater_equal isfinite isinf isnan less less_equal logical_and logical_not"
    " logical_or logical_xor not_equal".split()
)
OF_INTEGERS = set("bitwise_and bitwise_or bitwise_xor invert left_shift right_shift".split())
FURTHER = {
    "all": ("X.all(rows, 0, out=out)", *TO_BOOL),
    "any": ("X.any(rows, 0, out=out)", *TO_BOOL),
    "argmax": ("X.argmax(rows, 0, out=out)", *TO_INT64),
    "argmin": ("X.argmin(rows, 0, out=out)", *TO_INT64),
    "clip": ("X.clip(a, 0, 3, out=out)", *FLOATS),
    "cumprod": ("X.cumprod(a, out=out)", *FLOATS),
    "cumsum": ("X.cumsum(a, out=out)", *FLOATS),
    "dot": ("X.dot(a.reshape(-1, 1), X.ones((1, 1), dtype='float32'), out=out)", *FLOATS),
    "matmul": ("X.matmul(a.reshape(-1, 4), X.ones((4, 4), dtype='float32'), out=out)", *FLOATS),
    "max": ("X.max(rows, 0, out=out)", *FLOATS),
    "mean": ("X.mean(rows, 0, out=out)", *FLOATS),
    "min": ("X.min(rows, 0, out=out)", *FLOATS),
    "prod": ("X.prod(rows, 0, out=out)", *FLOATS),
    "round": ("X.round(a, 1, out=out)", *FLOATS),
    "std": ("X.std(rows, 0, out=out)", *FLOATS),
    "sum": ("X.sum(rows, 0, out=out)", *FLOATS),
    "take": ("X.take(a, where, out=out)", *FLOATS),
    "trace": ("X.trace(rows[:, None], axis1=0, axis2=1, out=out)", *FLOATS),
    "var": ("X.var(rows, 0, out=out)", *FLOATS),
}
# Which compute in the type of `out`, if it is wider.
IN_TYPE_OF_OUT = ("cumprod", "cumsum", "mean", "prod", "sum", "trace")
# Operands of scans that compute in float64 and convert that to `out`.
SCANNED = {
    "all elements": "a",
    "all elements, transposed": "rows.T",
    "rows": "rows, 1",
    "columns": "a.reshape(-1, 512), 0",
}
# What a call needs beside its `out`: the means that elements are compared with.
NEEDED = {"std": BYTES, "var": BYTES}


def settings(name):
    """The operands of an elementwise operator."""
    if name in OF_INTEGERS:
        return INTEGERS
    return TO_BOOL if name in OF_BOOLS else FLOATS


def is_elementwise(name):
    """Whether the operator of that name describes itself as elementwise."""
    names = [f"{prefix}{name}" for prefix in ("_npi.", "_npx.")]
    (function,) = [ffi.get_global_func(n) for n in names if n in ffi.list_global_func_names()]
    return ffi.get_global_func("testing.is_elementwise")(function)


def cases():
    """A call of each operator that takes `out`, by name; None for one that has no row above."""
    found = {}
    functions = {"X": _registry.FUNCTIONS, "npx": _registry.EXTENSION.public_functions()}
    for module, table in functions.items():
        for name, function in table.items():
            parameters = [*inspect.signature(function).parameters]
            if "out" not in parameters or name in _registry.ALIASES:
                continue
            if name not in FURTHER and parameters in (["x", "out"], ["x1", "x2", "out"]):
                operands = "a" if parameters == ["x", "out"] else "a, b"
                found[name] = (f"{module}.{name}({operands}, out=out)", *settings(name))
            else:
                found[name] = FURTHER.get(name)
    for name in [name for name, case in found.items() if case and is_elementwise(name)]:
        call, size, dtype = found[name]
        wider = "int16" if dtype == TO_BOOL[1] and size == TO_BOOL[0] else WIDER[dtype]
        found[f"{name}, of another type"] = (call, size, dtype, wider)
    for name in IN_TYPE_OF_OUT:
        found[f"{name}, of another type"] = (*FURTHER[name], "float64")
    for name, (of, operands) in itertools.product(("cumprod", "cumsum"), SCANNED.items()):
        call = f"X.{name}({operands}, dtype='float64', out=out)"
        found[f"{name} of {of} to float32, of another type"] = (call, *FLOATS, "float32")
    found["power of integers, of another type"] = ("X.power(a, a, out=out)", *INTEGERS, "float64")
    names = ("add", "power", "less", "arctan2")
    for name, dtype in itertools.product(names, ("int16", "float32")):
        call = f"X.{name}(a, where, out=out)"
        found[f"{name} of int64 and {dtype}, of another type"] = (
            call,
            BYTES // 8,
            dtype,
            "float64",
        )
    found["add, in place"] = ("X.add(a, b, out=a)", *FLOATS)
    found["add, to every other element"] = ("X.add(a, b, out=wide[::2])", *FLOATS)
    return found


library.load()
CASES = cases()


@pytest.fixture(scope="module")
def grown():
    """Bytes by which each call raised the peak of its process, and those of its `out`."""
    # Without it the C library keeps some memory that was given back, and gives it again.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}
    command = [sys.executable, "-c", PROGRAM, json.dumps([case for case in CASES.values() if case])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


def test_every_operator_with_out_has_a_case():
    assert [name for name, case in CASES.items() if case is None] == []


@pytest.mark.parametrize("name", CASES)
def test_out_is_written_once(grown, name):
    growth, bytes_of_out = grown[name]
    if name.endswith("of another type"):
        assert growth < BYTES_OF_BLOCKS
        return
    assert bytes_of_out == BYTES
    assert growth < NEEDED.get(name, 0) + BYTES // 2
