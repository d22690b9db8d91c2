"""NDArray: an array object of the runtime, without arithmetic."""

from __future__ import annotations

from ctypes import addressof

from .. import data_type, devices, protocols, views
from . import abi
from .context import Context, context_of
from .objects import ObjectBase, register_object, wrap
from .results import own
from .tensors import export, take_dlpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NDArray(ObjectBase):
    """A strided array of one element type on a context."""

    __slots__ = ("_visible",)
    _visible: abi.MXNetNDArrayObject

    def _tensor(self) -> abi.DLTensor:
        # Shape, type and strides of an array never change, so they are read once.
        if not hasattr(self, "_visible"):
            if not self.handle:
                raise ValueError(f"a {type(self).__name__} that holds no object has no elements")
            self._visible = abi.MXNetNDArrayObject.from_address(self.handle)
        tensor: abi.DLTensor = self._visible.tensor
        return tensor

    def _data_type(self) -> data_type.DataType:
        dtype = self._tensor().dtype
        return dtype.code, dtype.bits, dtype.lanes

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each dimension."""
        tensor = self._tensor()
        return tuple(tensor.shape[: tensor.ndim])

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each dimension."""
        tensor = self._tensor()
        return tuple(stride * self.itemsize for stride in tensor.strides[: tensor.ndim])

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        ndim: int = self._tensor().ndim
        return ndim

    @property
    def dtype(self) -> Any:
        """Name of the element type, 'float32'."""
        return data_type.name_of(self._data_type())

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.nbytes // self.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        _, bits, lanes = self._data_type()
        return bits * lanes // 8

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return abi.nbytes(self._tensor())

    @property
    def ctx(self) -> Context:
        """Where the elements are."""
        return context_of(self._tensor().device)

    @property
    def read_only(self) -> bool:
        """Whether the elements must not be written."""
        self._tensor()
        return bool(self._visible.flags & abi.NDARRAY_READ_ONLY)

    @property
    def data_ptr(self) -> int:
        """Address of the first element."""
        return self._tensor().data or 0

    def __dlpack_device__(self) -> tuple[int, int]:
        """(device type, device id) as DLPack numbers them.

        Those of the CPU where it can read the memory of an accelerator.
        """
        device = self._tensor().device
        if device.device_type != abi.DL_CPU and devices.is_visible(self):
            return abi.DL_CPU, 0
        return device.device_type, device.device_id

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: Any = ...,
    ) -> Any:
        """A DLPack capsule that shares the memory, or has a copy of it where `copy` is true.

        Of an array on an accelerator it shares memory that the CPU can read, once the work under
        way is done; of others it has a copy, where dl_device is the CPU.

        Raises BufferError where what is asked for is not possible: a stream, another device, memory
        that the CPU cannot read, a read-only array without the version of DLPack that can say so,
        or negative strides for a consumer that leaves `copy` out, as torch does.
        """
        copy = protocols.check_consumer(self, copy)
        versioned = protocols.is_versioned(max_version)
        if stream is not None:
            raise BufferError("__dlpack__: argument 'stream' must be None for memory of the CPU")
        on_cpu = self._tensor().device.device_type == abi.DL_CPU
        given = protocols.device_asked(dl_device)
        if given is not None and given != (self.__dlpack_device__() if on_cpu else devices.CPU_0):
            raise BufferError(f"__dlpack__: the array is on {self.ctx}, not on device {dl_device}")
        exported, copied = (self, False) if on_cpu else devices.exported(self, given, copy)
        if copy and not copied:
            exported = exported._copy()
        return export(exported.handle, versioned, copied or bool(copy))

    def _copy(self) -> NDArray:
        value = abi.MXNetValue(v_handle=addressof(self._tensor()))
        copied = own(value, abi.ARRAY_HANDLE)
        assert isinstance(copied, NDArray)
        return copied

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> Any:
        """numpy.asarray(self), which NumPy asks for where __array_interface__ cannot express it."""
        return views.to_array(self, data_type.name_of(self._data_type()), dtype, copy)

    def __repr__(self) -> str:
        if not self.handle:
            return super().__repr__()
        return views.text_of(self, data_type.name_of(self._data_type()))

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self._tensor().device.device_type != abi.DL_CPU and devices.host_view(self) is None:
            raise AttributeError(f"an array on {self.ctx} has no __array_interface__")
        dtype = self._data_type()
        if dtype not in data_type.NAMES or dtype in data_type.EXTENDED:
            raise AttributeError(f"__array_interface__ cannot express {data_type.name_of(dtype)}")
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": data_type.to_numpy(self._data_type()).str,
            "data": (self.data_ptr, self.read_only),
            "strides": self.strides,
        }


def from_dlpack(obj: Any) -> Any:
    """An NDArray that shares the memory of an array with __dlpack__.

    Raises TypeError where obj has no __dlpack__, BufferError where it cannot be exported.
    """
    if not hasattr(type(obj), "__dlpack__"):
        raise TypeError(
            "from_dlpack: argument 0 ('obj') expected an object with __dlpack__, "
            f"got {type(obj).__name__}"
        )
    # Arrays of this package raise errors of their own, with the context.
    where = "from_dlpack: argument 0 ('obj')"
    if not isinstance(obj, NDArray) and hasattr(obj, "__dlpack_device__"):
        device = protocols.device_of(obj, where)
        if device[0] != abi.DL_CPU:
            raise BufferError(f"{where} is on device {device}, expected the CPU")
    return wrap(take_dlpack(obj, where))


register_object(abi.OBJECT_NDARRAY, NDArray)
