"""The comparison of calls with what infer tells: it sees differences, and all operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ffi
import mx
from mx.op import TensorSpec
from tests.told import Told


@pytest.fixture
def wrong() -> Iterator[Callable[..., Any]]:
    """Makes an operator whose body and infer differ."""

    def make(infer: Callable[..., Any], body: Callable[..., Any]) -> Any:
        return mx.op.register("_npi.wrong", infer=infer, override=True)(body)

    yield make
    ffi.remove_global_func("_npi.wrong")


def reject(x: Any) -> Any:
    raise ValueError("it rejects all")


ONES = TensorSpec((2,), "float32")

# What infer tells, what the body does, and the difference that has to be seen.
PLANTED = (
    (lambda x: TensorSpec((3,), "float32"), lambda x: mx.np.ones(2), "infer tells float32.3,."),
    (lambda x: TensorSpec((2,), "int8"), lambda x: mx.np.ones(2), "infer tells int8.2,."),
    (lambda x: TensorSpec(("n",), "float32"), lambda x: mx.np.ones(2), "infer tells float32.n,."),
    (lambda x: [ONES, ONES], lambda x: mx.np.ones(2), "infer tells float32.2,.float32.2,."),
    (lambda x: ONES, lambda x: [mx.np.ones(2)] * 2, "came to float32.2,.float32.2,."),
    (lambda x: ONES, reject, "came to ValueError: .*it rejects all\n.*no error"),
)


@pytest.mark.parametrize(("infer", "body", "text"), PLANTED)
def test_a_difference_is_seen(
    told: Told, wrong: Callable[..., Any], infer: Any, body: Any, text: str
) -> None:
    operator = wrong(infer, body)
    with pytest.raises(AssertionError, match=text):
        with told.checked():
            try:
                operator(1)
            except ValueError:
                pass


def test_a_quick_call_is_compared(told: Told) -> None:
    before = told.calls().get("_npi.add", 0)
    with told.checked():
        mx.np.ones(2) + mx.np.ones(2)
    assert told.calls()["_npi.add"] > before


def test_a_copy_is_placed_as_zeros_where_run_wants_that(told: Told) -> None:
    copy = ffi.get_global_func("testing.zeroed_view")
    for _ in range(20):
        full = mx.np.full(64, 9, dtype="int8")
        assert copy(full).tolist() == [7] + [0] * 63
        del full


def test_a_rule_of_its_own_is_the_only_one(told: Told) -> None:
    with pytest.raises(ValueError, match="has promote with kMXNetTypesOwn, and only with it"):
        ffi.get_global_func("testing.register_promote")("testing.promoted")


@pytest.mark.after_all
def test_every_operator_has_been_compared(told: Told) -> None:
    names = ffi.list_global_func_names()
    operators = {name for name in names if name.startswith(("_npi.", "_npx."))}
    is_operator = ffi.get_global_func("testing.infer_is_operator")
    assert [name for name in operators if not is_operator(ffi.get_global_func(name))] == []
    assert len(operators) > 130
    assert operators - told.calls().keys() == set()
