"""What the tests of onednn share: arrays in all layouts, running an operator, comparing."""

import json
from collections.abc import Callable

import ml_dtypes
import numpy as np

from mxacc_check.plugin import Memory, Plugin

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype("float32"), np.dtype("float16"), BF16]
# Of results: what is not exact is computed in float32 and rounded to the type.
TOLERANCES = {FLOATS[0]: 3e-6, FLOATS[1]: 1e-3, BF16: 8e-3}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 100.0, -100.0, 3e4]

# What the name of an instruction set has with which oneDNN computes with a type.
NEEDED = {"float16": {"FP16", "AMX"}, "bfloat16": {"AVX512"}}

# Two operands as they may lie in memory: dense, broadcast in every way, views.
LAYOUTS = {
    "one": lambda a: (a(1), a(1)),
    "no axes": lambda a: (a(), a()),
    "dense": lambda a: (a(3, 5), a(3, 5)),
    "large": lambda a: (a(300, 700), a(300, 700)),
    "row": lambda a: (a(3, 5), a(5)),
    "column": lambda a: (a(3, 5), a(3, 1)),
    "first row": lambda a: (a(5), a(3, 5)),
    "first column": lambda a: (a(3, 1), a(3, 5)),
    "table": lambda a: (a(3, 1), a(1, 5)),
    "scalar": lambda a: (a(3, 5), a()),
    "first scalar": lambda a: (a(), a(3, 5)),
    "middle": lambda a: (a(4, 3, 2, 5), a(3, 1, 5)),
    "transposed": lambda a: (a(5, 3).T, a(3, 5)),
    "both transposed": lambda a: (a(5, 3).T, a(5, 3).T),
    "large transposed": lambda a: (a(200, 100).T, a(100, 200)),
    "slice": lambda a: (a(6, 9)[1:4, 2:7], a(3, 5)),
    "steps": lambda a: (a(6, 10)[::2, ::2], a(3, 5)),
    "reversed": lambda a: (a(3, 5)[::-1, ::-1], a(3, 5)),
    "large reversed": lambda a: (a(100, 80)[::-1], a(100, 80)[:, ::-1]),
    "many axes": lambda a: (a(*[2, 1] * 5)[..., ::-1, :], a(*[1, 2] * 5)[..., ::-1]),
    "broadcast view": lambda a: (np.broadcast_to(a(5), (3, 5)), a(3, 1)),
    "empty": lambda a: (a(3, 0), a(0)),
}


def floats(*shape: int, dtype=FLOATS[0], least=-3.0, most=3.0) -> np.ndarray:
    """Different numbers in no order, the same each time."""
    return np.random.default_rng(sum(shape)).uniform(least, most, shape).astype(dtype)


def isa(plugin: Plugin) -> str:
    """The instruction set that oneDNN uses: the processor's, or what ONEDNN_MAX_CPU_ISA left."""
    return plugin.configure()["isa"]


def computes_with(plugin: Plugin, dtype: np.dtype) -> bool:
    """Whether oneDNN computes with a type here, beyond converting it."""
    needed = NEEDED.get(dtype.name)
    return needed is None or bool(needed & set(isa(plugin).split("_")))


def run(plugin: Plugin, name: str, inputs: dict, output, **attributes: object) -> np.ndarray:
    """The result; inputs are arrays, whose strides are kept, or memory; output is like that."""
    made = {key: to_device(plugin, value) for key, value in inputs.items()}
    out = output if isinstance(output, Memory) else plugin.empty(output.shape, output.dtype)
    texts = {key: json.dumps(value) for key, value in attributes.items()}
    executor = plugin.executor(name, made, [out], **texts)
    executor.run(list(made.values()), [out])
    executor.close()
    return plugin.to_host(out)


def to_device(plugin: Plugin, array: np.ndarray | Memory) -> Memory:
    """Memory that lies as the array's does."""
    if isinstance(array, Memory):
        return array
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not array.size:
        return plugin.to_device(array)
    memory = plugin.to_device(owner.ravel(order="K"))
    view = Memory(plugin, memory.dev_id, memory.handle, array)
    addresses = [item.__array_interface__["data"][0] for item in (array, owner)]
    view.byte_offset = addresses[0] - addresses[1]
    return view


def check(result: np.ndarray, expected: np.ndarray) -> None:
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    if result.dtype == bool or not result.size:
        exactly(result, expected)
        return
    tolerance = TOLERANCES.get(expected.dtype, 0)
    exact = expected.astype("float64")
    finite = np.abs(exact[np.isfinite(exact)])
    least = tolerance * (finite.max() if finite.size else 0)
    np.testing.assert_allclose(result.astype("float64"), exact, rtol=tolerance, atol=least)


def exactly(result: np.ndarray, expected: np.ndarray) -> None:
    assert result.dtype == expected.dtype
    if result.dtype == BF16:  # of which NumPy does not know NaN
        result, expected = result.astype("float32"), expected.astype("float32")
    np.testing.assert_array_equal(result, expected)


def rounded(function: Callable, *arrays: np.ndarray, dtype=None) -> np.ndarray:
    """What a function makes of numbers in float32, in the type of the arrays."""
    with np.errstate(all="ignore"):
        wide = [item.astype("float32") if isinstance(item, np.ndarray) else item for item in arrays]
        result = np.asarray(function(*wide))
        return result if result.dtype == bool else result.astype(dtype or arrays[0].dtype)


def memory_of(memory: Memory, view: np.ndarray) -> Memory:
    return Memory(memory.plugin, memory.dev_id, memory.handle, view)
