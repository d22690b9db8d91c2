# Elements of arrays of the CPU as Python's numbers.

cdef inline const DLTensor* host_tensor(NDArray self) noexcept:
    """The tensor of an array whose elements the CPU has; NULL of others."""
    if self.chandle == NULL:
        return NULL
    cdef const DLTensor* tensor = &(<MXNetNDArrayObject*>self.chandle).tensor
    return tensor if tensor.device.device_type == kDLCPU and tensor.dtype.lanes == 1 else NULL


cdef inline int64_t elements_of(const DLTensor* tensor) noexcept:
    cdef int64_t size = 1
    cdef int i
    for i in range(tensor.ndim):
        size *= tensor.shape[i]
    return size


cdef object number_at(DLDataType dtype, const char* data):
    """The element as Python's number; None for types that NumPy has to read."""
    cdef float single
    cdef double both[2]
    cdef float halves[2]
    cdef int64_t integer = 0
    cdef uint64_t natural = 0
    if dtype.code == kDLFloat:
        if dtype.bits == 64:
            memcpy(both, data, 8)
            return both[0]
        if dtype.bits == 32:
            memcpy(&single, data, 4)
            return <double>single
    elif dtype.code == kDLInt:
        # Little-endian: what is read is shifted up and, with its sign, down again.
        memcpy(&integer, data, dtype.bits // 8)
        return <int64_t>(<uint64_t>integer << (64 - dtype.bits)) >> (64 - dtype.bits)
    elif dtype.code == kDLUInt:
        memcpy(&natural, data, dtype.bits // 8)
        return natural
    elif dtype.code == kDLBool:
        return data[0] != 0
    elif dtype.code == kDLComplex:
        if dtype.bits == 128:
            memcpy(both, data, 16)
            return PyComplex_FromDoubles(both[0], both[1])
        memcpy(halves, data, 8)
        return PyComplex_FromDoubles(halves[0], halves[1])
    return None


cdef object only_number(NDArray self, bint without_axes):
    """The one element of an array, which may have to be without axes; None for other arrays."""
    cdef const DLTensor* tensor = host_tensor(self)
    if tensor == NULL or (without_axes and tensor.ndim != 0) or elements_of(tensor) != 1:
        return None
    return number_at(tensor.dtype, <const char*>tensor.data + tensor.byte_offset)


cdef object number_of(NDArray self, object key):
    """The element at a position of an array of one axis; None where there is none such."""
    cdef const DLTensor* tensor = host_tensor(self)
    cdef int overflow = 0
    cdef int64_t index = PyLong_AsLongLongAndOverflow(<PyObject*>key, &overflow)
    if tensor == NULL or tensor.ndim != 1 or overflow != 0:
        return None
    if index < 0:
        index += tensor.shape[0]
    if index < 0 or index >= tensor.shape[0]:
        return None
    return number_at(tensor.dtype,
                     <const char*>tensor.data + tensor.byte_offset + index * tensor.strides[0] * (tensor.dtype.bits // 8))


cdef list list_of(const DLTensor* tensor, const char* data, int axis):
    """The elements from an axis on, as nested lists."""
    cdef int64_t step = tensor.strides[axis] * (tensor.dtype.bits // 8)
    cdef int64_t i
    cdef list made = []
    for i in range(tensor.shape[axis]):
        if axis + 1 == tensor.ndim:
            made.append(number_at(tensor.dtype, data + i * step))
        else:
            made.append(list_of(tensor, data + i * step, axis + 1))
    return made


cdef inline bint has_numbers(DLDataType dtype) noexcept:
    """Whether number_at reads the type."""
    return dtype.code in (kDLInt, kDLUInt, kDLBool, kDLComplex) or (dtype.code == kDLFloat and dtype.bits >= 32)
