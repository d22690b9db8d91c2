"""What tests of optimized models have in common."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import mx
from mx import sol


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Of torch and of plans."""
    before = torch.get_num_threads(), mx.get_num_threads()
    torch.set_num_threads(count)
    mx.set_num_threads(count)
    yield
    torch.set_num_threads(before[0])
    mx.set_num_threads(before[1])


@pytest.fixture(scope="package", autouse=True)
def no_cache_of_compilers() -> Iterator[None]:
    """Generated code is compiled once: ccache, where it is in front of the compilers, would only
    read it first and keep the outcome, which takes a fifth of their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCACHE_DISABLE", "1")
        yield


@pytest.fixture
def one_thread() -> Iterator[None]:
    """For models that are too small to be shared between threads."""
    with threads(1):
        yield


@pytest.fixture
def two_threads() -> Iterator[None]:
    """However many processors there are."""
    with threads(2):
        yield


@pytest.fixture
def small() -> Any:
    """A module of torch with a batch norm that has seen something, for inference."""
    from .test_torch import Small, image

    torch.manual_seed(0)
    model = Small()
    with torch.no_grad():
        model(image(4, 1, 6, 5))
    return model.eval()


@pytest.fixture
def fast(small: Any) -> Any:
    """The same module, optimized."""
    from .test_torch import image

    return sol.optimize(small, image())
