from ffi import views


cdef inline DLTensor* tensor_of(NDArray array) except NULL:
    if array.chandle == NULL:
        raise ValueError(f"a {type(array).__name__} that holds no object has no elements")
    return &(<MXNetNDArrayObject*>array.chandle).tensor


cdef inline int64_t itemsize_of(const DLTensor* tensor) noexcept:
    return tensor.dtype.bits * tensor.dtype.lanes // 8


cdef enum:
    MOST_STRIDES = 64  # of the axes that arrays have


cdef inline int64_t size_of(const DLTensor* tensor) noexcept:
    cdef int64_t size = 1
    cdef int i
    for i in range(tensor.ndim):
        size *= tensor.shape[i]
    return size


cdef dict buffer_formats = {
    (kDLBool, 8): b"?", (kDLInt, 8): b"b", (kDLInt, 16): b"h", (kDLInt, 32): b"i",
    (kDLInt, 64): b"q" if sizeof(long) != 8 else b"l", (kDLUInt, 8): b"B", (kDLUInt, 16): b"H",
    (kDLUInt, 32): b"I", (kDLUInt, 64): b"Q" if sizeof(long) != 8 else b"L", (kDLFloat, 16): b"e",
    (kDLFloat, 32): b"f", (kDLFloat, 64): b"d", (kDLComplex, 64): b"Zf", (kDLComplex, 128): b"Zd",
}


cdef object buffer_format(const DLTensor* tensor):
    """What the buffer protocol calls the elements; None where it has no format."""
    if tensor.dtype.lanes != 1:
        return None
    return buffer_formats.get((tensor.dtype.code, tensor.dtype.bits))


# The requests of consumers that do not read strides, in either order.
cdef int CONTIGUITY = (PyBUF_C_CONTIGUOUS | PyBUF_F_CONTIGUOUS | PyBUF_ANY_CONTIGUOUS) & ~PyBUF_STRIDES


# Python has one object for each small int, which takes longer to ask for than to read here.
cdef enum:
    SMALL_INTS = 65

cdef tuple small_ints = tuple(range(SMALL_INTS))


cdef inline object int_of(int64_t value):
    if 0 <= value and value < SMALL_INTS:
        return <object>PyTuple_GET_ITEM(<PyObject*>small_ints, value)
    return value


cdef class NDArray(ObjectBase):
    """A strided array; mx.np.ndarray adds arithmetic to it."""

    @property
    def shape(self):
        """Extent of each axis, a tuple of int."""
        cdef DLTensor* tensor = tensor_of(self)
        cdef MXNetIntArray run
        run.data = tensor.shape
        run.size = tensor.ndim
        return MXNetPass(make_ints(&run, False))

    @property
    def strides(self):
        """Bytes from one element to the next along each axis, a tuple of int."""
        cdef DLTensor* tensor = tensor_of(self)
        cdef int64_t item = itemsize_of(tensor)
        cdef int64_t strides[MOST_STRIDES]
        cdef MXNetIntArray run
        cdef int i
        for i in range(tensor.ndim):
            strides[i] = tensor.strides[i] * item
        run.data = strides
        run.size = tensor.ndim
        return MXNetPass(make_ints(&run, False))

    @property
    def ndim(self):
        """Number of axes."""
        return int_of(tensor_of(self).ndim)

    @property
    def size(self):
        """Number of elements."""
        return size_of(tensor_of(self))

    @property
    def itemsize(self):
        """Bytes of one element."""
        return int_of(itemsize_of(tensor_of(self)))

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return size_of(tensor_of(self)) * itemsize_of(tensor_of(self))

    @property
    def dtype(self):
        """Name of the element type."""
        return dtype_name(tensor_of(self).dtype)

    @property
    def ctx(self):
        """Context that holds the elements."""
        return make_context(tensor_of(self).device)

    @property
    def read_only(self):
        """Whether the elements must not be written."""
        tensor_of(self)
        return ((<MXNetNDArrayObject*>self.chandle).flags & kMXNetNDArrayReadOnly) != 0

    @property
    def data_ptr(self):
        """Address of the first element."""
        return <uint64_t>tensor_of(self).data

    def __dlpack_device__(self):
        """(device type, device id) as DLPack numbers them.

        Those of the CPU where it can read the memory of an accelerator.
        """
        cdef DLTensor* tensor = tensor_of(self)
        if tensor.device.device_type != kDLCPU and devices.is_visible(self):
            return devices.CPU_0
        return (int(tensor.device.device_type), int(tensor.device.device_id))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=...):
        """A DLPack capsule that shares the memory, or has a copy of it where `copy` is true.

        Of an array on an accelerator it shares memory that the CPU can read, once the work under
        way is done; of others it has a copy, where dl_device is the CPU.

        Raises BufferError where what is asked for is not possible: a stream, another device, memory
        that the CPU cannot read, a read-only array without the version of DLPack that can say so,
        or negative strides for a consumer that leaves `copy` out, as torch does.
        """
        copy = protocols.check_consumer(self, copy)
        cdef DLManagedTensorVersioned* versioned = NULL
        cdef DLManagedTensor* legacy = NULL
        cdef void* handle
        cdef bint versioned_form = protocols.is_versioned(max_version)
        if stream is not None:
            raise BufferError("__dlpack__: argument 'stream' must be None for memory of the CPU")
        cdef bint on_cpu = tensor_of(self).device.device_type == kDLCPU
        cdef bint copied = False
        cdef NDArray source = self
        given = protocols.device_asked(dl_device)
        if given is not None and given != (self.__dlpack_device__() if on_cpu else devices.CPU_0):
            raise BufferError(f"__dlpack__: the array is on {self.ctx}, not on device {dl_device}")
        if not on_cpu:
            source, copied = devices.exported(self, given, copy)
        if copy and not copied:
            source, copied = copy_array(source), True
        handle = source.chandle
        if versioned_form:
            check(MXNetNDArrayToDLPack(handle, &versioned))
            if copied:
                versioned.flags |= 2
            return PyCapsule_New(versioned, "dltensor_versioned", delete_versioned_capsule)
        check(MXNetNDArrayToDLPackLegacy(handle, &legacy))
        return PyCapsule_New(legacy, "dltensor", delete_legacy_capsule)

    def __array__(self, dtype=None, *, copy=None):
        """numpy.asarray(self), which NumPy asks for where the buffer protocol has no format."""
        return views.to_array(self, dtype_name(tensor_of(self).dtype), dtype, copy)

    def __repr__(self):
        return views.text_of(self, dtype_name(tensor_of(self).dtype)) if self.chandle != NULL else super().__repr__()

    def __getbuffer__(self, Py_buffer* view, int flags):
        cdef DLTensor* tensor = tensor_of(self)
        cdef Py_ssize_t* strides
        cdef Py_ssize_t item = itemsize_of(tensor)
        cdef bint contiguous = is_contiguous(tensor)
        cdef int i
        if tensor.device.device_type != kDLCPU and devices.host_view(self) is None:
            raise BufferError(f"an array on {self.ctx} has no memory that the CPU can read")
        fmt = buffer_format(tensor)
        if fmt is None:
            raise BufferError(f"the buffer protocol has no format for {dtype_name(tensor.dtype)}")
        if flags & PyBUF_WRITABLE and self.read_only:
            raise BufferError("the array is read-only")
        if not contiguous and (flags & CONTIGUITY or (flags & PyBUF_STRIDES) != PyBUF_STRIDES):
            raise BufferError("the array is not contiguous")
        if (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS and tensor.ndim > 1:
            raise BufferError("the array is not Fortran contiguous")
        strides = <Py_ssize_t*>malloc((tensor.ndim + 1) * sizeof(Py_ssize_t))
        if strides == NULL:
            raise MemoryError()
        for i in range(tensor.ndim):
            strides[i] = tensor.strides[i] * item
        view.buf = tensor.data
        view.len = self.size * item
        view.readonly = self.read_only
        view.itemsize = item
        view.format = <char*><const char*>fmt if flags & PyBUF_FORMAT else NULL
        view.ndim = tensor.ndim
        view.shape = <Py_ssize_t*>tensor.shape if flags & PyBUF_ND else NULL
        view.strides = strides if (flags & PyBUF_STRIDES) == PyBUF_STRIDES else NULL
        view.suboffsets = NULL
        view.internal = strides
        view.obj = self

    def __releasebuffer__(self, Py_buffer* view):
        free(view.internal)


cdef bint is_contiguous(DLTensor* tensor) noexcept:
    cdef int64_t expected = 1
    cdef int i
    for i in range(tensor.ndim - 1, -1, -1):
        if tensor.shape[i] == 0:
            return True
        if tensor.shape[i] != 1 and tensor.strides[i] != expected:
            return False
        expected *= tensor.shape[i]
    return True


cdef NDArray copy_array(NDArray array):
    """A copy that is made by passing the tensor, borrowed, to ffi.convert."""
    cdef MXNetValue value
    cdef MXNetValue ret
    cdef int code = kMXNetReadOnlyArray
    cdef int ret_code
    value.v_handle = tensor_of(array)
    check(MXNetFuncCall(own_function, &value, &code, 1, &ret, &ret_code))
    return <NDArray>MXNetPass(make_ret(&ret, ret_code))


cdef void delete_versioned_capsule(PyObject* capsule) noexcept:
    cdef DLManagedTensorVersioned* tensor
    if PyCapsule_IsValid_(capsule, "dltensor_versioned"):
        tensor = <DLManagedTensorVersioned*>PyCapsule_GetPointer_(capsule, "dltensor_versioned")
        tensor.deleter(tensor)


cdef void delete_legacy_capsule(PyObject* capsule) noexcept:
    cdef DLManagedTensor* tensor
    if PyCapsule_IsValid_(capsule, "dltensor"):
        tensor = <DLManagedTensor*>PyCapsule_GetPointer_(capsule, "dltensor")
        tensor.deleter(tensor)


def from_dlpack(obj):
    """An array that shares the memory of any object with __dlpack__.

    Raises TypeError where obj does not offer DLPack, BufferError where the tensor cannot be shared.
    """
    cdef void* handle = NULL
    cdef DLManagedTensorVersioned* versioned
    cdef DLManagedTensor* legacy
    if not hasattr(obj, "__dlpack__"):
        raise TypeError(f"from_dlpack: argument 0 ('obj') expected an object with __dlpack__, got {type(obj).__name__}")
    # Arrays of this package raise errors of their own, with the context.
    cdef str where = "from_dlpack: argument 0 ('obj')"
    if not isinstance(obj, NDArray) and hasattr(obj, "__dlpack_device__"):
        device = protocols.device_of(obj, where)
        if device[0] != kDLCPU:
            raise BufferError(f"{where} is on device {device}, expected the CPU")
    reject_lazy(obj, where)
    capsule = dlpack_capsule(obj)
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        versioned = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, "dltensor_versioned")
        if versioned.version.major != 1:
            reject_version(versioned, where)
        check_foreign(&versioned.dl_tensor, where)
        check(MXNetNDArrayFromDLPack(versioned, &handle))
        PyCapsule_SetName(capsule, "used_dltensor_versioned")
    elif not PyCapsule_IsValid(capsule, "dltensor"):
        raise protocols.no_tensor(capsule, where)
    else:
        legacy = <DLManagedTensor*>PyCapsule_GetPointer(capsule, "dltensor")
        check_foreign(&legacy.dl_tensor, where)
        check(MXNetNDArrayFromDLPackLegacy(legacy, &handle))
        PyCapsule_SetName(capsule, "used_dltensor")
        if protocols.denies_writing(obj):
            (<MXNetNDArrayObject*>handle).flags |= kMXNetNDArrayReadOnly
    return MXNetPass(wrap_array(handle))


register_object(kMXNetObjectNDArray, NDArray)
