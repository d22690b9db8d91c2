"""Sums of many terms, by several kernels, whose errors are smaller, and the parts of weights."""

from __future__ import annotations

import numpy
import onnx_ir
import pytest

from mx.graph import Plan
from mx.graph.lowering import ONEDNN, Chooser
from mx.graph.lowering._constant import Constant
from tests.graph.build import graph_of

random = numpy.random.default_rng(0)


def planned(nodes: str, x: tuple[int, ...], result: tuple[int, ...], **weights: tuple[int, ...]):
    """A plan of nodes that read x and weights, the graph's inputs, and its arrays by name."""
    text = f"g (float{list(x)} x) => (float{list(result)} y) {{ {nodes} }}"
    graph = graph_of(text)
    arrays = {name: _of(*shape) for name, shape in weights.items()}
    for name, array in arrays.items():
        for node in graph.model.graph:
            for index, value in enumerate(node.inputs):
                if value is not None and value.name == name:
                    made = onnx_ir.Value(name=name, const_value=onnx_ir.tensor(array, name=name))
                    made = graph.model.graph.initializers.setdefault(name, made)
                    node.replace_input_with(index, made)
    chooser = Chooser([ONEDNN])
    return Plan(graph, optimize=False, chooser=chooser), {"x": _of(*x), **arrays}


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype("float32")


CASES = {
    # the nodes, the shapes of x, the result and weights, how many kernels, and what they compute
    "row": (
        "y = MatMul(x, w)", (1, 800), (1, 1600), {"w": (800, 1600)}, 4,
        lambda x, w: x @ w,
    ),
    "odd": (
        "y = MatMul(x, w)", (1, 801), (1, 1600), {"w": (801, 1600)}, 4,
        lambda x, w: x @ w,
    ),
    "rows": (
        "y = MatMul(x, w)", (2, 3, 800), (2, 3, 1600), {"w": (800, 1600)}, 4,
        lambda x, w: x @ w,
    ),
    "fifths": (
        "y = MatMul(x, w)", (2, 1027), (2, 1100), {"w": (1027, 1100)}, 5,
        lambda x, w: x @ w,
    ),
    "more_rows": (
        "y = MatMul(x, w)", (9, 1027), (9, 1100), {"w": (1027, 1100)}, 3,
        lambda x, w: x @ w,
    ),
    "many_rows": (
        "y = MatMul(x, w)", (65, 1600), (65, 800), {"w": (1600, 800)}, 1,
        lambda x, w: x @ w,
    ),
    "fewer_terms": (
        "y = MatMul(x, w)", (2, 250), (2, 4400), {"w": (250, 4400)}, 1,
        lambda x, w: x @ w,
    ),
    "few_weights": (
        "y = MatMul(x, w)", (1, 1600), (1, 80), {"w": (1600, 80)}, 1,
        lambda x, w: x @ w,
    ),
    "several_matrices": (
        "y = MatMul(x, w)", (2, 1, 1600), (2, 1, 800), {"w": (2, 1600, 800)}, 1,
        lambda x, w: x @ w,
    ),
    "gemm": (
        "a = Gemm(x, w, c) b = Relu(a) y = Mul(b, z)", (3, 800), (3, 1600),
        {"w": (800, 1600), "c": (1600,), "z": (3, 1600)}, 4,
        lambda x, w, c, z: numpy.maximum(x @ w + c, 0) * z,
    ),
    "gemm_turned": (
        "y = Gemm<transA=1, transB=1, alpha=0.5>(x, w, c)", (800, 3), (3, 1600),
        {"w": (1600, 800), "c": (1600,)}, 4,
        lambda x, w, c: 0.5 * (x.T @ w.T) + c,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sums_of_parts(name) -> None:
    nodes, x, result, weights, count, compute = CASES[name]
    plan, arrays = planned(nodes, x, result, **weights)
    found = plan.run({"x": arrays["x"]})[0].asnumpy()
    names = [step[1] for step in plan.compiled({"x": arrays["x"]}).steps]
    products = [one for one in names if one.startswith(("onednn.matmul", "blas."))]
    assert len(products) == count, names
    exact = compute(*(array.astype("float64") for array in arrays.values()))
    numpy.testing.assert_allclose(found, exact, rtol=1e-4, atol=2e-4)
    # What nodes behind it do is done by the last kernel.
    assert not any(one.startswith(("relu", "mul")) for one in names)


@pytest.mark.parametrize("rows", [1, 4])
def test_errors_do_not_grow_with_terms(rows) -> None:
    """Past those of which a kernel makes one sum: some kernels make several of 512 by themselves,
    others none of 4,096."""
    errors = []
    for terms in (512, 4096):
        plan, arrays = planned("y = MatMul(x, w)", (rows, terms), (rows, 1024), w=(terms, 1024))
        found = plan.run({"x": arrays["x"]})[0].asnumpy()
        exact = arrays["x"].astype("float64") @ arrays["w"].astype("float64")
        errors.append(numpy.square(found - exact).mean() / numpy.square(exact).mean())
    assert errors[1] < 1.3 * errors[0]


@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_a_constant(axis) -> None:
    """They are packed instead of the whole, which can be had again."""
    from mx import _onednn

    onednn = _onednn.load()
    array = _of(65, 33)
    whole = Constant(array.copy())
    parts = whole.parts(axis, 2)
    assert whole.parts(axis, 2) is parts and len(whole.parts(axis, 3)) == 3
    numpy.testing.assert_array_equal(
        numpy.concatenate([part.elements for part in parts], axis), array
    )
    assert not whole.release()
    for part in parts:
        left = onednn.Input((2, part.shape[0]), "float32")
        onednn.matmul(left, part.weight(onednn.Weight), None, False, False, 1.0, None)
    whole.release()
    numpy.testing.assert_array_equal(whole.elements, array)
    assert Constant(array[:3, :3]).release() is False
