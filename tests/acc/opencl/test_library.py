"""Devices, and the library as MXNet uses it."""

import numpy as np

from mxacc_check import abi

from ..kernels.cases import python, run


def test_what_a_device_says(plugin):
    info = plugin.info()
    assert info.name and info.vendor and b"OpenCL" in info.driver
    assert info.flags == abi.STRIDES
    size = 1 << 20
    handle = plugin.alloc(size)
    assert plugin.info().memory_free == info.memory_free - size
    plugin.api.mx_free(plugin.api.self, 0, handle)
    assert plugin.configure()["platform"]


def test_a_kernel_is_compiled_once(plugin):
    x = np.ones((2, 3), "uint16")
    run(plugin, "square", {"x": x}, x)
    programs = plugin.configure()["programs"]
    run(plugin, "square", {"x": np.ones(7, "uint16")}, np.ones(7, "uint16"))
    assert plugin.configure()["programs"] == programs


def test_without_a_platform(library, tmp_path):
    code = """
import mx
try:
    mx.load_acc(path)
except Exception as error:
    print(type(error).__name__, error)
"""
    said = python(library, code, OCL_ICD_VENDORS=str(tmp_path))
    assert "no OpenCL platform; install a driver" in said


def test_several_devices(library):
    code = """
import numpy as np
from mxacc_check.plugin import AccError, Plugin
plugin = Plugin(path)
values = np.arange(6, dtype="float32")
memory = [plugin.to_device(values + number, number) for number in range(plugin.num_devices())]
for number, item in enumerate(memory):
    executor = plugin.executor("negative", {"x": item}, [item], number)
    executor.run([item], [item])
    executor.close()
    assert (plugin.to_host(item) == -(values + number)).all()
try:
    plugin.copy("copyWithinAcc", memory[1], memory[0])
except AccError as error:
    print(plugin.num_devices(), error.code)
try:
    plugin.copy("copyToAcc", memory[0], memory[1])
except AccError as error:
    print(error.code)
plugin.close()
"""
    said = python(library, code, POCL_DEVICES="basic pthread")
    assert said.split() == ["2", "unsupported", "bad_argument"]


def test_arrays(library, plugin):
    code = """
import numpy as np
import mx
ctx = mx.load_acc(path)
assert str(ctx) == "opencl(0)"
with ctx:
    a = mx.np.zeros((3, 4)) + 1
values = np.arange(12, dtype="float32").reshape(3, 4)
b = mx.np.array(values, ctx=ctx)
assert (a.asnumpy() == 1).all()
assert (b.T[1:, ::-1].asnumpy() == values.T[1:, ::-1]).all()
assert ((a + b).asnumpy() == values + 1).all()
assert (mx.np.matmul(a, b.T).asnumpy() == np.ones_like(values) @ values.T).all()
print(a.ctx, ctx.configure()["platform"] != "")
del a, b
mx.unload_acc("opencl")
mx.load_acc(path)
print(mx.np.ones(2, ctx="opencl(0)").asnumpy())
"""
    assert python(library, code).splitlines() == ["opencl(0) True", "[1. 1.]"]
