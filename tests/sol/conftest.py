"""What tests of optimized models have in common."""

from collections.abc import Iterator

import pytest
import torch

import mx


@pytest.fixture
def one_thread() -> Iterator[None]:
    """For models that are too small to be shared between threads."""
    before = torch.get_num_threads(), mx.get_num_threads()
    torch.set_num_threads(1)
    mx.set_num_threads(1)
    yield
    torch.set_num_threads(before[0])
    mx.set_num_threads(before[1])
