import numpy as np
import pytest

from mx._acc.check.plugin import Plugin

from .cases import FLOATS

# What the name of oneDNN's instruction set has where it is fast with a type.
NEEDED = {"float16": {"FP16", "AMX"}, "bfloat16": {"AVX512"}}


@pytest.fixture
def plugin(load) -> Plugin:
    return load("onednn")


@pytest.fixture(params=FLOATS, ids=str)
def dtype(request, plugin) -> np.dtype:
    """A type that oneDNN has on this processor."""
    isa = plugin.configure()["isa"]
    needed = NEEDED.get(request.param.name, set(isa.split("_")))
    if needed & set(isa.split("_")):
        return request.param
    pytest.skip(f"oneDNN is fast with {request.param} only on {needed}, this is {isa}")
