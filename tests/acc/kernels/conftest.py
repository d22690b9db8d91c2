"""The accelerators with kernels of their own, which have the same operators."""

from collections.abc import Iterator

import pytest

from mxacc_check.plugin import Plugin

from ..conftest import FILES, need, open_usable

# The kernels of cuda run on the CPU, too: line by line what a GPU runs.
KINDS = ("opencl", "cuda", "cuda on the CPU")


@pytest.fixture(scope="module", params=KINDS)
def plugin(request, accelerators) -> Iterator[Plugin]:
    if request.param in FILES:
        need(request.param)
        library = accelerators / FILES[request.param]
    else:
        library = request.getfixturevalue("cuda_on_cpu")
    plugin = open_usable(library)
    yield plugin
    plugin.close()
