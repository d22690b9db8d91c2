# Arrays of other libraries are borrowed by the callee: a tensor in the frame points to their memory. A
# callee that keeps it shares the memory, and where it comes back it is the very object.

cdef inline MXNetBorrowedTensor* new_borrowed(PyObject* peer, Py_ssize_t extra, Frame* frame) noexcept:
    """A borrowed tensor of peer, before which extra bytes have room; its tensor and flags are not set."""
    cdef MXNetBorrowedTensor* borrowed = <MXNetBorrowedTensor*>frame_alloc(frame, sizeof(MXNetBorrowedTensor) + extra)
    if borrowed != NULL:
        borrowed.peer = peer
        borrowed.owner = peer
        borrowed.owner_functions = &MXNetPythonOwnerFunctions
        MXNetAllowFinding(peer)
    return borrowed


cdef inline int give_borrowed(MXNetBorrowedTensor* borrowed, bint read_only, MXNetValue* value, int* code) noexcept:
    borrowed.flags = kMXNetNDArrayReadOnly if read_only else 0
    value.v_handle = borrowed
    code[0] = kMXNetBorrowedArray
    return 0


cdef int own_borrowed(MXNetBorrowedTensor* borrowed, object memory, Frame* frame) except -1:
    """Has memory, which belongs to the call, kept for as long as the tensor is shared."""
    owner = (memory, <object><PyObject*>borrowed.peer)
    borrowed.owner = <PyObject*>owner
    if frame_keep(frame, <PyObject*>owner) != 0:
        raise MemoryError()
    return 0


cdef int reject_dtype(object descr, bint swapped, Frame* frame) noexcept:
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
        return reject_dtype(<object>descr, status == kMXNetNumpySwapped, frame)
    cdef MXNetBorrowedTensor* borrowed = new_borrowed(obj, 2 * MXNetNumpyNdim(obj) * sizeof(int64_t), frame)
    if borrowed == NULL:
        return -1
    if MXNetNumpyTensor(obj, dtype, <int64_t*>(borrowed + 1), &borrowed.tensor) != kMXNetNumpyOk:
        set_exception(ValueError, f"{where_text(frame)} has strides that are not multiples of its item size")
        return -1
    return give_borrowed(borrowed, MXNetNumpyReadOnly(obj), value, code)


cdef int make_buffer(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    """Anything with the buffer protocol: the buffer is held until nobody uses it any more."""
    cdef Py_buffer* buffer
    cdef MXNetBorrowedTensor* borrowed
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
        borrowed = new_borrowed(obj, 2 * buffer.ndim * sizeof(int64_t), frame)
        if borrowed == NULL:
            return -1
        own_borrowed(borrowed, view, frame)
        tensor = &borrowed.tensor
        dims = <int64_t*>(borrowed + 1)
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
    return give_borrowed(borrowed, buffer.readonly, value, code)


cdef int check_tensor(MXNetBorrowedTensor* borrowed, MXNetValue* value, int* code, bint read_only,
                      Frame* frame) noexcept:
    """Checks and completes a tensor that others described.

    Afterwards strides are always there, the offset is part of the address, and memory is the CPU's.
    """
    cdef DLTensor* tensor = &borrowed.tensor
    cdef int64_t stride = 1
    cdef int i
    if not IsSoundTensor(tensor[0]):
        return reject_tensor(tensor, frame)
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
    return give_borrowed(borrowed, read_only, value, code)


cdef int reject_tensor(const DLTensor* tensor, Frame* frame) noexcept:
    try:
        check_foreign(tensor, where_text(frame))
    except BaseException as error:
        set_error(error)
    return -1


cdef int check_foreign(const DLTensor* tensor, str where) except -1:
    """Raises ValueError or TypeError where a tensor of others cannot be what it says."""
    encoded = where.encode("utf-8", "replace")
    return check(MXNetCheckTensor(tensor, encoded))


cdef int reject_export(object obj, object error, str where) except -1:
    """Raises why a producer does not export its memory, said of the argument."""
    raise protocols.cannot_borrow(obj, error, where) from error


cdef int reject_lazy(object obj, str where) except -1:
    """Rejects a tensor whose memory does not hold its values."""
    for mark in ("is_conj", "is_neg"):
        method = getattr(obj, mark, None)
        if method is not None and method():
            raise BufferError(f"{where} is a tensor whose {mark}() is true, so that its memory "
                              "does not hold its values; pass tensor.resolve_conj().resolve_neg()")
    return 0


cdef int is_lazy(PyObject* obj, Frame* frame) noexcept:
    try:
        return reject_lazy(<object>obj, where_text(frame))
    except BaseException as error:
        set_error(error)
    return -1


cdef int make_exchanged(PyObject* obj, void* exchange, MXNetValue* value, int* code,
                        Frame* frame) noexcept:
    """A tensor whose type offers DLPack's C exchange table, torch's for one."""
    cdef MXNetBorrowedTensor* borrowed = new_borrowed(obj, 0, frame)
    if borrowed == NULL:
        return -1
    if (<MXNetDLPackExchange*>exchange).dltensor_from_py_object_no_sync(obj, &borrowed.tensor) != 0:
        return reject_exchange(obj, frame)
    if IsPlainTensor(borrowed.tensor) and not may_be_lazy(&borrowed.tensor):
        return give_borrowed(borrowed, False, value, code)
    if is_lazy(obj, frame) != 0:
        return -1
    return check_tensor(borrowed, value, code, False, frame)


cdef inline bint may_be_lazy(const DLTensor* tensor) noexcept:
    """Whether a row-major torch tensor may be marked to be conjugated or negated when read.

    Conjugates are complex, negatives the imaginary parts of conjugates: of more than one of those
    the elements do not lie side by side.
    """
    return tensor.dtype.code == kDLComplex or tensor.ndim == 0 or tensor.shape[0] * tensor.strides[0] == 1


cdef int reject_exchange(PyObject* obj, Frame* frame) noexcept:
    if PyErr_Occurred() == NULL:
        set_exception(RuntimeError, "no reason is given")
    try:
        try:
            MXNetPass(NULL)
        except (BufferError, RuntimeError) as error:
            reject_export(<object>obj, error, where_text(frame))
    except BaseException as failure:
        set_error(failure)
    return -1


cdef int reject_version(const DLManagedTensorVersioned* tensor, str where) except -1:
    raise protocols.unknown_version(tensor.version.major, tensor.version.minor, where)


cdef int make_dlpack(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    """Anything with __dlpack__: the capsule is kept until nobody uses the tensor any more."""
    cdef DLManagedTensorVersioned* versioned
    cdef DLManagedTensor* legacy
    cdef MXNetBorrowedTensor* borrowed
    cdef bint read_only = False
    try:
        if hasattr(<object>obj, "is_neg"):
            reject_lazy(<object>obj, where_text(frame))
        try:
            capsule = dlpack_capsule(<object>obj)
        except (BufferError, RuntimeError) as error:
            reject_export(<object>obj, error, where_text(frame))
        borrowed = new_borrowed(obj, 0, frame)
        if borrowed == NULL:
            return -1
        own_borrowed(borrowed, capsule, frame)
        if PyCapsule_IsValid(capsule, "dltensor_versioned"):
            versioned = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, "dltensor_versioned")
            if versioned.version.major != 1:
                reject_version(versioned, where_text(frame))
            borrowed.tensor = versioned.dl_tensor
            read_only = (versioned.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0
        elif PyCapsule_IsValid(capsule, "dltensor"):
            legacy = <DLManagedTensor*>PyCapsule_GetPointer(capsule, "dltensor")
            borrowed.tensor = legacy.dl_tensor
            read_only = protocols.denies_writing(<object>obj)
        else:
            raise protocols.no_tensor(capsule, where_text(frame))
    except BaseException as error:
        set_error(error)
        return -1
    return check_tensor(borrowed, value, code, read_only, frame)


cdef object dlpack_capsule(object obj):
    """Asks for the versioned form; producers from before it know no max_version."""
    if isinstance(obj, NDArray):
        return obj.__dlpack__(max_version=(1, 1), copy=None)
    try:
        return obj.__dlpack__(max_version=(1, 1))
    except TypeError:
        return obj.__dlpack__()
