"""The OpenCL accelerator of the tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mx._acc.check.plugin import AccError, Plugin

from ..conftest import need


@pytest.fixture(scope="module")
def library(accelerators) -> Path:
    need("opencl")
    return accelerators / "libopencl.so"


@pytest.fixture(scope="module")
def plugin(library) -> Iterator[Plugin]:
    plugin = Plugin(library)
    try:
        plugin.num_devices()
    except AccError as error:
        plugin.close()
        pytest.skip(error.message)
    yield plugin
    plugin.close()
