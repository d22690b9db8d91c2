"""The library where there is no device, where there is one, and what it is linked to."""

import re
import subprocess
from pathlib import Path

import pytest

from mxacc_check import abi, cli
from mxacc_check.plugin import AccError, Plugin

from ..conftest import FILES, need, open_usable
from ..kernels.cases import python


@pytest.fixture(scope="module")
def library(accelerators) -> Path:
    need("cuda")
    return accelerators / FILES["cuda"]


@pytest.fixture
def deviceless(library) -> Path:
    """The library, on a machine without a GPU."""
    plugin = Plugin(library)
    try:
        plugin.num_devices()
    except AccError:
        return library
    finally:
        plugin.close()
    pytest.skip("needs a machine without a CUDA GPU")


NO_DEVICE = "there is no driver of CUDA|the driver is for CUDA|cudaGetDeviceCount: "


def test_needs_no_library_of_cuda_to_be_loaded(library):
    command = ["readelf", "--dynamic", "--wide", library]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", listed)
    assert "libc.so.6" in needed
    assert not [name for name in needed if "cu" in name]


def test_why_there_is_no_device(deviceless):
    code = """
import mx
try:
    mx.load_acc(path)
except Exception as error:
    print(type(error).__name__, error)
"""
    assert re.match(f"RuntimeError cannot load .* ({NO_DEVICE})", python(deviceless, code))


def test_the_check_says_so_too(deviceless, capsys):
    assert cli.main([str(deviceless)]) != 0
    assert re.search(f"could not run: getNumAcc: no_device: ({NO_DEVICE})", capsys.readouterr().out)


def test_what_a_device_says(library):
    plugin = open_usable(library)
    info = plugin.info()
    assert info.name and info.vendor == b"NVIDIA" and b"CUDA" in info.driver
    assert info.flags == abi.STRIDES
    handle = plugin.alloc(1 << 20)  # and the device is in use
    assert 0 < plugin.info().memory_free < info.memory_total
    plugin.api.mx_free(plugin.api.self, 0, handle)
    assert float(plugin.configure()["compute_capability"]) >= 7.5
    plugin.close()


def test_conforms_to_the_interface(cuda_on_cpu, capsys):
    assert cli.main([str(cuda_on_cpu), "--quick"]) == 0, capsys.readouterr().out


def test_arrays(cuda_on_cpu):
    code = """
import warnings
import numpy as np
import mx
warnings.simplefilter("error")
ctx = mx.load_acc(path)
values = np.arange(12, dtype="float32").reshape(3, 4)
a = mx.np.ones((3, 4), ctx=mx.cuda(1))
b = mx.np.array(values, ctx=mx.cuda(1))
assert ((a + b).T[1:, ::-1].asnumpy() == (values + 1).T[1:, ::-1]).all()
assert (mx.np.matmul(a, b.T).asnumpy() == np.ones_like(values) @ values.T).all()
for name in ("softmax", "log_softmax"):
    function = getattr(mx.npx, name)
    result = function(b.T, axis=0, temperature=3, dtype="float64")
    expected = function(mx.np.array(values.T), axis=0, temperature=3, dtype="float64")
    assert result.ctx == b.ctx and np.allclose(result.asnumpy(), expected.asnumpy(), rtol=1e-12)
print(ctx, (a + b).ctx, b.sum().asnumpy())
"""
    assert python(cuda_on_cpu, code) == "cuda(0) cuda(1) 66.0\n"


CONFIGURATIONS = [
    ({"tf32": "1"}, "1"),
    ({"tf32": "0"}, "0"),
    ({"tf32": "yes"}, "tf32 is 0 or 1, not 'yes'"),
    ({"volume": "11"}, "there is no 'volume' to set, only 'tf32'"),
]


@pytest.mark.parametrize(("options", "answer"), CONFIGURATIONS)
def test_configure(on_cpu, options, answer):
    if answer in "01":
        assert on_cpu.configure(**options)["tf32"] == answer
        return
    with pytest.raises(AccError, match=answer) as caught:
        on_cpu.configure(**options)
    assert caught.value.code == "bad_argument"


@pytest.mark.parametrize("name", ["cublas", "cudnn"])
def test_where_libraries_for_gpus_are_of_no_use(on_cpu, name):
    assert on_cpu.configure()[name] == "none: the devices are no GPUs"
