"""The kernels of attention in training compute what the operators' descriptions say."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ffi
from mx.graph import Plan
from mx.sol.operators import OPERATORS

from .test_kernels import check, f, plan_of

INFINITY = numpy.inf


def bools(*shape: int) -> Any:
    """A mask that leaves the first query no key."""
    mask = f(*shape) > 0
    mask[..., -1:] = True
    mask[..., :1, :] = False
    return mask


def numbers(*shape: int) -> Any:
    return numpy.where(bools(*shape), f(*shape), -INFINITY).astype("float32")


JOINED = {"q_num_heads": 6, "kv_num_heads": 2}
# Shapes of queries, keys and values, mask, attributes.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], Any, dict[str, Any]]] = {
    "one of each": ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), None, {}),
    "whole registers": ((2, 2, 32, 16), (2, 2, 64, 16), (2, 2, 64, 64), None, {"scale": 0.25}),
    "parts of registers": ((2, 3, 7, 5), (2, 3, 19, 5), (2, 3, 19, 3), None, {}),
    "blocks of keys": ((1, 2, 9, 8), (1, 2, 600, 8), (1, 2, 600, 8), None, {}),
    "blocks of queries": ((1, 1, 150, 4), (1, 1, 30, 4), (1, 1, 30, 4), None, {}),
    "more elements than a panel": ((1, 1, 6, 70), (1, 1, 67, 70), (1, 1, 67, 131), None, {}),
    "a scale of 0": ((1, 2, 5, 8), (1, 2, 6, 8), (1, 2, 6, 8), None, {"scale": 0.0}),
    "heads that share keys": ((2, 6, 5, 8), (2, 2, 9, 8), (2, 2, 9, 7), None, {}),
    "heads in a row": ((2, 5, 24), (2, 9, 8), (2, 9, 14), None, JOINED),
    "heads in a row, causal": ((2, 9, 24), (2, 9, 8), (2, 9, 14), None, {**JOINED, "is_causal": 1}),
    "causal, more keys": ((1, 2, 5, 8), (1, 2, 12, 8), (1, 2, 12, 8), None, {"is_causal": 1}),
    "causal, fewer keys": ((1, 2, 30, 8), (1, 2, 12, 8), (1, 2, 12, 8), None, {"is_causal": 1}),
    "causal, blocks": ((1, 1, 300, 4), (1, 1, 300, 4), (1, 1, 300, 4), None, {"is_causal": 1}),
    "a mask": ((1, 2, 5, 8), (1, 2, 20, 8), (1, 2, 20, 8), numbers(5, 20), {}),
    "a mask for all queries": ((2, 2, 5, 8), (2, 2, 20, 8), (2, 2, 20, 8), f(2, 1, 1, 20), {}),
    "a mask for each head": ((1, 3, 5, 8), (1, 3, 20, 8), (1, 3, 20, 8), numbers(3, 5, 20), {}),
    "a mask for all blocks": ((1, 1, 80, 8), (1, 1, 520, 8), (1, 1, 520, 8), numbers(80, 520), {}),
    "booleans": ((2, 6, 5, 8), (2, 2, 300, 8), (2, 2, 300, 8), bools(2, 1, 5, 300), {}),
    "a mask and causal": (
        (1, 2, 20, 8), (1, 2, 20, 8), (1, 2, 20, 8), numbers(20, 20), {"is_causal": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_as_described(case) -> None:
    q, k, v, mask, attributes = case
    given = [f(*q), f(*k), f(*v)]
    more = [] if mask is None else [mask]
    check("AttentionTraining", [*given, *more], attributes, "mx", 1e-5)
    made, sums = OPERATORS["AttentionTraining"].reference(*given, *more, **attributes)
    check("AttentionGrad", [f(*made.shape), *given, made, sums, *more], attributes, "mx", 2e-5)


def outputs_of(name: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
    count = len(OPERATORS[name].outputs)
    plan: Plan = plan_of(name, inputs, attributes, count)
    return [numpy.asarray(array) for array in plan(*inputs)]


def test_a_query_without_keys_adds_nothing() -> None:
    q, k, v = f(1, 1, 4, 8), f(1, 1, 6, 8), f(1, 1, 6, 8)
    mask = numpy.ones((4, 6), bool)
    mask[2] = False
    made, sums = outputs_of("AttentionTraining", [q, k, v, mask], {})
    assert (made[0, 0, 2] == 0).all() and (sums == INFINITY).sum() == 1
    given = f(1, 1, 4, 8)
    found = outputs_of("AttentionGrad", [given, q, k, v, made, sums, mask], {})
    left = [0, 1, 3]
    fewer = [array[:, :, left] for array in (given, q, made, sums)]
    wanted = outputs_of(
        "AttentionGrad", [fewer[0], fewer[1], k, v, fewer[2], fewer[3], mask[left]], {}
    )
    assert (found[0][0, 0, 2] == 0).all()
    numpy.testing.assert_allclose(found[0][:, :, left], wanted[0], rtol=1e-5, atol=1e-6)
    for one, other in zip(found[1:], wanted[1:], strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["q", "k", "v", "dy"])
def test_what_is_no_number_stays_none(name: str) -> None:
    arrays = {"dy": f(1, 1, 4, 8), "q": f(1, 1, 4, 8), "k": f(1, 1, 6, 8), "v": f(1, 1, 6, 8)}
    arrays[name][0, 0, 1, 3] = numpy.nan
    given = [arrays[key] for key in "qkv"]
    made, sums = outputs_of("AttentionTraining", given, {})
    found = outputs_of("AttentionGrad", [arrays["dy"], *given, made, sums], {})
    wanted = OPERATORS["AttentionGrad"].reference(arrays["dy"], *given, made, sums)
    for one, other in zip(found, wanted, strict=True):
        numpy.testing.assert_array_equal(numpy.isnan(one), numpy.isnan(other))


def test_no_batch_of_joined_heads() -> None:
    heads = {"q_num_heads": 4, "kv_num_heads": 2, "scale": 1.0}
    q, k, v = f(0, 3, 8), f(0, 5, 4), f(0, 5, 6)
    y, sums = OPERATORS["AttentionTraining"].reference(q, k, v, None, **heads)
    assert (y.shape, sums.shape) == ((0, 3, 12), (0, 4, 3))
    found = OPERATORS["AttentionGrad"].reference(y, q, k, v, y, sums, None, **heads)
    assert [one.shape for one in found] == [q.shape, k.shape, v.shape]


GOOD = [(1, 4, 5, 8), (1, 2, 6, 8), (1, 2, 6, 3), None, False, 1.0, False, False]
REJECTED = [
    (0, (1, 4, 5), "q: expected .batch, heads, queries, size., none of them 0, got .1, 4, 5."),
    (1, (1, 3, 6, 8), "k: expected .batch, heads or a divisor of them"),
    (2, (1, 2, 5, 3), "v: expected"),
    (3, (3, 6), "mask: expected"),
    (5, INFINITY, "scale: expected a finite number, got inf"),
]


@pytest.mark.parametrize(("position", "argument", "message"), REJECTED)
def test_rejected(position, argument, message) -> None:
    make = ffi.get_global_func("mx.graph.training.attention_grad")
    make(*GOOD)
    with pytest.raises(ValueError, match=f"mx.graph.training.attention_grad.*{message}"):
        make(*GOOD[:position], argument, *GOOD[position + 1 :])
