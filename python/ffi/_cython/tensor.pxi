# Arrays of other libraries are lent to the callee: a tensor in the frame points to their memory. A
# callee that keeps it shares the memory, and where it comes back it is the very object.

cdef inline MXNetLentTensor* new_lent(PyObject* host, Py_ssize_t extra, Frame* frame) noexcept:
    """What host lends, before which extra bytes have room; its tensor and flags are not set."""
    cdef MXNetLentTensor* lent = <MXNetLentTensor*>frame_alloc(frame, sizeof(MXNetLentTensor) + extra)
    if lent != NULL:
        lent.host = host
        lent.owner = host
        lent.lender = &MXNetPythonLender
        MXNetAllowFinding(host)
    return lent


cdef inline int give_lent(MXNetLentTensor* lent, bint read_only, MXNetValue* value, int* code) noexcept:
    lent.flags = kMXNetNDArrayReadOnly if read_only else 0
    value.v_handle = lent
    code[0] = kMXNetLentArray
    return 0


cdef int own_lent(MXNetLentTensor* lent, object memory, Frame* frame) except -1:
    """Has memory, which belongs to the call, kept for as long as the tensor is shared."""
    owner = (memory, <object><PyObject*>lent.host)
    lent.owner = <PyObject*>owner
    if frame_keep(frame, <PyObject*>owner) != 0:
        raise MemoryError()
    return 0


cdef int refuse_dtype(object descr, bint swapped, Frame* frame) noexcept:
    try:
        reason = (f"has data type {descr!s}, whose byte order is not native" if swapped
                  else data_type.foreign(descr))
        set_exception(TypeError, f"{where_text(frame)} {reason}")
    except BaseException as error:
        set_error(error)
    return -1


cdef int make_numpy(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    cdef DLDataType dtype
    cdef PyObject* descr = MXNetNumpyDescr(obj)
    cdef int status = dtype_of_numpy(descr, &dtype)
    if status != kMXNetNumpyOk:
        return refuse_dtype(<object>descr, status == kMXNetNumpySwapped, frame)
    cdef MXNetLentTensor* lent = new_lent(obj, 2 * MXNetNumpyNdim(obj) * sizeof(int64_t), frame)
    if lent == NULL:
        return -1
    if MXNetNumpyTensor(obj, dtype, <int64_t*>(lent + 1), &lent.tensor) != kMXNetNumpyOk:
        set_exception(ValueError, f"{where_text(frame)} has strides that are not multiples of its item size")
        return -1
    return give_lent(lent, MXNetNumpyReadOnly(obj), value, code)


cdef int make_buffer(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    """Anything with the buffer protocol: the buffer is held until nobody uses it any more."""
    cdef Py_buffer* buffer
    cdef MXNetLentTensor* lent
    cdef DLTensor* tensor
    cdef int64_t* dims
    cdef int i
    try:
        view = memoryview(<object>obj)
        buffer = PyMemoryView_GET_BUFFER(<PyObject*>view)
        try:
            dtype = data_type.of_buffer(view)
        except TypeError as failure:
            raise TypeError(f"{where_text(frame)} {failure}") from None
        if buffer.suboffsets != NULL:
            raise BufferError(f"{where_text(frame)} is a buffer whose rows lie apart")
        lent = new_lent(obj, 2 * buffer.ndim * sizeof(int64_t), frame)
        if lent == NULL:
            return -1
        own_lent(lent, view, frame)
        tensor = &lent.tensor
        dims = <int64_t*>(lent + 1)
        for i in range(buffer.ndim):
            dims[i] = buffer.shape[i]
            if buffer.strides[i] % buffer.itemsize != 0:
                raise ValueError(f"{where_text(frame)} has strides that are not multiples of its item size")
            dims[buffer.ndim + i] = buffer.strides[i] // buffer.itemsize
        tensor.data = buffer.buf
        tensor.device = DLDevice(kDLCPU, 0)
        tensor.ndim = buffer.ndim
        tensor.dtype = make_dtype(dtype)
        tensor.shape = dims
        tensor.strides = dims + buffer.ndim
        tensor.byte_offset = 0
    except BaseException as error:
        set_error(error)
        return -1
    return give_lent(lent, buffer.readonly, value, code)


cdef int check_tensor(MXNetLentTensor* lent, MXNetValue* value, int* code, bint read_only,
                      Frame* frame) noexcept:
    """Checks and completes a tensor that others described.

    Afterwards strides are always there, the offset is part of the address, and memory is the CPU's.
    """
    cdef DLTensor* tensor = &lent.tensor
    cdef int64_t stride = 1
    cdef int i
    if not IsSoundTensor(tensor[0]):
        return refuse_tensor(tensor, frame)
    if tensor.device.device_type != kDLCPU:
        set_exception(ValueError, f"{where_text(frame)} is a tensor on device type {tensor.device.device_type}; "
                      "expected memory of the CPU")
        return -1
    tensor.data = <char*>tensor.data + tensor.byte_offset
    tensor.byte_offset = 0
    if tensor.strides == NULL:
        tensor.strides = <int64_t*>frame_alloc(frame, tensor.ndim * sizeof(int64_t))
        if tensor.strides == NULL:
            return -1
        for i in range(tensor.ndim - 1, -1, -1):
            tensor.strides[i] = stride
            stride *= max(tensor.shape[i], 1)
    return give_lent(lent, read_only, value, code)


cdef int refuse_tensor(const DLTensor* tensor, Frame* frame) noexcept:
    try:
        check_foreign(tensor, where_text(frame))
    except BaseException as error:
        set_error(error)
    return -1


cdef int check_foreign(const DLTensor* tensor, str where) except -1:
    """Raises ValueError or TypeError where a tensor of others cannot be what it says."""
    encoded = where.encode("utf-8", "replace")
    return check(MXNetCheckTensor(tensor, encoded))


cdef int refuse_export(object obj, object error, str where) except -1:
    """Raises why a producer does not lend its memory, said of the argument."""
    raise protocols.not_lent(obj, error, where) from error


cdef int refuse_lazy(object obj, str where) except -1:
    """Refuses a tensor whose memory does not hold its values."""
    for mark in ("is_conj", "is_neg"):
        method = getattr(obj, mark, None)
        if method is not None and method():
            raise BufferError(f"{where} is a tensor whose {mark}() is true, so that its memory "
                              "does not hold its values; pass tensor.resolve_conj().resolve_neg()")
    return 0


cdef int is_lazy(PyObject* obj, Frame* frame) noexcept:
    try:
        return refuse_lazy(<object>obj, where_text(frame))
    except BaseException as error:
        set_error(error)
    return -1


cdef int make_exchanged(PyObject* obj, void* exchange, MXNetValue* value, int* code,
                        Frame* frame) noexcept:
    """A tensor whose type offers DLPack's C exchange table, torch's for one."""
    cdef MXNetLentTensor* lent = new_lent(obj, 0, frame)
    if lent == NULL:
        return -1
    if (<MXNetDLPackExchange*>exchange).dltensor_from_py_object_no_sync(obj, &lent.tensor) != 0:
        return refuse_exchange(obj, frame)
    if IsPlainTensor(lent.tensor) and not may_be_lazy(&lent.tensor):
        return give_lent(lent, False, value, code)
    if is_lazy(obj, frame) != 0:
        return -1
    return check_tensor(lent, value, code, False, frame)


cdef inline bint may_be_lazy(const DLTensor* tensor) noexcept:
    """Whether a row-major torch tensor may be marked to be conjugated or negated when read.

    Conjugates are complex, negatives the imaginary parts of conjugates: of more than one of those
    the elements do not lie side by side.
    """
    return tensor.dtype.code == kDLComplex or tensor.ndim == 0 or tensor.shape[0] * tensor.strides[0] == 1


cdef int refuse_exchange(PyObject* obj, Frame* frame) noexcept:
    if PyErr_Occurred() == NULL:
        set_exception(RuntimeError, "no reason is given")
    try:
        try:
            MXNetPass(NULL)
        except (BufferError, RuntimeError) as error:
            refuse_export(<object>obj, error, where_text(frame))
    except BaseException as failure:
        set_error(failure)
    return -1


cdef int refuse_version(const DLManagedTensorVersioned* tensor, str where) except -1:
    raise protocols.unknown_version(tensor.version.major, tensor.version.minor, where)


cdef int make_dlpack(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    """Anything with __dlpack__: the capsule is kept until nobody uses the tensor any more."""
    cdef DLManagedTensorVersioned* versioned
    cdef DLManagedTensor* legacy
    cdef MXNetLentTensor* lent
    cdef bint read_only = False
    try:
        if hasattr(<object>obj, "is_neg"):
            refuse_lazy(<object>obj, where_text(frame))
        try:
            capsule = dlpack_capsule(<object>obj)
        except (BufferError, RuntimeError) as error:
            refuse_export(<object>obj, error, where_text(frame))
        lent = new_lent(obj, 0, frame)
        if lent == NULL:
            return -1
        own_lent(lent, capsule, frame)
        if PyCapsule_IsValid(capsule, "dltensor_versioned"):
            versioned = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, "dltensor_versioned")
            if versioned.version.major != 1:
                refuse_version(versioned, where_text(frame))
            lent.tensor = versioned.dl_tensor
            read_only = (versioned.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0
        elif PyCapsule_IsValid(capsule, "dltensor"):
            legacy = <DLManagedTensor*>PyCapsule_GetPointer(capsule, "dltensor")
            lent.tensor = legacy.dl_tensor
            read_only = protocols.denies_writing(<object>obj)
        else:
            raise protocols.no_tensor(capsule, where_text(frame))
    except BaseException as error:
        set_error(error)
        return -1
    return check_tensor(lent, value, code, read_only, frame)


cdef object dlpack_capsule(object obj):
    """Asks for the versioned form; producers from before it know no max_version."""
    if isinstance(obj, NDArray):
        return obj.__dlpack__(max_version=(1, 1), copy=None)
    try:
        return obj.__dlpack__(max_version=(1, 1))
    except TypeError:
        return obj.__dlpack__()
