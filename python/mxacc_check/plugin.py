"""Loads an accelerator library and calls its table directly: MXNet's runtime takes no part."""

from __future__ import annotations

import _ctypes
import ctypes
import itertools
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import abi

Array = npt.NDArray[Any]

CODES = {
    "failed": abi.FAILED,
    "bad_argument": abi.BAD_ARGUMENT,
    "unsupported": abi.UNSUPPORTED,
    "memory": abi.OUT_OF_MEMORY,
    "no_device": abi.NO_DEVICE,
    "rejected": abi.REJECTED,
    "bad_index": abi.BAD_INDEX,
    "cancelled": abi.CANCELLED,
}
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
NAMED_KINDS = {"bfloat16": 4}  # which is of no kind of NumPy's own
OPERATOR_SET = 1
ACC_DEVICE = 77
ROOM = 4096
UNTOUCHED = 0xEE


class AccError(Exception):
    """A status of a failure; `malformed` says how the error breaks the contract, or is None."""

    def __init__(self, function: str, status: Any):
        error = status.contents
        names = [name for name, code in CODES.items() if code == error.code]
        self.function = function
        self.code = names[0] if names else str(error.code)
        text = error.message
        # The number of the work that failed; 0 where that is not said.
        self.work: int = 0
        if error.struct_size >= ctypes.sizeof(abi.MXAccError):
            self.work = error.work
        self.message = "" if text is None else text.decode(errors="replace")
        self.malformed = _malformed(error, text, bool(names))
        super().__init__(f"{function}: {self.code}: {self.message}")


def _malformed(error: abi.MXAccError, text: bytes | None, known: bool) -> str | None:
    """What is wrong with an error itself."""
    # An older library's ends before `work`.
    if error.struct_size < abi.MXAccError.work.offset:
        return f"an error whose struct_size is {error.struct_size}"
    if not known:
        return f"an error with the code {error.code}"
    if not text:
        return f"an error whose message is {'NULL' if text is None else 'empty'}"
    try:
        text.decode()
    except UnicodeDecodeError:
        return f"an error whose message is not UTF-8: {text!r}"
    return None


class Memory:
    """Memory of a device, seen as an array."""

    device_type = ACC_DEVICE

    def __init__(self, plugin: Plugin, dev_id: int, handle: int | None, array: Array):
        self.plugin, self.dev_id, self.handle = plugin, dev_id, handle
        # Of the array only shape, strides and dtype count; byte_offset is where the view begins.
        self.array, self.byte_offset = array, 0

    def view(self, key: Any) -> Memory:
        """What indexing a NumPy array gives, of the same memory."""
        return self.like(self.array[key])

    def like(self, view: Array, base: Array | None = None) -> Memory:
        """What `view` is to `base`, an array like this one; by default `array` itself."""
        base = self.array if base is None else base
        result = Memory(self.plugin, self.dev_id, self.handle, view)
        first: int = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        result.byte_offset = self.byte_offset + first
        return result

    def fetch(self, stream: int | None = None) -> Array:
        """What is there now."""
        return self.plugin.to_host(self, stream)

    def free(self) -> None:
        self.plugin.free(self.dev_id, self.handle)


class HostMemory(Memory):
    """Memory of the host, which a library without memory of its own is given."""

    device_type = abi.HOST

    def __init__(self, plugin: Plugin, image: Array):
        super().__init__(plugin, 0, image.ctypes.data, image)

    def fetch(self, stream: int | None = None) -> Array:
        array: Array = self.array.copy()
        return array

    def free(self) -> None:
        pass


def data_type(dtype: np.dtype[Any]) -> abi.MXAccDataType:
    kind = NAMED_KINDS.get(dtype.name, KINDS.get(dtype.kind, 0))
    return abi.MXAccDataType(kind, 8 * dtype.itemsize, 1)


def dl_tensor(array: Array | Memory, dtype: abi.MXAccDataType | None = None) -> abi.MXAccDLTensor:
    """MXAccDLTensor of an array of the host, or of memory of a device."""
    on_host = isinstance(array, np.ndarray)
    shape = array if isinstance(array, np.ndarray) else array.array
    extents = ctypes.c_int64 * max(shape.ndim, 1)
    steps = (step // shape.itemsize for step in shape.strides)
    return abi.MXAccDLTensor(
        array.ctypes.data if isinstance(array, np.ndarray) else array.handle,
        abi.MXAccDevice(abi.HOST, 0)
        if isinstance(array, np.ndarray)
        else abi.MXAccDevice(array.device_type, array.dev_id),
        shape.ndim,
        dtype or data_type(shape.dtype),
        extents(*shape.shape),
        extents(*steps),
        0 if on_host else array.byte_offset,  # type: ignore[union-attr]
    )


def tensors(
    arrays: Sequence[Array | Memory],
    names: Sequence[str | None] = (),
    role: int = 0,
    dtype: abi.MXAccDataType | None = None,
    work: int = 0,
) -> Any:
    """An array of MXTensor."""
    names = list(names) or [None] * len(arrays)
    made = [
        abi.MXTensor(
            ctypes.sizeof(abi.MXTensor),
            dl_tensor(array, dtype),
            None if name is None else name.encode(),
            role=role,
            work=work,
        )
        for array, name in zip(arrays, names, strict=True)
    ]
    return (abi.MXTensor * max(len(made), 1))(*made)


def attribute_struct(name: str | None, value: Any, is_type: bool = False) -> abi.MXAccAttribute:
    """A value of JSON as a library gets it."""
    made = abi.MXAccAttribute(
        ctypes.sizeof(abi.MXAccAttribute),
        None if name is None else name.encode(),
        json.dumps(value).encode(),
    )
    if isinstance(value, bool):
        made.kind, made.integer = abi.BOOLEAN, value
    elif isinstance(value, int):
        made.kind = abi.INTEGER if value < 2**63 else abi.UNSIGNED
        made.integer, made.number = ctypes.c_int64(value).value, value
    elif isinstance(value, float):
        made.kind, made.number = abi.NUMBER, value
    elif isinstance(value, str):
        made.kind, made.text, made.size = abi.TEXT, value.encode(), len(value.encode())
        if is_type:
            made.kind, made.dtype = abi.TYPE, data_type(np.dtype(value))
    elif isinstance(value, list):
        items = [attribute_struct(None, item) for item in value]
        made.kind, made.size = abi.LIST, len(items)
        made.items = (abi.MXAccAttribute * max(len(items), 1))(*items)
        if all(item.kind == abi.INTEGER for item in items):
            made.integers = (ctypes.c_int64 * max(len(items), 1))(*value)
    return made


def attribute_structs(attributes: Mapping[str, str]) -> Any:
    """An array of MXAccAttribute of values that are JSON."""
    made = [
        attribute_struct(name, json.loads(value), is_type=name == "dtype")
        for name, value in attributes.items()
    ]
    return (abi.MXAccAttribute * max(len(made), 1))(*made)


def operator_struct(
    name: str,
    inputs: Mapping[str, Array | Memory],
    outputs: Sequence[Array | Memory],
    attributes: dict[str, str],
    dev_id: int = 0,
    operator_set: int = OPERATOR_SET,
) -> abi.MXAccOperator:
    """What an executor is asked for; attributes are JSON."""
    attrs = attribute_structs(attributes)
    operator = abi.MXAccOperator(
        ctypes.sizeof(abi.MXAccOperator),
        name.encode(),
        operator_set,
        dev_id,
        tensors(list(inputs.values()), list(inputs)),
        tensors(outputs, role=3),
        len(inputs),
        len(outputs),
        attrs,
        len(attributes),
    )
    # accGetExecutor is asked before memory is known: data are NULL.
    for tensor in (*operator.inputs[: len(inputs)], *operator.outputs[: len(outputs)]):
        tensor.tensor.data = None
        tensor.tensor.byte_offset = 0
        tensor.tensor.device = abi.MXAccDevice(ACC_DEVICE, dev_id)
    return operator


class Executor:
    """How an operator is executed; freed with close."""

    def __init__(self, plugin: Plugin, executor: abi.MXAccExecutor, dev_id: int = 0):
        self.plugin, self.executor, self.dev_id = plugin, executor, dev_id
        # One for each stream: its runs are in order, so that they may share it.
        self._workspaces: dict[int, Memory] = {}

    @property
    def workspace_bytes(self) -> int:
        bytes_: int = self.executor.workspace_bytes
        return bytes_

    def run(
        self,
        inputs: Sequence[Array | Memory],
        outputs: Sequence[Array | Memory],
        stream: int | None = None,
        workspace: Memory | None = None,
    ) -> int:
        """Runs it, by default with a workspace of the executor's own.

        Returns the number of the work, which is 0 without a stream.
        """
        own = workspace is None and self.workspace_bytes != 0
        if own and stream is None:
            workspace = self._new_workspace()
        elif own:
            workspace = self._workspaces.get(stream)  # type: ignore[arg-type]
            if workspace is None:
                workspace = self._workspaces[stream] = self._new_workspace()  # type: ignore[index]
        try:
            return self._run(inputs, outputs, stream, workspace)
        finally:
            if own and stream is None and workspace is not None:
                workspace.free()

    def _new_workspace(self) -> Memory:
        alignment = self.plugin.alignment(self.dev_id)
        return self.plugin.empty(self.workspace_bytes, "uint8", self.dev_id, alignment=alignment)

    def _run(
        self,
        inputs: Sequence[Array | Memory],
        outputs: Sequence[Array | Memory],
        stream: int | None,
        workspace: Memory | None,
    ) -> int:
        work = self.plugin.next_work(stream)
        given, wanted = tensors(inputs), tensors(outputs, role=3, work=work)
        room = None if workspace is None else tensors([workspace])
        run = self.executor.run
        state = self.executor.state
        with self.plugin.guard:
            self.plugin.watch("run")
            status = run(state, given, len(inputs), wanted, len(outputs), room, stream)
        self.plugin.check("run", status)
        return work

    def close(self) -> None:
        """Frees it; nothing of it is under way."""
        if self.executor.free:
            with self.plugin.guard:
                self.plugin.watch("free of an executor")
                self.executor.free(self.executor.state)
        for workspace in self._workspaces.values():
            workspace.free()
        self._workspaces.clear()


class Plugin:
    """A library that is loaded and, unless told otherwise, initialized.

    `watch` is called with the name of each function before it is called, and `on_error` with
    each error that comes back.
    """

    def __init__(
        self,
        path: Path | str,
        initialize: bool = True,
        runtime_size: int = ctypes.sizeof(abi.MXAccRuntime),
        api_size: int = ctypes.sizeof(abi.MXAccApi),
        runtime_minor: int = abi.ABI_MINOR,
        watch: Callable[[str], None] = lambda function: None,
        on_error: Callable[[AccError], None] = lambda error: None,
    ):
        self.messages: list[str] = []
        self.watch, self.on_error = watch, on_error
        self.guard: AbstractContextManager[Any] = nullcontext()
        self.initialized = False
        self._works = itertools.count(1)
        self._log = abi.MXAccLog(self._keep_message)
        self._make_runtime(str(path), runtime_size, runtime_minor)
        watch("dlopen")
        self.library = ctypes.CDLL(str(path))
        self.room = ctypes.create_string_buffer(bytes([UNTOUCHED]) * ROOM, ROOM)
        ctypes.memset(self.room, 0, api_size)
        self.api = abi.MXAccApi.from_buffer(self.room)
        self.api.struct_size = api_size
        try:
            entry = self.library.mxacc_get_api
            entry.restype = abi.MXAccStatus
            watch("mxacc_get_api")
            self.check("mxacc_get_api", entry(ctypes.byref(self.runtime), ctypes.byref(self.api)))
            if initialize:
                self.initialize()
        except (AccError, AttributeError):
            self.close()
            raise

    def _keep_message(self, context: Any, level: int, message: bytes | None) -> None:
        self.messages.append("" if message is None else message.decode(errors="replace"))

    def _make_runtime(self, path: str, size: int, minor: int) -> None:
        """Fills in MXAccRuntime; the library must not use what lies beyond its struct_size."""
        self._runtime_room = ctypes.create_string_buffer(bytes([UNTOUCHED]) * ROOM, ROOM)
        self.runtime = abi.MXAccRuntime.from_buffer(self._runtime_room)
        whole = abi.MXAccRuntime(
            size, abi.ABI_MAJOR, minor, b"0.0", OPERATOR_SET, path.encode(), None, self._log
        )
        self._runtime_texts = whole  # the strings that the struct points to are its
        ctypes.memmove(self._runtime_room, ctypes.byref(whole), min(size, ctypes.sizeof(whole)))

    def initialize(self) -> None:
        if self.api.initialize:
            self.call("initialize", ctypes.byref(self.runtime))
        self.initialized = True

    def close(self) -> None:
        """Ends the library's work and unloads it."""
        if self.initialized and self.api.finalize:
            self.watch("finalize")
            self.api.finalize(self.api.self)
        self.watch("dlclose")
        _ctypes.dlclose(self.library._handle)

    def check(self, function: str, status: Any) -> None:
        """Raises AccError unless a status is that of a success."""
        if status:
            error = AccError(function, status)
            self.on_error(error)
            raise error

    def call(self, function: str, *args: Any) -> None:
        """Calls a member of the table that returns a status."""
        member = getattr(self.api, function)
        with self.guard:
            self.watch(function)
            status = member(self.api.self, *args)
        self.check(function, status)

    def has(self, function: str) -> bool:
        return bool(getattr(self.api, function))

    def one_at_a_time(self) -> None:
        """Lets one thread at a time into the library, as kMXAccOneThread asks for."""
        self.guard = threading.RLock()

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
        """What a device says of itself; nothing where the library does not describe devices."""
        info = abi.MXAccDeviceInfo(ctypes.sizeof(abi.MXAccDeviceInfo))
        if self.has("getDeviceInfo"):
            self.call("getDeviceInfo", dev_id, ctypes.byref(info))
        return info

    def alignment(self, dev_id: int = 0) -> int:
        """What MXNet aligns memory of a device to."""
        alignment: int = self.info(dev_id).alignment
        return max(64, alignment)

    def imperative(self) -> bool:
        if not self.has("supportsImperative"):
            return False
        yes = ctypes.c_int32(0)
        self.call("supportsImperative", ctypes.byref(yes))
        return bool(yes.value)

    def configure(self, dev_id: int = 0, /, **options: object) -> dict[str, str]:
        emitted = {}

        def emit(_: Any, key: bytes, value: Any, size: int) -> None:
            emitted[key.decode()] = ctypes.string_at(value, size).decode()

        texts = ctypes.c_char_p * max(len(options), 1)
        keys = texts(*(key.encode() for key in options))
        values = texts(*(str(value).encode() for value in options.values()))
        self.call("configure", dev_id, keys, values, len(options), abi.MXAccEmit(emit), None)
        return emitted

    # ---- memory ----

    def alloc(
        self,
        size: int,
        alignment: int = 64,
        dev_id: int = 0,
        memory: int = abi.DEVICE_MEMORY,
    ) -> int | None:
        handle = ctypes.c_void_p()
        self.call("mx_alloc", dev_id, memory, size, alignment, ctypes.byref(handle))
        return handle.value

    def free(self, dev_id: int, handle: int | None) -> None:
        with self.guard:
            self.watch("mx_free")
            self.api.mx_free(self.api.self, dev_id, handle)

    def empty(
        self,
        shape: int | Sequence[int],
        dtype: npt.DTypeLike = "float32",
        dev_id: int = 0,
        margin: int = 0,
        alignment: int = 64,
    ) -> Memory:
        """Memory of a device for a row-major array; a shape with a 0 gets none.

        There are `margin` bytes more before the array and behind it.
        """
        array: Array = np.empty(shape, dtype)
        size = array.nbytes + 2 * margin
        handle = self.alloc(size, alignment, dev_id) if size else None
        memory = Memory(self, dev_id, handle, array)
        memory.byte_offset = margin
        return memory

    def to_device(
        self,
        array: Array,
        dev_id: int = 0,
        stream: int | None = None,
        margin: int = 0,
        alignment: int = 64,
    ) -> Memory:
        memory = self.empty(array.shape, array.dtype, dev_id, margin, alignment)
        self.copy("copyToAcc", memory, array, stream)
        return memory

    def to_host(self, memory: Memory, stream: int | None = None) -> Array:
        result: Array = np.empty(memory.array.shape, memory.array.dtype)
        self.copy("copyFromAcc", result, memory, stream)
        return result

    def copy(
        self,
        function: str,
        target: Array | Memory,
        source: Array | Memory,
        stream: int | None = None,
    ) -> int:
        return self.copy_all(function, [target], [source], stream)

    def copy_all(
        self,
        function: str,
        targets: Sequence[Array | Memory],
        sources: Sequence[Array | Memory],
        stream: int | None = None,
        dtype: abi.MXAccDataType | None = None,
        dev_id: int = 0,
    ) -> int:
        """Copies pair by pair; the device is that of the first pair's, else dev_id.

        Returns the number of the work, which is 0 without a stream.
        """
        work = self.next_work(stream)
        for side in (sources[:1], targets[:1]):
            dev_id = side[0].dev_id if side and isinstance(side[0], Memory) else dev_id
        to, given = tensors(targets, dtype=dtype, work=work), tensors(sources, dtype=dtype)
        self.call(function, dev_id, to, given, len(targets), stream)
        return work

    def zero(self, memory: Memory, first: int, size: int, stream: int | None = None) -> int:
        """Sets bytes to 0; the number of the work."""
        work = self.next_work(stream)
        self.call("mx_zero", memory.dev_id, memory.handle, first, size, stream, work)
        return work

    def next_work(self, stream: int | None) -> int:
        """The number of a call with a stream; 0 without."""
        return next(self._works) if stream is not None else 0

    # ---- streams ----

    def create(self, kind: str, dev_id: int = 0) -> int | None:
        handle = ctypes.c_void_p()
        self.call(f"create{kind}", dev_id, ctypes.byref(handle))
        return handle.value

    def destroy(self, kind: str, handle: int | None, dev_id: int = 0) -> None:
        function = f"destroy{kind}"
        with self.guard:
            self.watch(function)
            getattr(self.api, function)(self.api.self, dev_id, handle)

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
        return self.executor_with(name, inputs, outputs, attributes, dev_id, operator_set)

    def executor_with(
        self,
        name: str,
        inputs: dict[str, Memory],
        outputs: Sequence[Memory],
        attributes: dict[str, str],
        dev_id: int = 0,
        operator_set: int = OPERATOR_SET,
    ) -> Executor:
        """The same; attributes may have any names."""
        operator = operator_struct(name, inputs, outputs, attributes, dev_id, operator_set)
        made = abi.MXAccExecutor(ctypes.sizeof(abi.MXAccExecutor))
        self.call("accGetExecutor", ctypes.byref(operator), ctypes.byref(made))
        return Executor(self, made, dev_id)
