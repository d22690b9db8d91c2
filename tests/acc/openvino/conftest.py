import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

import mx

from ..conftest import FILES, need


@pytest.fixture(scope="package")
def openvino(accelerators) -> Path:
    """The accelerator's library."""
    library = accelerators / FILES["openvino"]
    if not library.exists():
        need("openvino")
    return library


@pytest.fixture(scope="package")
def ctx(openvino) -> Iterator[mx.Context]:
    """Its first device, which is the CPU, with one thread: small models are not worth more."""
    ctx = mx.load_acc(openvino)
    ctx.configure(num_threads=1)
    yield ctx
    gc.collect()
    mx.unload_acc("openvino")
