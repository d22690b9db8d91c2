"""The kernels of the CUDA accelerator on the CPU; tests/acc/kernels has the operators on both."""

from collections.abc import Iterator

import pytest

from mx._acc.check.plugin import Plugin


@pytest.fixture(scope="module")
def on_cpu(cuda_on_cpu) -> Iterator[Plugin]:
    plugin = Plugin(cuda_on_cpu)
    yield plugin
    plugin.close()
