"""Plans of modules on the threads of torch's OpenMP."""

import ctypes
import os
from collections.abc import Iterator

import pytest
import torch

import ffi
import mx
from mx import sol

Parallel = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint
)  # of a body, its data, a number of threads, and flags


@pytest.fixture
def regions() -> Iterator[list[int]]:
    """A number for each region that plans have begun."""
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    real = Parallel(("GOMP_parallel", library))
    begun: list[int] = []

    @Parallel
    def counted(body, data, threads, flags) -> None:
        begun.append(threads)
        real(body, data, threads, flags)

    use = ffi.get_global_func("mx.use_openmp")
    sol.optimize(torch.nn.Linear(2, 2), torch.ones(1, 2))(torch.ones(1, 2))  # tells of torch's
    use(ctypes.cast(counted, ctypes.c_void_p).value)
    yield begun
    use(ctypes.cast(real, ctypes.c_void_p).value)


def made() -> tuple[torch.nn.Module, torch.Tensor]:
    """A module that takes more than a millisecond."""
    torch.manual_seed(0)
    layers = [torch.nn.Linear(1024, 1024), torch.nn.Tanh(), torch.nn.Linear(1024, 1024)]
    return torch.nn.Sequential(*layers), torch.randn(256, 1024)


def inference(module, x) -> list[torch.Tensor]:
    """The outputs."""
    with torch.no_grad():
        return [module(torch.relu(x))]


def training(module, x) -> list[torch.Tensor]:
    """The loss and the gradients."""
    module.zero_grad()
    loss = module(torch.relu(x)).square().mean()
    loss.backward()
    return [loss.detach(), *(one.grad.clone() for one in module.parameters())]


@pytest.mark.parametrize(("run", "plans"), [(inference, 1), (training, 2)])
def test_they_give_the_same(run, plans, regions, two_threads) -> None:
    module, x = made()
    expected = run(module, x)
    fast = sol.optimize(module, x)
    # Each plan begins one in its second run, as it is known to be long then, or later where torch's
    # other thread is not at a processor when it is looked at.
    found = []
    while len(found) < 4 or (len(regions) < plans and len(found) < 100):
        found.append(run(fast, x))
    assert len(regions) >= plans
    assert set(regions) == {0}
    for results in found:
        for result, other in zip(results, expected, strict=True):
            torch.testing.assert_close(result, other, rtol=1e-4, atol=1e-6)


def test_one_thread_begins_none(regions, two_threads) -> None:
    mx.set_num_threads(1)
    module, x = made()
    fast = sol.optimize(module, x)
    for _ in range(3):
        training(fast, x)
    assert not regions
