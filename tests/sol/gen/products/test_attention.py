"""Attention against what it means, in float64: masks, grouped heads, rows of minus infinity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest

from mx.graph import Plan
from mx.graph.lowering import BACKENDS, Chooser
from mx.sol.backends.gen import GEN, Declined, Spec, Target, emit
from tests.graph.build import graph_of

from .running import TARGETS, Case, Table

Array = numpy.ndarray[Any, Any]
RANDOM = numpy.random.default_rng(0)
INFINITY = numpy.float32(numpy.inf)


def some(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype("float32")


def case(
    sizes: Sequence[int], mask: Array | None = None, joined: bool = False, **attributes: Any
) -> Case:
    """`sizes`: batch, heads, heads of keys, queries, keys, elements, elements of a value."""
    batch, heads, groups, queries, keys, size, value_size = sizes
    shapes = [
        (batch, heads, queries, size),
        (batch, groups, keys, size),
        (batch, groups, keys, value_size),
    ]
    arrays = [2 * some(*shape) for shape in shapes]
    if joined:
        arrays = [
            one.transpose(0, 2, 1, 3).reshape(one.shape[0], one.shape[2], -1) for one in arrays
        ]
        attributes.update(q_num_heads=heads, kv_num_heads=groups)
    return Case("Attention", (*arrays, mask), attributes=attributes, opset=23)


def without_some(queries: int, keys: int) -> Array:
    """A mask that leaves nothing to every other query, and not all to the others."""
    mask = some(queries, keys)
    mask[::2] = -INFINITY
    mask[:, : keys // 2] = -INFINITY
    return mask


CASES = {
    "one": case((1, 1, 1, 1, 1, 1, 1)),
    "small": case((2, 3, 3, 5, 7, 8, 8)),
    "blocks of keys": case((1, 2, 1, 20, 300, 33, 5)),
    "blocks of queries": case((1, 2, 2, 150, 40, 16, 20), scale=0.5),
    "causal": case((1, 2, 2, 150, 150, 8, 8), is_causal=1),
    "causal, fewer keys": case((1, 1, 1, 9, 4, 8, 8), is_causal=1),
    "causal, more keys": case((1, 1, 1, 5, 200, 8, 8), is_causal=1),
    "grouped heads": case((2, 6, 2, 5, 9, 8, 8)),
    "one head of keys": case((2, 6, 1, 5, 9, 8, 8)),
    "numbers": case((2, 3, 3, 9, 37, 8, 8), some(2, 1, 9, 37)),
    "a row": case((2, 3, 3, 9, 37, 8, 8), some(1, 37)),
    "booleans": case((2, 3, 3, 9, 37, 8, 8), RANDOM.random((3, 9, 37)) < 0.6),
    "booleans, causal": case(
        (1, 2, 2, 9, 37, 8, 8), RANDOM.random((1, 2, 1, 37)) < 0.6, is_causal=1
    ),
    "no keys left": case((1, 2, 2, 9, 150, 8, 8), without_some(9, 150)),
    "no keys at all": case((1, 1, 1, 4, 9, 8, 8), numpy.zeros((4, 9), bool)),
    "joined heads": case((2, 3, 3, 5, 7, 8, 4), joined=True),
    "joined, grouped, causal": case((2, 4, 2, 70, 7, 8, 4), some(7), joined=True, is_causal=1),
    "large scores": case((1, 1, 1, 4, 40, 8, 8), scale=50.0),
}  # fmt: skip
TABLE = Table({name: one.kernel for name, one in CASES.items()})


def heads_of(x: Array, heads: int) -> Array:
    """Of four axes, in float64."""
    if x.ndim == 3:
        x = x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)
    return x.astype("float64")


def expected(one: Case) -> Array:
    """softmax(q k^T * scale + mask) v; zeros for a query without keys."""
    attributes, mask = one.attributes, one.inputs[3]
    given = zip(one.inputs[:3], ("q_num_heads", *["kv_num_heads"] * 2), strict=True)
    q, k, v = (heads_of(x, attributes.get(name, 0)) for x, name in given if x is not None)
    k, v = (numpy.repeat(x, q.shape[1] // k.shape[1], axis=1) for x in (k, v))
    scores = q @ k.swapaxes(2, 3) * attributes.get("scale", q.shape[3] ** -0.5)
    if mask is not None:
        scores = numpy.where(mask, scores, -INFINITY) if mask.dtype == bool else scores + mask
    if attributes.get("is_causal"):
        scores = numpy.where(numpy.tri(*scores.shape[2:], dtype=bool), scores, -INFINITY)
    top = scores.max(-1, keepdims=True)
    powers = numpy.exp(scores - numpy.where(top == -INFINITY, 0, top))
    total = powers.sum(-1, keepdims=True)
    made: Array = powers / numpy.where(total == 0, 1, total) @ v
    if one.inputs[0].ndim == 3:
        made = made.transpose(0, 2, 1, 3).reshape(made.shape[0], made.shape[2], -1)
    return made


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_attention(name: str, target: str) -> None:
    (came,) = TABLE.run(target, name, CASES[name].inputs)
    wanted = expected(CASES[name])
    assert came.shape == wanted.shape
    numpy.testing.assert_allclose(came, wanted, rtol=2e-4, atol=2e-5)


def test_nan_stays_in_its_row() -> None:
    inputs = [numpy.copy(one) for one in CASES["small"].inputs[:3]]
    inputs[0][0, 1, 2, 3] = numpy.nan
    (came,) = TABLE.run(TARGETS[-1], "small", inputs)
    is_nan = numpy.isnan(came)
    assert is_nan[0, 1, 2].all() and is_nan.sum() == came.shape[3]


Q, K, V = (2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 8)


@pytest.mark.parametrize(
    ("shapes", "attributes", "reason"),
    [
        ((Q, K, (2, 2, 6, 8)), {}, "shapes"),
        ((Q, (2, 3, 7, 8), (2, 3, 7, 8)), {}, "4 heads for 3 of keys"),
        ((Q, K, V, (5, 1)), {}, "a mask of float32"),
        ((Q, K, V, (5, 7), K), {}, "keys and values of before"),
        ((Q, K, V), {"softcap": 2.0}, "softcap=2.0"),
        ((Q, K, V), {"scale": -1.0}, "scale=-1.0"),
        (((2, 5, 9), (2, 7, 4), (2, 7, 4)), {"q_num_heads": 2, "kv_num_heads": 1}, "2 heads of"),
    ],
)
def test_declined(shapes, attributes, reason) -> None:
    with pytest.raises(Declined, match=reason):
        emit(Target.named("c"), "Attention", [Spec(one, "float32") for one in shapes], attributes)


def test_in_a_plan() -> None:
    """A candidate beside the kernel of this package."""
    text = """g (float[2,3,5,8] q, float[2,3,9,8] k, float[2,3,9,8] v, bool[5,9] m)
      => (float[2,3,5,8] y) { y = Attention(q, k, v, m) }"""
    given = {"q": some(2, 3, 5, 8), "k": some(2, 3, 9, 8), "v": some(2, 3, 9, 8)}
    given["m"] = RANDOM.random((5, 9)) < 0.6
    plan = Plan(graph_of(text), chooser=Chooser((GEN, *BACKENDS)))
    assert [step[1] for step in plan.compiled(given).steps] == ["gen:attention"]
    (came,) = plan.run(given)
    numpy.testing.assert_allclose(came, Plan(graph_of(text)).run(given)[0], rtol=1e-4, atol=1e-5)
