"""Arguments in the forms and the order in which NumPy's functions take them."""

import numpy as np
import pytest

import mx

from .compare import assert_same, assert_same_error, quiet, sample

MATRIX = sample((2, 3), "float64")
BOOLS = np.array([True, False])
LARGE = np.array([2**63, 5], "uint64")
SIGNED = np.array([-(2**63), 5])
SMALL = np.array([1, 0], "int8")


def evaluate(call, namespace):
    """The value of an expression in which m is a namespace; values an operator writes to, too."""
    names = {"np": np, "a": MATRIX, "bools": BOOLS, "large": LARGE, "signed": SIGNED}
    names["small"] = SMALL
    with quiet():
        return eval(call, names, {"m": namespace})


CALLS = [
    # Shapes and axes.
    *("m.ones(np.array([2, 3]), 'int8')", "m.ones([np.int64(2), 3], 'int8')"),
    *(
        "m.ones(np.int32(3), 'int8')",
        "m.ones(np.array(3), 'int8')",
        "m.ones(np.array([], int), 'int8')",
    ),
    *("m.reshape(a, np.array([3, 2]))", "m.reshape(a, np.array([3, -1], 'int8'))"),
    *("m.broadcast_to(a, np.array([2, 2, 3]))", "m.tile(a, np.array([2, 2]))"),
    *("m.transpose(a, np.array([1, 0]))", "m.transpose(a, [1, 0])", "m.flip(a, np.array([0]))"),
    *("m.roll(a, np.array([1, 2])[::-1], (0, 1))", "m.swapaxes(a, np.int64(0), np.array(1))"),
    *("m.sum(a, axis=np.array(1))", "m.sum(a, (np.int64(0), 1))", "m.argmax(a, np.array(1))"),
    *("m.cumsum(a, np.array(1))", "m.sort(a, np.array(0))", "m.take(a, 0, np.array(1))"),
    *("m.concatenate([a, a], np.array(1))", "m.stack([a, a], np.array(1))"),
    *("m.expand_dims(a, [0, 1])", "m.expand_dims(a, np.array(0))", "m.squeeze(a[:1], np.array(0))"),
    *("m.tensordot(a, a.T, np.array(1))", "m.tensordot(a, a, np.array([[0, 1], [0, 1]]))"),
    *("m.tensordot(a, a.T, np.array([1, 0]))", "m.tensordot(a, a, [np.array([1]), np.array([1])])"),
    *("m.split(a, np.array([1]))[1]", "m.eye(np.int64(3), np.array(2), dtype='int8')"),
    *("m.linspace(0, 1, np.array(3), dtype='float64')", "m.moveaxis(a, [0], np.array([1]))"),
    # Flags.
    *("m.sum(a, keepdims=1)", "m.argmin(a, axis=0, keepdims=1)", "m.any(a, keepdims=0)"),
    "m.linspace(0, 1, 3, endpoint=0, dtype='float64')",
    # Order.
    *("m.sum(a, 0, 'float32', None, True)", "m.prod(a, 0, None, None, True)"),
    *("m.mean(a, 0, 'float64', None, True)", "m.std(a, 0, None, None, 1, True)"),
    *("m.var(a, 0, None, None, 1)", "m.max(a, 0, None, True)", "m.min(a, 1, None, True)"),
    *("m.any(a, 0, None, True)", "m.all(a, 0, None, True)", "m.argmax(a, 0, None)"),
    *(
        "m.cumsum(a, 0, 'float32', None)",
        "m.clip(a, -1, 1, None)",
        "m.take(a, [0], 0, None, 'clip')",
    ),
    *("m.sort(a, 0, 'stable')", "m.argsort(a, 1, 'quicksort')", "m.dot(a, a.T, None)"),
    "m.linspace(0, 1, 5, True, False, 'float64')",
    *("m.std(a, ddof=0.5)", "m.var(a, 0, ddof=1.5)", "m.std(a, 1, ddof=3)", "m.var(a, ddof=-1.0)"),
    # Types of arrays count before those of Python numbers.
    *("m.clip(bools, -1, small)", "m.clip(bools, small, 3)", "m.clip(small, 0, np.float32(1.5))"),
    *("m.clip(small, bools, None)", "m.clip(np.uint8([1, 200]), -1, np.int16([3, 4]))"),
    *("m.clip(small, 40000, 2.0)", "m.clip(small, 2.0, 40000)", "m.clip(small, -1, 40000.5)"),
    *("m.clip(bools, -1, 1)", "m.clip(bools, bools, None)", "m.clip(bools, bools, -1)"),
    *("m.clip(a, min=1)", "m.clip(a, max=2)", "m.clip(a, min=-1, max=[1, 2, 3])"),
    *("m.asarray(a).clip(min=2)", "m.asarray(a).clip(-1, max=2)"),
    # Squares, conjugates and comparisons.
    *("m.asarray(bools) ** 2", "m.asarray(bools) ** 3", "m.asarray(a) ** 2", "m.power(bools, 2)"),
    *(
        "m.asarray(bools).conj()",
        "m.conj(a)",
        "m.asarray(1j * a).conjugate()",
        "m.conjugate([True])",
    ),
    *("m.asarray(large) > signed", "m.asarray(signed) == large", "m.less_equal(large, -1)"),
    *("m.asarray(signed) < 2**63", "m.asarray(large) == 2**63", "m.greater(2**63, -1)"),
    *("m.less(signed, 2**64 - 1)", "m.equal(signed, [2**63, 5])", "m.not_equal(2**63, signed)"),
]


@pytest.mark.parametrize("call", CALLS)
def test_as_numpy(call):
    assert_same(evaluate(call, mx.np), evaluate(call, np))


@pytest.mark.parametrize(
    "call",
    [
        *("m.argmax(a, axis=[1])", "m.argmax(a, axis=(1,))", "m.sum(a, axis=1.0)", "m.ones(2.0)"),
        *("m.repeat(a, 2, axis=True)", "m.take(a, [0], axis=True)", "m.cumsum(a, axis=False)"),
        *("m.clip(a, 1, 2, min=3)", "m.clip(a, 1, 2, max=3)"),
        *("m.split(a, 0)", "m.array_split(a, 0)", "m.std(a, ddof='1')"),
        *("m.ones(np.array([2.0]))", "m.ones(np.array([[2]]))", "m.sum(a, keepdims='yes')"),
        *(
            "m.argmax(a, out=m.zeros((), dtype='float64'))",
            "m.tensordot(a, a, np.array([1.0, 0.0]))",
        ),
        *(
            "m.sort(a, kind='fast')",
            "m.trace(a[0])",
            "m.diagonal(a, axis1=1)",
            "m.asarray(a)[['a']]",
        ),
    ],
)
def test_rejected_as_numpy_rejects(call):
    assert_same_error(lambda: evaluate(call, mx.np), lambda: evaluate(call, np))


@pytest.mark.parametrize("name", ["int8", "int32", "int64", "uint16"])
def test_positions_go_into_integers(name):
    out = mx.np.zeros(3, dtype=name)
    mx.np.argmax(MATRIX, 0, out)
    assert_same(out, np.argmax(MATRIX, 0).astype(name))


OUT = [
    *("sum(a, 0, None, out)", "max(a, 0, out)", "std(a, 0, None, out)", "take(a, 0, 0, out)"),
    *("clip(a, -1, 1, out2)", "cumprod(a, 0, None, out2)", "round(a, 1, out2)"),
    "dot([1.0, 2], a, out)",
]


@pytest.mark.parametrize("call", OUT)
def test_out_is_where_numpy_has_it(call):
    results = {}
    for namespace in (mx.np, np):
        shapes = {"out": (3,), "out2": (2, 3)}
        names = {name: namespace.zeros(shape, "float64") for name, shape in shapes.items()}
        with quiet():
            result = eval(f"m.{call}", {"m": namespace, "a": MATRIX, **names})
        assert namespace.shares_memory(result, names["out2" if "out2" in call else "out"])
        results[namespace] = result
    assert_same(results[mx.np], results[np], exact=False)
