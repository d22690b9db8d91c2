# Elements of arrays of the CPU as Python's numbers.

cdef inline const DLTensor* host_tensor(NDArray self) noexcept:
    """The tensor of an array whose elements the CPU has; NULL of others."""
    if self.chandle == NULL:
        return NULL
    cdef const DLTensor* tensor = &(<MXNetNDArrayObject*>self.chandle).tensor
    return tensor if tensor.device.device_type == kDLCPU and tensor.dtype.lanes == 1 else NULL


cdef inline int64_t to_index(PyObject* item, int64_t extent) noexcept:
    """The position for an int, which is negative when it counts from the end; -1 if it is out of bounds."""
    cdef int overflow = 0
    cdef int64_t index
    if not MXNetSmallInt(item, &index):
        index = PyLong_AsLongLongAndOverflow(item, &overflow)
    if index < 0:
        index += extent
    return index if overflow == 0 and 0 <= index and index < extent else -1


cdef inline char* address_of(const DLTensor* tensor, int64_t index) noexcept:
    """Where the item of that index along the first axis begins."""
    return <char*>tensor.data + tensor.byte_offset + index * tensor.strides[0] * (tensor.dtype.bits // 8)


cdef inline int64_t elements_of(const DLTensor* tensor) noexcept:
    cdef int64_t size = 1
    cdef int i
    for i in range(tensor.ndim):
        size *= tensor.shape[i]
    return size


cdef inline void fill_dense(char* to, const char* element, int64_t item, int64_t n) noexcept:
    """Writes an element n times, one after the other."""
    cdef int64_t i
    cdef int64_t done = n if n < 16 else 16
    if item == 1:
        memset(to, element[0], n)
        return
    if item == 4:
        for i in range(done):
            memcpy(to + 4 * i, element, 4)
    elif item == 8:
        for i in range(done):
            memcpy(to + 8 * i, element, 8)
    else:
        for i in range(done):
            memcpy(to + item * i, element, item)
    # What is there is copied behind itself.
    while done < n:
        i = done if done < n - done else n - done
        memcpy(to + item * done, to, item * i)
        done += i


# Up to so many strided elements are copied here one by one; the operator copies more in less time.
cdef enum:
    FEW_ELEMENTS = 4096


cdef inline void copy_items(char* to, const char* data, int64_t step, const int64_t item, int64_t n) noexcept:
    """Copies elements of a size that the compiler knows, four at a time, which it does not do by itself."""
    cdef int64_t i
    for i in range(n // 4):
        memcpy(to, data, item)
        memcpy(to + item, data + step, item)
        memcpy(to + 2 * item, data + 2 * step, item)
        memcpy(to + 3 * item, data + 3 * step, item)
        to += 4 * item
        data += 4 * step
    for i in range(n % 4):
        memcpy(to + i * item, data + i * step, item)


cdef void copy_strided(char* to, const char* data, int64_t step, int64_t item, int64_t n) noexcept:
    """Copies n elements that are step bytes apart to consecutive memory."""
    if item == 8:
        copy_items(to, data, step, 8, n)
    elif item == 4:
        copy_items(to, data, step, 4, n)
    elif item == 1:
        copy_items(to, data, step, 1, n)
    else:
        copy_items(to, data, step, item, n)


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


cdef object only_complex(NDArray self):
    """The element of an array without axes as a complex number; None for other arrays and types."""
    cdef const DLTensor* tensor = host_tensor(self)
    cdef const char* data
    cdef double wide
    cdef float single
    cdef int64_t integer
    if tensor == NULL or tensor.ndim != 0:
        return None
    data = <const char*>tensor.data + tensor.byte_offset
    if tensor.dtype.code == kDLFloat and tensor.dtype.bits == 64:
        memcpy(&wide, data, 8)
    elif tensor.dtype.code == kDLFloat and tensor.dtype.bits == 32:
        memcpy(&single, data, 4)
        wide = single
    elif tensor.dtype.code == kDLInt and tensor.dtype.bits == 64:
        memcpy(&integer, data, 8)
        wide = <double>integer
    elif tensor.dtype.code == kDLUInt and tensor.dtype.bits == 8:
        wide = (<const unsigned char*>data)[0]
    else:
        number = number_at(tensor.dtype, data)
        return None if number is None else complex(number)
    return PyComplex_FromDoubles(wide, 0.0)


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class BoundComplex:
    """array.__complex__, without arguments."""

    cdef NDArray array

    def __call__(self):
        number = only_complex(self.array)
        return _conversion.complex_number(self.array) if number is None else number


@cython.final
cdef class ComplexMethod:
    """The method __complex__ of arrays.

    Python has no slot for it: complex() looks it up and binds it each time, which takes longer than
    the rest with a method as Python makes them.
    """

    __doc__ = _conversion.complex_number.__doc__

    def __get__(self, instance, owner):
        if instance is None:
            return self
        cdef BoundComplex bound = BoundComplex.__new__(BoundComplex)
        bound.array = instance
        return bound

    def __call__(self, NDArray array not None):
        return _conversion.complex_number(array)


cdef object number_of(NDArray self, object key):
    """The element at a position of an array of one axis; None where there is none such."""
    cdef const DLTensor* tensor = host_tensor(self)
    cdef int64_t index
    if tensor == NULL or tensor.ndim != 1:
        return None
    index = to_index(<PyObject*>key, tensor.shape[0])
    return None if index < 0 else number_at(tensor.dtype, address_of(tensor, index))


cdef list numbers_of(DLDataType dtype, const char* data, int64_t step, int64_t n):
    """Elements that are so many bytes apart, as Python's numbers."""
    cdef list made = PyList_New(n)
    cdef int64_t i
    cdef double wide
    cdef float single
    cdef int64_t integer
    # The commonest types are told apart once, and not for each element.
    if dtype.code == kDLFloat and dtype.bits == 64:
        for i in range(n):
            memcpy(&wide, data + i * step, 8)
            PyList_SET_ITEM(made, i, checked(PyFloat_FromDouble(wide)))
    elif dtype.code == kDLFloat and dtype.bits == 32:
        for i in range(n):
            memcpy(&single, data + i * step, 4)
            PyList_SET_ITEM(made, i, checked(PyFloat_FromDouble(single)))
    elif dtype.code == kDLInt and dtype.bits == 64:
        for i in range(n):
            memcpy(&integer, data + i * step, 8)
            PyList_SET_ITEM(made, i, checked(PyLong_FromLongLong(integer)))
    elif dtype.code == kDLUInt and dtype.bits == 8:
        for i in range(n):
            PyList_SET_ITEM(made, i, checked(PyLong_FromLongLong((<const unsigned char*>data)[i * step])))
    else:
        for i in range(n):
            number = number_at(dtype, data + i * step)
            Py_INCREF(number)
            PyList_SET_ITEM(made, i, <PyObject*>number)
    return made


cdef inline PyObject* checked(PyObject* number) except NULL:
    return number


cdef list list_of(const DLTensor* tensor, const char* data, int axis):
    """The elements from an axis on, as nested lists."""
    cdef int64_t step = tensor.strides[axis] * (tensor.dtype.bits // 8)
    cdef int64_t i
    if axis + 1 == tensor.ndim:
        return numbers_of(tensor.dtype, data, step, tensor.shape[axis])
    return [list_of(tensor, data + i * step, axis + 1) for i in range(tensor.shape[axis])]


cdef inline bint has_numbers(DLDataType dtype) noexcept:
    """Whether number_at reads the type."""
    return dtype.code in (kDLInt, kDLUInt, kDLBool, kDLComplex) or (dtype.code == kDLFloat and dtype.bits >= 32)
