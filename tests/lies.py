"""Operators whose body and infer differ. What test_observed.py runs, and has to see fail."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ffi
import mx
from mx.op import TensorSpec


@pytest.fixture
def operator() -> Iterator[Callable[..., Any]]:
    """Registers an operator with a body and an infer for the length of a test."""

    def make(body: Callable[[Any], Any], infer: Callable[[Any], Any]) -> Any:
        return mx.op.register("_npi.of_lies", infer=infer, override=True)(body)

    yield make
    ffi.remove_global_func("_npi.of_lies")


def ones(x: Any) -> Any:
    return mx.np.ones((2, 3))


def spec(*shape: int) -> Callable[[Any], Any]:
    return lambda x: TensorSpec(shape, "float32")


def test_honest(operator: Callable[..., Any]) -> None:
    operator(ones, spec(2, 3))(1)


def test_another_shape(operator: Callable[..., Any]) -> None:
    operator(ones, spec(3, 2))(mx.np.ones(4, dtype="int8"))


def test_another_type(operator: Callable[..., Any]) -> None:
    operator(ones, lambda x: TensorSpec((2, 3), "int8"))(1)


def test_an_error_that_is_not_told(operator: Callable[..., Any]) -> None:
    def body(x: Any) -> Any:
        raise ValueError("it rejects all")

    with pytest.raises(ValueError, match="it rejects all"):
        operator(body, spec(2, 3))(1)


def test_another_thread(operator: Callable[..., Any]) -> None:
    thread = threading.Thread(target=operator(ones, spec(5)), args=(1,))
    thread.start()
    thread.join()


@pytest.mark.unobserved
def test_unobserved(operator: Callable[..., Any]) -> None:
    operator(ones, spec(3, 2))(1)
