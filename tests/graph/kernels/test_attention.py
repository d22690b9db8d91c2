"""The kernel of ONNX's Attention, against float64 and what the operator is short for."""

from __future__ import annotations

import numpy
import onnx_ir
import pytest
from onnx import TensorProto, helper, parser
from onnx.reference import ReferenceEvaluator

import ffi
from mx.graph import Graph, Plan
from mx.graph.lowering import BACKENDS, Chooser

INFINITY = numpy.inf


class ByBody(Chooser):
    """Has what the operator is short for in place of a kernel."""

    def order(self, layer):
        return () if layer.operator == "Attention" else self.backends


def model_of(arrays: dict[str, numpy.ndarray], attributes: dict, opset: int = 23):
    """Attention of positions before heads, (batch, positions, heads, size), and heads joined."""
    joined = arrays["q"].ndim == 3
    nodes, names = [], []
    for name in "qkv":
        if joined:
            names.append(name)
            continue
        names.append(f"{name}t")
        nodes.append(helper.make_node("Transpose", [name], [f"{name}t"], perm=[0, 2, 1, 3]))
    names += ["m"] if "m" in arrays else []
    nodes.append(helper.make_node("Attention", names, ["y" if joined else "a"], **attributes))
    if not joined:
        nodes.append(helper.make_node("Transpose", ["a"], ["y"], perm=[0, 2, 1, 3]))
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in arrays.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * arrays["q"].ndim)
    graph = helper.make_graph(nodes, "attention", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def drawn(shape: tuple[int, ...], seed: int) -> numpy.ndarray:
    return numpy.random.default_rng(seed).standard_normal(shape).astype("float32")


def tensors(q: tuple[int, ...], k: tuple[int, ...], size: int, mask=None) -> dict:
    """Queries, and keys, of (batch, positions, heads, elements); values of so many elements."""
    arrays = {"q": drawn(q, 1), "k": drawn(k, 2), "v": drawn((*k[:3], size), 3)}
    return arrays if mask is None else {**arrays, "m": mask}


def in_float64(arrays: dict, is_causal: int = 0, scale: float | None = None) -> numpy.ndarray:
    q, k, v = (arrays[name].astype("float64").transpose(0, 2, 1, 3) for name in "qkv")
    repeats = q.shape[1] // k.shape[1]
    k, v = numpy.repeat(k, repeats, 1), numpy.repeat(v, repeats, 1)
    bias = numpy.zeros((q.shape[2], k.shape[2]))
    if is_causal:
        bias[numpy.triu_indices_from(bias, 1)] = -INFINITY
    if "m" in arrays:
        mask = arrays["m"]
        bias = bias + (numpy.where(mask, 0, -INFINITY) if mask.dtype == bool else mask)
    scores = q @ k.swapaxes(2, 3) * (q.shape[3] ** -0.5 if scale is None else scale) + bias
    peak = scores.max(-1, keepdims=True)
    weights = numpy.exp(scores - numpy.where(peak == -INFINITY, 0, peak))
    total = weights.sum(-1, keepdims=True)
    return (weights / numpy.where(total == 0, 1, total) @ v).transpose(0, 2, 1, 3)


def steps_of(plan: Plan, feeds: dict) -> list[str]:
    return [step[1] for step in plan.compiled(feeds).steps]


def run(model, arrays: dict, chooser: Chooser | None = None) -> numpy.ndarray:
    plan = Plan(Graph(onnx_ir.from_proto(model)), chooser=chooser)
    (result,) = plan.run(arrays)
    if chooser is None:
        assert steps_of(plan, arrays) == ["attention"]
    return result.asnumpy()


def random_bools(*shape: int) -> numpy.ndarray:
    mask = numpy.random.default_rng(4).random(shape) < 0.5
    mask[..., 0] = True
    return mask


# Shapes of queries and keys, elements of a value, mask, attributes.
CASES = {
    "one of each": ((1, 1, 1, 1), (1, 1, 1, 1), 1, None, {}),
    "whole registers": ((2, 32, 2, 16), (2, 64, 2, 16), 64, None, {}),
    "parts of registers": ((2, 7, 3, 5), (2, 19, 3, 5), 3, None, {}),
    "more elements than a panel": ((1, 26, 1, 70), (1, 67, 1, 70), 131, None, {}),
    "blocks of keys": ((1, 9, 1, 8), (1, 600, 1, 8), 8, None, {}),
    "parts of queries": ((1, 150, 1, 4), (1, 30, 1, 4), 4, None, {}),
    "a scale": ((1, 5, 2, 8), (1, 6, 2, 8), 8, None, {"scale": 0.7}),
    "a scale of 0": ((1, 5, 2, 8), (1, 6, 2, 8), 8, None, {"scale": 0.0}),
    "heads that share keys": ((2, 5, 6, 8), (2, 9, 2, 8), 7, None, {}),
    "causal": ((1, 40, 2, 8), (1, 40, 2, 8), 8, None, {"is_causal": 1}),
    "causal, more keys": ((1, 5, 2, 8), (1, 12, 2, 8), 8, None, {"is_causal": 1}),
    "causal, fewer keys": ((1, 30, 2, 8), (1, 12, 2, 8), 8, None, {"is_causal": 1}),
    "causal, blocks of keys": ((1, 300, 1, 4), (1, 300, 1, 4), 4, None, {"is_causal": 1}),
    "a mask": ((1, 5, 2, 8), (1, 20, 2, 8), 8, drawn((5, 20), 5), {}),
    "a mask for all queries": ((2, 5, 2, 8), (2, 20, 2, 8), 8, drawn((2, 1, 1, 20), 5), {}),
    "a mask of one axis": ((2, 5, 2, 8), (2, 20, 2, 8), 8, drawn((20,), 5), {}),
    "a mask for each head": ((2, 5, 3, 8), (2, 20, 3, 8), 8, drawn((3, 5, 20), 5), {}),
    "a mask for all blocks": ((1, 30, 1, 8), (1, 520, 1, 8), 8, drawn((30, 520), 5), {}),
    "booleans": ((2, 5, 2, 8), (2, 300, 2, 8), 8, random_bools(2, 1, 5, 300), {}),
    "a mask and causal": (
        (1, 20, 2, 8), (1, 20, 2, 8), 8, drawn((20, 20), 5), {"is_causal": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_against_float64(case) -> None:
    q, k, size, mask, attributes = case
    arrays = tensors(q, k, size, mask)
    result = run(model_of(arrays, attributes), arrays)
    expected = in_float64(arrays, **attributes)
    numpy.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-6, strict=False)
    assert result.shape == expected.shape


def changed(arrays: dict, name: str, index: tuple, number: float) -> dict:
    array = arrays[name].copy()
    array[index] = number
    return {**arrays, name: array}


LEAVES_NONE = numpy.zeros((5, 20), "float32")
LEAVES_NONE[2] = -INFINITY
PLAIN = tensors((1, 5, 2, 8), (1, 20, 2, 8), 8)
MASKED = {**PLAIN, "m": LEAVES_NONE}
SPECIAL = {
    "NaN in a query": (changed(PLAIN, "q", (0, 1, 1, 3), numpy.nan), {}),
    "NaN in a key": (changed(PLAIN, "k", (0, 17, 0, 3), numpy.nan), {}),
    "NaN in a value": (changed(PLAIN, "v", (0, 17, 0, 3), numpy.nan), {}),
    "infinity in a query": (changed(PLAIN, "q", (0, 1, 1, 3), INFINITY), {}),
    "infinity in a key": (changed(PLAIN, "k", (0, 17, 0, 3), -INFINITY), {}),
    "infinity in a value": (changed(PLAIN, "v", (0, 17, 0, 3), INFINITY), {}),
    "NaN in a mask": (changed(MASKED, "m", (3, 4), numpy.nan), {}),
    "infinity in a mask": (changed(MASKED, "m", (3, 4), INFINITY), {}),
    "a query without keys": (MASKED, {}),
    "a query without keys, booleans": ({**PLAIN, "m": LEAVES_NONE == 0}, {}),
    "a query without keys, of NaN": (changed(MASKED, "q", (0, 2, 0, 0), numpy.nan), {}),
    "a query without keys before itself": (
        {**PLAIN, "m": numpy.where(numpy.arange(20) < 3, -INFINITY, 0).astype("float32")},
        {"is_causal": 1},
    ),
    "scores that are no numbers": (
        changed(changed(PLAIN, "q", (0, 1), -INFINITY), "k", (), 1.0), {},
    ),
    "the least number as a mask": (
        {**PLAIN, "m": numpy.full((5, 20), numpy.finfo("float32").min)}, {},
    ),
    "far scores": (changed(PLAIN, "q", (0, 1), 1e4), {}),
}  # fmt: skip


@pytest.mark.parametrize("opset", [23, 24])
@pytest.mark.parametrize("case", SPECIAL.values(), ids=SPECIAL)
def test_special_numbers_as_the_body_has_them(case, opset) -> None:
    arrays, attributes = case
    model = model_of(arrays, attributes, opset)
    expected = run(model, arrays, ByBody(BACKENDS))
    numpy.testing.assert_allclose(run(model, arrays), expected, rtol=1e-4, atol=1e-5)


def test_heads_in_a_row() -> None:
    arrays = {"q": drawn((2, 5, 12), 1), "k": drawn((2, 7, 6), 2), "v": drawn((2, 7, 8), 3)}
    model = model_of(arrays, {"q_num_heads": 4, "kv_num_heads": 2})
    (expected,) = ReferenceEvaluator(model).run(None, arrays)
    numpy.testing.assert_allclose(run(model, arrays), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("is_causal", [0, 1])
def test_no_less_exact_than_torch(is_causal) -> None:
    torch = pytest.importorskip("torch")
    arrays = tensors((1, 128, 2, 64), (1, 128, 2, 64), 64)
    expected = in_float64(arrays, is_causal)
    result = run(model_of(arrays, {"is_causal": is_causal}), arrays)
    given = [torch.from_numpy(arrays[name]).transpose(1, 2) for name in "qkv"]
    theirs = torch.nn.functional.scaled_dot_product_attention(*given, is_causal=bool(is_causal))
    error = abs(theirs.transpose(1, 2).numpy() - expected).max()
    assert abs(result - expected).max() <= 2 * error


def test_any_strides() -> None:
    """Elements that lie in columns, and that are repeated, are read where they are."""
    text = """<ir_version: 10, opset_import: ["" : 23]>
    g (float[2, 4, 8, 5] q, float[2, 4, 8, 7] k, float[2, 4, 3, 7] v, float[7, 1] m) =>
      (float[2, 4, 5, 3] y) {
        qt = Transpose<perm = [0, 1, 3, 2]>(q)  kt = Transpose<perm = [0, 1, 3, 2]>(k)
        vt = Transpose<perm = [0, 1, 3, 2]>(v)  mt = Transpose(m)
        y = Attention(qt, kt, vt, mt)
    }"""
    model = parser.parse_model(text)
    shapes = {"q": (2, 4, 8, 5), "k": (2, 4, 8, 7), "v": (2, 4, 3, 7), "m": (7, 1)}
    arrays = {name: drawn(shape, seed) for seed, (name, shape) in enumerate(shapes.items())}
    expected = run(model, arrays, ByBody(BACKENDS))
    numpy.testing.assert_allclose(run(model, arrays), expected, rtol=1e-5, atol=1e-6)


LEFT = {
    "float64": (PLAIN, "float64", {}),
    "a bound of scores": (PLAIN, "float32", {"softcap": 2.0}),
    "a negative scale": (PLAIN, "float32", {"scale": -1.0}),
}


@pytest.mark.parametrize("case", LEFT.values(), ids=LEFT)
def test_left_to_others(case) -> None:
    arrays, dtype, attributes = case
    arrays = {name: array.astype(dtype) for name, array in arrays.items()}
    model = model_of(arrays, attributes)
    if dtype != "float32":
        model.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    plan = Plan(Graph(onnx_ir.from_proto(model)))
    (result,) = plan.run(arrays)
    with numpy.errstate(invalid="ignore"):  # of the root of a negative scale
        (expected,) = ReferenceEvaluator(model).run(None, arrays)
    assert "attention" not in steps_of(plan, arrays)
    numpy.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-4, atol=1e-5)


GOOD = [(1, 4, 5, 8), (1, 2, 6, 8), (1, 2, 6, 3), None, False, 1.0, False, False, False]
REJECTED = [
    (0, (1, 4, 5), "q: expected .batch, heads, queries, size., none of them 0, got .1, 4, 5."),
    (0, (1, 4, 0, 8), "q: expected"),
    (0, (1, -4, 5, 8), "q: expected extents of 0 or more, got -4"),
    (1, (1, 3, 6, 8), "k: expected .batch, heads or a divisor of them"),
    (1, (2, 2, 6, 8), "k: expected"),
    (1, (1, 2, 6, 7), "k: expected"),
    (2, (1, 2, 5, 3), "v: expected"),
    (3, (1,), "mask: expected"),
    (3, (3, 6), "mask: expected"),
    (3, (1, 1, 1, 5, 6), "mask: expected"),
    (5, float("nan"), "scale: expected a finite number, got nan"),
]


@pytest.mark.parametrize(("position", "argument", "message"), REJECTED)
def test_rejected(position, argument, message) -> None:
    make = ffi.get_global_func("mx.graph.attention")
    make(*GOOD)
    with pytest.raises(ValueError, match=f"mx.graph.attention.*{message}"):
        make(*GOOD[:position], argument, *GOOD[position + 1 :])
