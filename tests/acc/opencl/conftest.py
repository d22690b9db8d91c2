"""The OpenCL accelerator of the tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mxacc_check.plugin import Plugin

from ..conftest import FILES, need, open_usable


@pytest.fixture(scope="module")
def library(accelerators) -> Path:
    need("opencl")
    return accelerators / FILES["opencl"]


@pytest.fixture(scope="module")
def plugin(library) -> Iterator[Plugin]:
    plugin = open_usable(library)
    yield plugin
    plugin.close()
