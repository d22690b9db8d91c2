"""The kernels of the CUDA accelerator on the CPU; tests/acc/kernels has the operators on both."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mxacc_check.plugin import Plugin


@pytest.fixture(scope="module")
def on_cpu(cuda_on_cpu) -> Iterator[Plugin]:
    plugin = Plugin(cuda_on_cpu)
    yield plugin
    plugin.close()


@pytest.fixture(scope="module")
def load_with(cuda_on_cpu, tmp_path_factory) -> Iterator[Callable[..., Plugin]]:
    """Loads a copy of the library, as it looks for other libraries once, with the paths of these in
    its environment."""
    loaded = []

    def load(**paths: Path) -> Plugin:
        folder = tmp_path_factory.mktemp("loaded")
        library = shutil.copy(cuda_on_cpu, folder / "libcudaacc.so")
        with pytest.MonkeyPatch.context() as patch:
            for variable, path in paths.items():
                patch.setenv(variable, str(path))
            plugin = Plugin(library)
            plugin.configure()
        loaded.append(plugin)
        return plugin

    yield load
    for plugin in loaded:
        plugin.close()


def compiled(name: str, folder: Path, *flags: str) -> Path:
    """The library of the tests that stands for one of NVIDIA's, for memory of the host."""
    library = folder / f"lib{name}_of_the_tests.so"
    command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags]
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run([*command, source, "-o", library, "-lm"], check=True)
    return library
