"""Where optimized models are executed: `sol.device.set("npu", 0)`."""

from ._device import Device, DeviceLike, device

__all__ = ["Device", "DeviceLike", "device"]
