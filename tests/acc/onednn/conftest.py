import numpy as np
import pytest

from mxacc_check.plugin import Plugin

from .cases import FLOATS, computes_with, isa


@pytest.fixture
def plugin(load) -> Plugin:
    return load("onednn")


@pytest.fixture(params=FLOATS, ids=str)
def dtype(request, plugin) -> np.dtype:
    """A type that oneDNN computes with on this processor; of others, test_rejections.py."""
    if not computes_with(plugin, request.param):
        pytest.skip(f"oneDNN does not compute with {request.param} on {isa(plugin)}")
    return request.param
