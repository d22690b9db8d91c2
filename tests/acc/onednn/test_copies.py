"""Copies, conversions, and outputs of any strides, against NumPy."""

import numpy as np
import pytest

import mx

from .cases import BF16, LAYOUTS, SPECIAL, check, exactly, floats, memory_of, run

ANY = ["float64", "float32", "float16", BF16, "int8", "int64", "uint16", "bool", "complex128"]


@pytest.mark.parametrize("dtype", ANY, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["copy", "ravel", "reshape", "flatten", "astype"])
def test_copies(plugin, name, layout, dtype):
    def numbers(*shape):
        return (np.arange(int(np.prod(shape))) % 1000).reshape(shape).astype(dtype)

    a = LAYOUTS[layout](numbers)[0]
    expected = np.ascontiguousarray(a).reshape(a.shape if name in ("copy", "astype") else -1)
    exactly(run(plugin, name, {"a": a}, expected), expected)


# As oneDNN does them, as it does on some processors only, and by way of float32.
CONVERSIONS = [
    ("float32", "float16"),
    ("float32", BF16),
    ("float32", "bool"),
    ("float16", "float32"),
    ("float16", BF16),
    ("float16", "bool"),
    (BF16, "float32"),
    (BF16, "float16"),
    (BF16, "bool"),
    ("int32", "float32"),
    ("int32", "float16"),
    ("int32", BF16),
    ("int8", "float32"),
    ("int8", "float16"),
    ("uint8", "float32"),
    ("uint8", "float16"),
    ("uint8", BF16),
    ("bool", "float32"),
    ("bool", "float16"),
    ("bool", BF16),
]


@pytest.mark.parametrize("layout", ["dense", "large", "transposed", "reversed", "no axes", "empty"])
@pytest.mark.parametrize(("of", "to"), CONVERSIONS, ids=str)
def test_conversions(plugin, of, to, layout):
    values = SPECIAL + [65519.0, 65520.0, 1e-7, 6e-8, 1e38]
    values = np.resize(values, 1 << 18) if "float" in str(of) else np.arange(-(1 << 17), 1 << 17)

    def numbers(*shape):
        with np.errstate(all="ignore"):
            return np.resize(values, shape).astype(of)

    a = LAYOUTS[layout](numbers)[0]
    with np.errstate(all="ignore"):
        expected = np.ascontiguousarray(a).astype(to).reshape(a.shape)
    result = run(plugin, "astype", {"a": a}, expected, dtype=str(to))
    exactly(result, expected)


@pytest.mark.parametrize("of", ["float16", BF16, "float32"], ids=str)
@pytest.mark.parametrize("to", ["float16", BF16, "float32"], ids=str)
def test_every_float_is_converted_as_on_the_cpu(plugin, of, to):
    patterns = np.arange(0, 2**32, 65537, dtype="uint32")
    x = patterns.view(of) if of == "float32" else patterns.astype("uint16").view(of)
    expected = mx.np.array(x).astype(str(np.dtype(to))).asnumpy()
    exactly(run(plugin, "astype", {"a": x}, expected, dtype=str(np.dtype(to))), expected)


@pytest.mark.parametrize("to", ["float32", "float16", BF16], ids=str)
def test_any_byte_of_a_bool_but_0_is_true(plugin, to):
    memory = plugin.to_device(np.array([0, 1, 2, 255], "uint8"))
    a = memory_of(memory, np.empty(4, "bool"))
    exactly(run(plugin, "astype", {"a": a}, np.empty(4, to)), np.array([0, 1, 1, 1], to))


VIEWS = {
    "transposed": lambda memory: memory_of(memory, memory.array.T),
    "slice": lambda memory: memory.view((slice(1, 4), slice(2, 5))),
    "steps": lambda memory: memory.view((slice(None, None, 2), slice(None, None, 3))),
    "reversed": lambda memory: memory.view((slice(None, None, -1), slice(None, None, -1))),
}


@pytest.mark.parametrize("shape", [(7, 8), (70, 90)], ids=str)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["add", "sqrt", "matmul", "sum", "copy", "astype", "mean"])
def test_outputs_of_any_strides(plugin, name, view, shape):
    whole = plugin.to_device(np.zeros(shape, "float32"))
    out = VIEWS[view](whole)
    rows, columns = out.array.shape
    x = floats(rows, columns, least=0)
    cases = {
        "add": ({"x1": x, "x2": x}, {}, x + x),
        "sqrt": ({"x": x}, {}, np.sqrt(x)),
        "matmul": ({"x1": x, "x2": floats(columns, columns)}, {}, x @ floats(columns, columns)),
        "sum": ({"a": np.stack([x, x])}, {"axis": 0}, x + x),
        "mean": ({"a": np.stack([x, 3 * x])}, {"axis": 0}, x + x),
        "copy": ({"a": x}, {}, x),
        "astype": ({"a": x.astype("float16")}, {}, x.astype("float16").astype("float32")),
    }
    inputs, attributes, expected = cases[name]
    check(run(plugin, name, inputs, out, **attributes), expected)
    untouched = plugin.to_host(whole)
    assert np.count_nonzero(untouched) == np.count_nonzero(expected)
