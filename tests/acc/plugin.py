"""A small host for an accelerator library, straight on its table: no runtime of ours takes part."""

from __future__ import annotations

import _ctypes
import ctypes
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from . import abi

KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
OPERATOR_SET = 1
ACC_DEVICE = 77


class AccError(Exception):
    """A status that is no success."""

    def __init__(self, function: str, status):
        error = status.contents
        self.code = next(name for name, code in abi.CODES.items() if code == error.code)
        self.message = error.message.decode()
        super().__init__(f"{function}: {self.code}: {self.message}")


class Memory:
    """Memory of a device, seen as an array."""

    def __init__(self, plugin: Plugin, dev_id: int, handle: int, array: np.ndarray):
        self.plugin, self.dev_id, self.handle = plugin, dev_id, handle
        # No elements of the host's: its shape, strides and dtype, and how far the view begins.
        self.array, self.byte_offset = array, 0

    def view(self, key) -> Memory:
        """What indexing a NumPy array gives, of the same memory."""
        view = self.array[key]
        result = Memory(self.plugin, self.dev_id, self.handle, view)
        first = view.__array_interface__["data"][0] - self.array.__array_interface__["data"][0]
        result.byte_offset = self.byte_offset + first
        return result

    def free(self) -> None:
        self.plugin.api.mx_free(self.dev_id, self.handle)


def geometry(array: np.ndarray | Memory) -> abi.MXAccGeometry:
    """The geometry of an array of the host, or of memory of a device."""
    on_host = isinstance(array, np.ndarray)
    shape = array if on_host else array.array
    extents = ctypes.c_int64 * max(shape.ndim, 1)
    steps = (step // shape.itemsize for step in shape.strides)
    return abi.MXAccGeometry(
        array.ctypes.data if on_host else array.handle,
        abi.MXAccDevice(abi.HOST_DEVICE, 0)
        if on_host
        else abi.MXAccDevice(ACC_DEVICE, array.dev_id),
        shape.ndim,
        abi.MXAccDataType(KINDS[shape.dtype.kind], 8 * shape.itemsize, 1),
        extents(*shape.shape),
        extents(*steps),
        0 if on_host else array.byte_offset,
    )


def tensors(arrays: Sequence[np.ndarray | Memory], names: Sequence[str | None] = (), role: int = 0):
    """An array of MXTensor."""
    names = list(names) or [None] * len(arrays)
    made = [
        abi.MXTensor(
            ctypes.sizeof(abi.MXTensor), geometry(array), name and name.encode(), role=role
        )
        for array, name in zip(arrays, names, strict=True)
    ]
    return (abi.MXTensor * max(len(made), 1))(*made)


class Executor:
    """How an operator is carried out; freed with close."""

    def __init__(self, plugin: Plugin, executor: abi.MXAccExecutor):
        self.plugin, self.executor = plugin, executor

    def run(self, inputs: Sequence[Memory], outputs: Sequence[Memory], stream=None) -> None:
        status = self.executor.run(
            self.executor.state,
            tensors(inputs),
            len(inputs),
            tensors(outputs, role=3),
            len(outputs),
            stream,
        )
        if status:
            raise AccError("run", status)

    def close(self) -> None:
        if self.executor.free:
            self.executor.free(self.executor.state)


class Plugin:
    """A library that is loaded and, unless told otherwise, initialized."""

    def __init__(
        self,
        path: Path,
        initialize: bool = True,
        host_size: int = ctypes.sizeof(abi.MXAccHost),
        api_size: int = ctypes.sizeof(abi.MXAccApi),
    ):
        self.messages: list[str] = []
        self._log = abi.Log(lambda _, level, message: self.messages.append(message.decode()))
        self.host = abi.MXAccHost(
            host_size,
            abi.ABI_MAJOR,
            0,
            b"0.0",
            OPERATOR_SET,
            str(path).encode(),
            None,
            self._log,
        )
        self.library = ctypes.CDLL(str(path))
        self.initialized = False
        self.room = ctypes.create_string_buffer(b"\xee" * 4096, 4096)
        ctypes.memset(self.room, 0, api_size)
        self.api = abi.MXAccApi.from_buffer(self.room)
        self.api.struct_size = api_size
        entry = self.library.mxacc_get_api
        entry.restype = abi.Status
        try:
            self._check("mxacc_get_api", entry(ctypes.byref(self.host), ctypes.byref(self.api)))
            if initialize:
                self.initialize()
        except AccError:
            self.close()
            raise

    def initialize(self) -> None:
        if self.api.initialize:
            self.call("initialize", ctypes.byref(self.host))
        self.initialized = True

    def close(self) -> None:
        """Ends the library's work and unloads it."""
        if self.initialized and self.api.finalize:
            self.api.finalize()
        _ctypes.dlclose(self.library._handle)

    def _check(self, function: str, status) -> None:
        if status:
            raise AccError(function, status)

    def call(self, function: str, *args) -> None:
        """Calls a member of the table that returns a status."""
        self._check(function, getattr(self.api, function)(*args))

    def has(self, function: str) -> bool:
        return bool(getattr(self.api, function))

    # ---- the library, its devices ----

    def name(self, size: int = abi.NAME_SIZE) -> str:
        room = ctypes.create_string_buffer(size)
        self.call("getAccName", room, size)
        return room.value.decode()

    def num_devices(self) -> int:
        count = ctypes.c_int32(-1)
        self.call("getNumAcc", ctypes.byref(count))
        return count.value

    def info(self, dev_id: int = 0) -> abi.MXAccDeviceInfo:
        info = abi.MXAccDeviceInfo(ctypes.sizeof(abi.MXAccDeviceInfo))
        self.call("getDeviceInfo", dev_id, ctypes.byref(info))
        return info

    def imperative(self) -> bool:
        yes = ctypes.c_int32(0)
        self.call("supportsImperative", ctypes.byref(yes))
        return bool(yes.value)

    def configure(self, dev_id: int = 0, /, **options: object) -> dict[str, str]:
        emitted = {}

        def emit(_, key, value, size):
            emitted[key.decode()] = ctypes.string_at(value, size).decode()

        texts = ctypes.c_char_p * max(len(options), 1)
        keys = texts(*(key.encode() for key in options))
        values = texts(*(str(value).encode() for value in options.values()))
        self.call("configure", dev_id, keys, values, len(options), abi.Emit(emit), None)
        return emitted

    # ---- memory ----

    def alloc(self, size: int, alignment: int = 64, dev_id: int = 0) -> int:
        handle = ctypes.c_void_p()
        self.call("mx_alloc", dev_id, size, alignment, ctypes.byref(handle))
        return handle.value

    def empty(self, shape, dtype="float32", dev_id: int = 0) -> Memory:
        """Memory of a device for a row-major array; a shape with a 0 gets none."""
        array = np.empty(shape, dtype)
        handle = self.alloc(array.nbytes, 64, dev_id) if array.nbytes else None
        return Memory(self, dev_id, handle, array)

    def to_device(self, array: np.ndarray, dev_id: int = 0, stream=None) -> Memory:
        memory = self.empty(array.shape, array.dtype, dev_id)
        self.copy("copyToAcc", memory, array, stream)
        return memory

    def to_host(self, memory: Memory, stream=None) -> np.ndarray:
        result = np.empty(memory.array.shape, memory.array.dtype)
        self.copy("copyFromAcc", result, memory, stream)
        return result

    def copy(self, function: str, target, source, stream=None) -> None:
        dev_id = target.dev_id if isinstance(target, Memory) else source.dev_id
        self.call(function, dev_id, tensors([target]), tensors([source]), 1, stream)

    # ---- streams ----

    def create(self, kind: str, dev_id: int = 0) -> int:
        handle = ctypes.c_void_p()
        self.call(f"create{kind}", dev_id, ctypes.byref(handle))
        return handle.value

    # ---- operators ----

    def executor(
        self,
        name: str,
        inputs: dict[str, Memory],
        outputs: Sequence[Memory],
        dev_id: int = 0,
        operator_set: int = OPERATOR_SET,
        **attributes: str,
    ) -> Executor:
        """The executor for tensors like these; attributes are JSON."""
        texts = ctypes.c_char_p * max(len(attributes), 1)
        operator = abi.MXAccOperator(
            ctypes.sizeof(abi.MXAccOperator),
            name.encode(),
            operator_set,
            dev_id,
            tensors(list(inputs.values()), list(inputs)),
            tensors(outputs, role=3),
            len(inputs),
            len(outputs),
            texts(*(key.encode() for key in attributes)),
            texts(*(value.encode() for value in attributes.values())),
            len(attributes),
        )
        # Where the data are is not the executor's business yet.
        described = [*operator.inputs[: len(inputs)], *operator.outputs[: len(outputs)]]
        for tensor in described:
            tensor.tensor.data = None
            tensor.tensor.byte_offset = 0
        made = abi.MXAccExecutor(ctypes.sizeof(abi.MXAccExecutor))
        self.call("accGetExecutor", ctypes.byref(operator), ctypes.byref(made))
        return Executor(self, made)
