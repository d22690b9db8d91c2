"""What the tests of accelerators with kernels of their own share."""

import json
import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

from mxacc_check.plugin import Memory, Plugin

from ..conftest import ROOT

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# OpenCL and CUDA promise their functions to a few units in the last place, pow to 16 of them.
TOLERANCES = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 3e-6, "float64": 1e-14}

ANY = np.array([[-3.5, -1, -0.5, -0.0], [0, 0.25, 0.5, 1], [1.5, 2, 2.5, 40]], "float32")
POSITIVE = np.array([0, 0.1, 0.5, 1, 2, 1e5, np.inf, np.nan], "float32")
UNIT = np.linspace(-1, 1, 9, dtype="float32")
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, 0.5], "float32")
SIGNED = np.array([-128, -127, -7, -1, 0, 1, 7, 127], "int8")
UNSIGNED = np.array([0, 1, 2, 7, 8, 100, 254, 255], "uint8")
BOOL = np.array([True, False, True, False, True, True, False, False])
WIDE = np.array([-(2**63), -(2**31), -1, 0, 1, 5, 2**31, 2**63 - 1], "int64")
CUBE = np.random.default_rng(3).normal(size=(4, 5, 6)).astype("float32")
M = np.random.default_rng(5).normal(size=(7, 5)).astype("float32")
SQUARE = np.arange(30, dtype="float32").reshape(5, 6)


def attribute(value: object) -> str:
    return json.dumps(value)


def run(plugin: Plugin, name: str, inputs: dict, like, **attributes: object) -> np.ndarray:
    """The result of an operator on arrays, or memory, whose output is like an array."""
    on_device = {
        key: value if isinstance(value, Memory) else plugin.to_device(np.asarray(value, order="C"))
        for key, value in inputs.items()
    }
    output = plugin.empty(like.shape, like.dtype)
    texts = {key: attribute(value) for key, value in attributes.items()}
    executor = plugin.executor(name, on_device, [output], **texts)
    executor.run(list(on_device.values()), [output])
    executor.close()
    result = plugin.to_host(output)
    for memory in [*on_device.values(), output]:
        if memory.array.size:
            memory.free()
    return result


def check(result: np.ndarray, expected: np.ndarray) -> None:
    """Floats are near, all else is equal."""
    tolerance = TOLERANCES.get(expected.dtype.name)
    if tolerance is None:
        np.testing.assert_array_equal(result, expected)
    else:
        wide = np.float64
        np.testing.assert_allclose(
            result.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance / 100
        )


def python(library: Path, code: str, **environment: str) -> str:
    """What a program says that has the library's path as `path`, in a process of its own."""
    program = f"path = {str(library)!r}\n{code}"
    paths = os.pathsep.join([str(ROOT / "python"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
