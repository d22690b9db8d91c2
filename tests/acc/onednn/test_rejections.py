"""What onednn does not do as the CPU does, it rejects, and says why."""

import numpy as np
import pytest

from mxacc_check.plugin import AccError

from .cases import FLOATS, check, computes_with, floats, isa, rounded, run

X = floats(3, 4)
N = np.arange(12, dtype="int32").reshape(3, 4)
# Operator, inputs, attributes, like what the output is, the code, words of the reason.
REJECTED = [
    ("no_such_operator", {"x": X}, {}, X, "unsupported", "not used"),
    ("sin", {"x": X}, {}, X, "unsupported", "not used"),
    ("add", {"x1": N, "x2": N}, {}, N, "unsupported", "float32"),
    ("add", {"x1": X.astype("float64")}, {"x2": 1}, X.astype("float64"), "unsupported", "float32"),
    ("add", {"x1": X, "x2": X}, {}, X.astype("float16"), "unsupported", "another type"),
    ("add", {"x1": X}, {"x2": None}, X, "unsupported", "x2 that is no number"),
    ("add", {"x1": X}, {"x2": 2**60}, X, "unsupported", "2\\^53"),
    ("add", {"x1": X}, {"x2": 1e300}, X, "unsupported", "beyond"),
    ("add", {"x1": X}, {}, X, "bad_argument", "without x2"),
    ("add", {"x1": X, "x2": X[:2]}, {}, X, "bad_argument", "broadcast"),
    ("add", {"x1": X, "x2": X}, {}, X[0], "bad_argument", "broadcast"),
    ("divide", {"x1": N, "x2": N}, {}, N.astype("float64"), "unsupported", "float32"),
    ("equal", {"x1": X, "x2": X}, {}, X, "unsupported", "another type"),
    ("fmax", {"x1": X, "x2": X}, {}, X, "unsupported", "NaN"),
    ("minimum", {"x1": X}, {"x2": float("nan")}, X, "unsupported", "NaN"),
    ("log", {"x": X}, {}, X, "unsupported", "1.2e-38"),
    ("power", {"x1": X}, {"x2": 3}, X, "unsupported", "exponents"),
    ("power", {"x1": X, "x2": X}, {}, X, "unsupported", "exponents"),
    ("positive", {"x": X > 0}, {}, X > 0, "unsupported", "floats"),
    ("negative", {"x": N}, {}, N, "unsupported", "float32"),
    ("astype", {"a": X}, {"dtype": "int32"}, N, "unsupported", "rounds"),
    ("astype", {"a": X.astype("float64")}, {"dtype": "float32"}, X, "unsupported", "convert"),
    ("reshape", {"a": X}, {"shape": [2, 3]}, X[:2, :3], "bad_argument", "number of elements"),
    ("copy", {"a": X}, {}, N, "unsupported", "another type"),
    ("matmul", {"x1": N, "x2": N.T}, {}, N[:, :3], "unsupported", "float32"),
    ("matmul", {"x1": X, "x2": X}, {}, X, "bad_argument", "do not go together"),
    ("matmul", {"x1": X}, {"x2": 1}, X, "unsupported", "numbers"),
    ("dot", {"a": X, "b": X.T}, {}, X, "bad_argument", "do not go together"),
    ("tensordot", {"a": X, "b": X}, {"axes": [[0]]}, X, "unsupported", "pair"),
    ("tensordot", {"a": X, "b": X}, {"axes": 3}, X, "unsupported", "not there"),
    ("tensordot", {"a": X, "b": X}, {"axes": [[0, 0], [0, 1]]}, X, "unsupported", "repeat"),
    ("tensordot", {"a": X, "b": X}, {"axes": [["a"], [0]]}, X, "unsupported", "integers"),
    ("sum", {"a": N}, {"axis": 0}, N[0], "unsupported", "float32"),
    ("sum", {"a": X}, {"axis": 2}, X[0], "unsupported", "not there"),
    ("sum", {"a": X}, {"axis": [0, -2]}, X[0], "unsupported", "repeat"),
    ("sum", {"a": X}, {"axis": 0}, X, "bad_argument", "shape of the result"),
    (
        "sum",
        {"a": X},
        {"axis": 0, "dtype": "float16"},
        X[0].astype("float16"),
        "unsupported",
        "type",
    ),
    ("sum", {"a": floats(2, 10007)}, {"axis": 1}, X[:2, 0], "unsupported", "evenly"),
    ("max", {"a": X}, {"axis": 0}, X[0], "unsupported", "not used"),
]


@pytest.mark.parametrize(("name", "inputs", "attributes", "like", "code", "words"), REJECTED)
def test_what_it_rejects(plugin, name, inputs, attributes, like, code, words):
    with pytest.raises(AccError, match=words) as caught:
        run(plugin, name, inputs, like, **attributes)
    assert caught.value.code == code
    assert caught.value.message.startswith(f"{name}: ")


def softmax(x):
    powers = np.exp(x)
    return powers / powers.sum(axis=-1, keepdims=True)


# An operator of each kind that computes, by the names of its inputs, and what it computes.
COMPUTING = {
    "add": ("x1 x2", np.add),
    "maximum": ("x1 x2", np.maximum),
    "less": ("x1 x2", np.less),
    "sqrt": ("x", np.sqrt),
    "exp": ("x", np.exp),
    "matmul": ("x1 x2", np.matmul),
    "sum": ("a", np.sum),
    "mean": ("a", np.mean),
    "softmax": ("data", softmax),
}


@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
@pytest.mark.parametrize("name", COMPUTING)
def test_it_computes_with_16_bits_or_says_that_the_processor_does_not(plugin, name, dtype):
    names, function = COMPUTING[name]
    x = floats(40, 40, dtype=dtype, least=0.5)
    inputs = dict.fromkeys(names.split(), x)
    expected = rounded(function, *inputs.values(), dtype=dtype)
    try:
        result = run(plugin, name, inputs, expected)
    except AccError as error:
        assert not computes_with(plugin, dtype), f"{isa(plugin)}: {error}"
        assert error.code == "unsupported"
        assert "on this processor" in error.message
    else:
        check(result, expected)


def test_another_operator_set_is_rejected(plugin):
    x = plugin.to_device(X)
    with pytest.raises(AccError, match="operator set 7") as caught:
        plugin.executor("negative", {"x": x}, [x], operator_set=7)
    assert caught.value.code == "unsupported"
