"""Operators that are functions of Python, and tell what they give."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from numpy.exceptions import AxisError
from numpy.typing import ArrayLike

import ffi
import mx
from mx.op import TensorSpec, infer

from .operators import outcome, shapes


def infer_parts(a: Any, b: Any, count: Any, name: str) -> Any:
    if count < 1:
        raise AxisError(f"no {name} of {count}")
    return [a] * count if b is None else b


@pytest.fixture
def parts() -> Iterator[Any]:
    @mx.op.register("_npi.parts_of_tests", infer=infer_parts)
    def parts(
        a: mx.np.ndarray, b: ArrayLike | None = None, count: int = 1, *, name: str = "x"
    ) -> Any:
        """Gives a several times, or b."""
        return [a] * count if b is None else b

    yield parts
    ffi.remove_global_func("_npi.parts_of_tests")


def test_an_operator_of_python_tells_what_it_gives(parts: Any) -> None:
    spec = TensorSpec(("n", 3), "int8")
    for function in (parts, vars(mx.np)["parts_of_tests"]):
        assert shapes(infer(function, spec)) == [("n", 3)]
        assert shapes(infer(function, spec, count=5)) == [("n", 3)] * 5
        assert shapes(infer(function, 2, mx.np.ones((4, 2)))) == [(4, 2)]
        assert infer(function, mx.np.ones(2, "int8"))[0].dtype == "int8"
        assert [made.shape for made in function(mx.np.ones(2), count=2)] == [(2,), (2,)]
    assert inspect.signature(parts).parameters["count"].default == 1
    assert parts.__doc__.startswith("Gives a several times")


@pytest.fixture
def joined() -> Iterator[Any]:
    def infer_joined(weight: Any, arrays: Any, scale: Any) -> Any:
        assert isinstance(arrays, tuple)
        rest = list(weight.shape[1:])
        extents = [array.shape[0] for array in arrays]
        if not arrays or any(list(array.shape[1:]) != rest for array in arrays):
            raise ValueError(f"{len(arrays)} arrays do not fit {list(weight.shape)}")
        return TensorSpec((sum(extents), *rest), "float32")

    @mx.op.register("_npi.joined_of_tests", infer=infer_joined)
    def joined(weight: ArrayLike, arrays: Sequence[ArrayLike], scale: int = 1) -> Any:
        """Joins arrays, and multiplies them."""
        return mx.np.concatenate(arrays) * mx.np.array(weight) * scale

    yield joined
    ffi.remove_global_func("_npi.joined_of_tests")


def test_an_operator_of_python_takes_several_arrays(joined: Any) -> None:
    weight, arrays = mx.np.ones((1, 3)), [mx.np.ones((2, 3)), mx.np.ones((4, 3))]
    assert [param.role for param in joined.info.params] == ["array", "arrays", "attribute"]
    for given in (arrays, tuple(arrays)):
        assert joined(weight, given, 2).tolist() == [[2.0] * 3] * 6
        assert shapes(infer(joined, weight, given)) == [(6, 3)]
    assert shapes(infer(joined, weight, mx.np.ones((5, 1, 3)))) == [(5, 3)]
    spec = TensorSpec((2, "n"), "float32")
    assert shapes(infer(joined, spec, [spec] * 3)) == [(6, "n")]
    assert mx.op.cost(joined, TensorSpec((2, 3), "float32"), arrays).bytes == 4 * (6 + 18 + 18)


@pytest.mark.parametrize("arrays", [(), [mx.np.ones((2, 2))], 1, None, "x"])
def test_what_is_wrong_with_several_arrays(joined: Any, arrays: Any) -> None:
    weight = mx.np.ones((1, 3))
    told, given = outcome(infer, joined, weight, arrays), outcome(joined, weight, arrays)
    assert told == given
    assert isinstance(told[0], type) and issubclass(told[0], Exception)


@pytest.mark.parametrize("args", [(1, None, 0), (1, None, -2), ("x",), ({},), (1, 2, "many"), ()])
def test_an_operator_of_python_raises_what_its_infer_raises(parts: Any, args: Any) -> None:
    told, given = outcome(infer, parts, *args), outcome(parts, *args)
    assert told[0] is given[0]
    assert args == () or told == given


@pytest.mark.parametrize(
    ("infer_result", "kind", "text"),
    [
        (3, TypeError, "infer has to give a TensorSpec, or a sequence of them, and gave int"),
        ([None], TypeError, "_npi.wrong: infer has to give .* gave None"),
    ],
)
def test_what_is_wrong_with_infer(infer_result: Any, kind: type[Exception], text: str) -> None:
    wrong = mx.op.register("_npi.wrong", infer=lambda x: infer_result)(lambda x: x)
    try:
        for call in (wrong, lambda x: infer(wrong, x)):
            with pytest.raises(kind, match=text):
                call(1)
    finally:
        ffi.remove_global_func("_npi.wrong")


def test_what_is_no_function_for_an_operator() -> None:
    for function in (print, lambda *args: args):
        with pytest.raises(TypeError, match="_npi.wrong: an operator"):
            mx.op.register("_npi.wrong", infer=lambda *args: args)(function)
    register = mx.op.register("_npi.add", infer=lambda x: x)
    with pytest.raises(ValueError, match="_npi.add"):
        register(lambda x: x)
