"""Products of plans by the MKL that torch has brought."""

import ctypes
import os
import platform
import threading

import numpy as np
import pytest
import torch

import ffi
import mx
from mx import sol
from tests.graph.test_blas import ADDENDS, FACTORS, make, normal, run_kernel, turned

if platform.machine() != "x86_64":
    pytest.skip("torch has MKL on x86-64 alone", allow_module_level=True)

is_worth_it = ffi.get_global_func("mx.graph.has_mkl")
LIBRARY = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))


@pytest.fixture(autouse=True, scope="module")
def told() -> None:
    sol.optimize(torch.nn.Linear(2, 2), torch.ones(1, 2))


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize(("alpha", "beta", "whole"), ADDENDS.values(), ids=ADDENDS)
def test_kernel(alpha, beta, whole, threads) -> None:
    before = mx.get_num_threads()
    mx.set_num_threads(threads)
    try:
        for left, right in (*FACTORS.values(), ((33, 70), (70, 4)), ((5, 17), (17, 100))):
            check(normal(1, left), normal(2, right), alpha, beta, whole)
    finally:
        mx.set_num_threads(before)


def check(a, b, alpha, beta, whole) -> None:
    expected = alpha * (np.float64(a) @ np.float64(b))
    added = []
    if whole is not None:
        shape = [n if all_ else 1 for n, all_ in zip(expected.shape[-2:], whole, strict=True)]
        added = [normal(3, shape)]
        expected = expected + beta * np.float64(added[0]) if beta else expected
    for flips in ((False, False), (True, False), (False, True), (True, True)):
        given = [turned(one) if flip else one for one, flip in zip((a, b), flips, strict=True)]
        c = added[0].shape if added else None
        kernel = make(
            "float32", given[0].shape, given[1].shape, c, *flips, alpha, beta, True, by_mkl=True
        )
        inputs = [mx.np.array(one) for one in (*given, *(added if beta else ()))]
        (found,) = run_kernel(kernel, inputs)
        assert found.shape == expected.shape
        bound = 2e-6 * (1 + abs(expected).max(initial=0) * 4)
        np.testing.assert_allclose(found.asnumpy(), np.maximum(expected, 0), rtol=0, atol=bound)


def test_torch_has_as_many_threads_as_before() -> None:
    kernel = make("float32", (64, 64), (64, 64), None, False, False, 1.0, 1.0, False, by_mkl=True)
    matrix = mx.np.array(normal(1, (64, 64)))
    usual = LIBRARY.MKL_Set_Num_Threads_Local(3)
    try:
        run_kernel(kernel, [matrix, matrix])
    finally:
        assert LIBRARY.MKL_Set_Num_Threads_Local(usual) == 3


def test_several_threads_at_once() -> None:
    kernel = make("float32", (130, 70), (70, 90), None, False, False, 1.0, 1.0, False, by_mkl=True)
    a, b = normal(1, (130, 70)), normal(2, (70, 90))
    arrays = [mx.np.array(a), mx.np.array(b)]
    expected, wrong = np.float64(a) @ b, []

    def run() -> None:
        for _ in range(50):
            (found,) = run_kernel(kernel, arrays)
            if abs(found.asnumpy() - expected).max() > 1e-3:
                wrong.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_not_for_float64() -> None:
    with pytest.raises(NotImplementedError, match="by_mkl: expected float32"):
        make("float64", (2, 3), (3, 4), None, False, False, 1.0, 1.0, False, by_mkl=True)


def test_steps_of_training_are_its_on_processors_of_intel() -> None:
    """Products with weights that others pack once, and small ones, are not."""
    module, x = torch.nn.Linear(256, 512), torch.randn(64, 256)
    fast = sol.optimize(module, x)
    fast(x).square().sum().backward()
    found = [one.grad.clone() for one in module.parameters()]
    plans = fast._sol.training_plans()[0].plans
    steps = [step for plan in plans.values() for step in plan.steps()]
    products = {step.backend for step in steps if step.node.op_type == "Gemm"}
    assert ("mkl" in products) == is_worth_it()
    module.zero_grad()
    module(x).square().sum().backward()
    for one, parameter in zip(found, module.parameters(), strict=True):
        torch.testing.assert_close(one, parameter.grad, rtol=1e-4, atol=1e-3)
    rows = str(sol.report(fast))
    assert "Gemm" in rows and "mkl" not in rows
