# Views that integers, slices, new axes and an Ellipsis give of arrays of the CPU: their layout is
# made here, without a call of the operator that every other key and array takes.

# At most so many axes of an array and items of a key: a view has no more axes than both together.
cdef enum:
    MOST_AXES = 16

cdef struct ViewLayout:
    char* data
    int ndim
    int axis  # the array's next axis that no item of the key has taken
    int64_t shape[2 * MOST_AXES]
    int64_t strides[2 * MOST_AXES]


cdef inline const DLTensor* begin_view(NDArray self, ViewLayout* view) noexcept:
    """The tensor that a view is of, and a layout without axes yet; NULL for other arrays."""
    cdef const DLTensor* tensor = host_tensor(self)
    if tensor == NULL or tensor.ndim > MOST_AXES:
        return NULL
    view.data = <char*>tensor.data + tensor.byte_offset
    view.ndim = 0
    view.axis = 0
    return tensor


cdef inline void add_axis(ViewLayout* view, int64_t extent, int64_t stride) noexcept:
    view.shape[view.ndim] = extent
    view.strides[view.ndim] = stride
    view.ndim += 1


cdef inline void keep_axes(ViewLayout* view, const DLTensor* tensor, int count) noexcept:
    cdef int i
    for i in range(count):
        add_axis(view, tensor.shape[view.axis], tensor.strides[view.axis])
        view.axis += 1


cdef inline bint take_index(ViewLayout* view, const DLTensor* tensor, PyObject* item) noexcept:
    """Applies an integer; False for one that is out of bounds, or has no axis left."""
    cdef int64_t index = to_index(item, tensor.shape[view.axis]) if view.axis < tensor.ndim else -1
    if index < 0:
        return False
    view.data += index * tensor.strides[view.axis] * (tensor.dtype.bits * tensor.dtype.lanes // 8)
    view.axis += 1
    return True


cdef inline bint to_bound(PyObject* item, int64_t of_none, int64_t extent, bint backwards, int64_t* bound) noexcept:
    """Reads a bound of a slice, cut to where elements are; False for one that needs a closer look."""
    cdef int overflow = 0
    if item == Py_None:
        bound[0] = of_none
        return True
    if Py_TYPE(item) != &PyLong_Type:
        return False
    if not MXNetSmallInt(item, bound):
        bound[0] = PyLong_AsLongLongAndOverflow(item, &overflow)
    if bound[0] < 0:
        bound[0] += extent
    bound[0] = min(max(bound[0], -<int64_t>backwards), extent - backwards)
    return overflow == 0


cdef inline bint take_slice(ViewLayout* view, const DLTensor* tensor, PyObject* item) noexcept:
    """Applies a slice; False for one that needs a look at its parts, or has no axis left."""
    cdef PySliceObject* parts = <PySliceObject*>item
    cdef int64_t extent, stride, start, stop, step = 1, length
    cdef int overflow = 0
    if view.axis >= tensor.ndim:
        return False
    extent = tensor.shape[view.axis]
    stride = tensor.strides[view.axis]
    if parts.step != Py_None:
        if Py_TYPE(parts.step) != &PyLong_Type:
            return False
        if not MXNetSmallInt(parts.step, &step):
            step = PyLong_AsLongLongAndOverflow(parts.step, &overflow)
        # The least integer has no counterpart above 0.
        if step == 0 or overflow != 0 or step < -INT64_MAX:
            return False
    if not to_bound(parts.start, 0 if step > 0 else extent - 1, extent, step < 0, &start):
        return False
    if not to_bound(parts.stop, extent if step > 0 else -1, extent, step < 0, &stop):
        return False
    length = stop - start if step > 0 else start - stop
    if length > 0:
        view.data += start * stride * (tensor.dtype.bits * tensor.dtype.lanes // 8)
        # A division takes as long as all of the rest.
        if step != 1 and step != -1:
            length = (length - 1) // (step if step > 0 else -step) + 1
    add_axis(view, max(length, 0), stride * step if length > 1 else stride)
    view.axis += 1
    return True


cdef inline int axes_of_items(PyObject** items, int count) noexcept:
    """How many axes the items after an Ellipsis take; -1 where there is one that is not handled here."""
    cdef PyTypeObject* kind
    cdef int axes = 0, i
    for i in range(count):
        kind = Py_TYPE(items[i])
        if kind == &PyLong_Type or kind == &PySlice_Type:
            axes += 1
        elif items[i] != Py_None:
            return -1
    return axes


cdef inline bint take_ellipsis(ViewLayout* view, const DLTensor* tensor, PyObject** following, int count) noexcept:
    """Keeps the axes that the items after an Ellipsis leave; False where these are too many, or not handled here."""
    cdef int axes = axes_of_items(following, count)
    if axes < 0 or view.axis + axes > tensor.ndim:
        return False
    keep_axes(view, tensor, tensor.ndim - view.axis - axes)
    return True


# The functions that make arrays give a new reference, or NULL: the operator, which is called then, makes what is
# not made here, or says what is wrong. An exception is set only where memory for the Python object has run out.

cdef inline bint is_not_made(PyObject* made) except -1:
    """Whether the operator has to make it; raises what is set."""
    if made != NULL:
        return False
    return -1 if PyErr_Occurred() != NULL else True


cdef inline PyObject* view_of(NDArray base, const DLTensor* tensor, ViewLayout* view) noexcept:
    """The view; NULL where it cannot be made."""
    return wrap_view(<PyObject*>base, view.data, view.shape, view.strides, view.ndim, tensor.dtype)


cdef inline PyObject* element_of(const DLTensor* tensor, const char* data) noexcept:
    """A new array of one element; NULL where it cannot be made."""
    cdef MXNetNDArrayHandle made = NULL
    cdef void* element
    if MXNetNDArrayCreate(NULL, 0, tensor.dtype, tensor.device, 0, &made) != 0:
        return NULL
    element = (<MXNetNDArrayObject*>made).tensor.data
    if tensor.dtype.bits == 64:
        memcpy(element, data, 8)
    elif tensor.dtype.bits == 32:
        memcpy(element, data, 4)
    else:
        memcpy(element, data, tensor.dtype.bits * tensor.dtype.lanes // 8)
    return wrap_array(made)


cdef PyObject* plain_item(NDArray self, PyObject* single) noexcept:
    """self[single] for a plain key of an array of the CPU; NULL for others, and for what is wrong."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    cdef PyObject** items
    cdef Py_ssize_t count = 1
    cdef PyTypeObject* kind = Py_TYPE(single)
    cdef int64_t index
    cdef int i
    cdef bint has_ellipsis = False
    if tensor == NULL:
        return NULL
    # The commonest key.
    if kind == &PyLong_Type and tensor.ndim == 1:
        index = to_index(single, tensor.shape[0])
        return element_of(tensor, address_of(tensor, index)) if index >= 0 else NULL
    items = &single
    if kind == &PyTuple_Type:
        count = PyTuple_GET_SIZE(single)
        items = PyTuple_ITEMS(single)
        if count > MOST_AXES:
            return NULL
    for i in range(<int>count):
        kind = Py_TYPE(items[i])
        if kind == &PySlice_Type:
            if not take_slice(&view, tensor, items[i]):
                return NULL
        elif kind == &PyLong_Type:
            if not take_index(&view, tensor, items[i]):
                return NULL
        elif items[i] == Py_None:
            add_axis(&view, 1, 0)
        elif items[i] == Py_Ellipsis:
            # A second one is among the items that are not handled.
            if not take_ellipsis(&view, tensor, items + i + 1, <int>count - i - 1):
                return NULL
            has_ellipsis = True
        else:
            return NULL
    if view.ndim == 0 and view.axis == tensor.ndim and not has_ellipsis:
        return element_of(tensor, view.data)
    keep_axes(&view, tensor, tensor.ndim - view.axis)
    return view_of(self, tensor, &view)


cdef PyObject* row_of(NDArray self, int64_t index) noexcept:
    """self[index], of an index that is within bounds; NULL of arrays that are not on the CPU."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    if tensor == NULL:
        return NULL
    view.data = address_of(tensor, index)
    if tensor.ndim == 1:
        return element_of(tensor, view.data)
    view.axis = 1
    keep_axes(&view, tensor, tensor.ndim - 1)
    return view_of(self, tensor, &view)


@cython.auto_pickle(False)
cdef class RowIterator:
    """The items of an array along its first axis."""

    cdef NDArray array
    cdef int64_t index

    def __cinit__(self, NDArray array not None):
        if array.chandle == NULL or (<MXNetNDArrayObject*>array.chandle).tensor.ndim == 0:
            raise TypeError("an array with axes is needed")
        self.array = array

    def __iter__(self): return self

    def __length_hint__(self):
        return (<MXNetNDArrayObject*>self.array.chandle).tensor.shape[0] - self.index

    def __next__(self):
        if self.index >= (<MXNetNDArrayObject*>self.array.chandle).tensor.shape[0]:
            raise StopIteration
        self.index += 1
        cdef PyObject* row = row_of(self.array, self.index - 1)
        return fetch_any(self.array, self.index - 1) if is_not_made(row) else MXNetPass(row)


cdef inline bint store_integer(DLDataType dtype, char* data, int64_t value) noexcept:
    """Writes an integer; False for one that the type does not hold."""
    cdef uint64_t most = (<uint64_t>1 << (dtype.bits - 1)) - 1
    if dtype.code == kDLUInt:
        most = 2 * most + 1
        if value < 0 or <uint64_t>value > most:
            return False
    elif value > <int64_t>most or value < -<int64_t>most - 1:
        return False
    # Little-endian: the first bytes are those that count.
    memcpy(data, &value, dtype.bits // 8)
    return True


cdef bint write_number(DLDataType dtype, char* data, PyObject* value) noexcept:
    """Writes a Python number as an element; False where a type or a value needs a closer look."""
    cdef int overflow = 0
    cdef int64_t integer
    cdef double number
    cdef float single
    if Py_TYPE(value) == &PyLong_Type:
        integer = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow != 0:
            return False
        if dtype.code in (kDLInt, kDLUInt):
            return store_integer(dtype, data, integer)
        number = <double>integer
    elif Py_TYPE(value) == &PyFloat_Type:
        number = PyFloat_AS_DOUBLE(value)
    else:
        return False
    if dtype.code != kDLFloat:
        return False
    if dtype.bits == 64:
        memcpy(data, &number, 8)
    elif dtype.bits == 32:
        single = <float>number
        memcpy(data, &single, 4)
    else:
        return False
    return True


cdef inline const DLTensor* writable_tensor(NDArray self) noexcept:
    """The tensor of an array of the CPU that may be written to unobserved; NULL of others."""
    cdef const DLTensor* tensor = host_tensor(self)
    if tensor == NULL or call_observers[0] != 0 or (<MXNetNDArrayObject*>self.chandle).flags & kMXNetNDArrayReadOnly:
        return NULL
    return tensor if tensor.dtype.bits % 8 == 0 else NULL


cdef bint store_number(NDArray self, object key, object value):
    """self[key] = value for a number, an index and an array of one axis; False where it is not done."""
    cdef const DLTensor* tensor = writable_tensor(self)
    cdef int64_t index
    if tensor == NULL or tensor.ndim != 1 or Py_TYPE(<PyObject*>key) != &PyLong_Type:
        return False
    index = to_index(<PyObject*>key, tensor.shape[0])
    return index >= 0 and write_number(tensor.dtype, address_of(tensor, index), <PyObject*>value)


# More bytes take so long that how a call gets to them does not matter.
cdef enum:
    FEW_BYTES = 4096
    FEW_APART = 64  # elements that do not follow one another


cdef bint is_few(const DLTensor* tensor, int64_t* step, int64_t* count) noexcept:
    """Whether elements lie at even steps and are few; how many bytes are between them, and how many they are."""
    cdef int64_t item = tensor.dtype.bits // 8
    if not is_line(tensor, step) or (step[0] == 0 and elements_of(tensor) > 1):
        return False
    step[0] *= item
    count[0] = elements_of(tensor)
    return count[0] * (item if step[0] == item else FEW_BYTES // FEW_APART) <= FEW_BYTES


cdef bint store_array(NDArray self, object value):
    """self[...] = value for few elements of the same type and shape; False where it is not done."""
    cdef const DLTensor* tensor = writable_tensor(self)
    cdef const DLTensor* given
    cdef char room[FEW_BYTES]
    cdef int64_t item, step, given_step, count
    cdef const char* data
    cdef int i
    if tensor == NULL or Py_TYPE(<PyObject*>value) != <PyTypeObject*>ndarray:
        return False
    given = host_tensor(<NDArray>value)
    if (given == NULL or given.ndim != tensor.ndim or given.dtype.code != tensor.dtype.code
            or given.dtype.bits != tensor.dtype.bits):
        return False
    for i in range(tensor.ndim):
        if given.shape[i] != tensor.shape[i]:
            return False
    if not is_few(tensor, &step, &count) or not is_few(given, &given_step, &count):
        return False
    item = tensor.dtype.bits // 8
    data = <const char*>given.data + given.byte_offset
    # The two may share memory.
    if given_step != item:
        copy_strided(room, data, given_step, item, count)
        data = room
    if step == item:
        memmove(<char*>tensor.data + tensor.byte_offset, data, count * item)
        return True
    if data != room:
        memcpy(room, data, count * item)
    scatter(<char*>tensor.data + tensor.byte_offset, step, room, item, item, count)
    return True


cdef bint fill_few(NDArray self, object value):
    """self[...] = value for a number and few elements; False where it is not done."""
    cdef const DLTensor* tensor = writable_tensor(self)
    cdef char element[16]
    cdef int64_t step, count
    cdef int64_t item
    cdef char* data
    # The operator fills more elements in less time.
    if tensor == NULL or not is_few(tensor, &step, &count) or not write_number(tensor.dtype, element, <PyObject*>value):
        return False
    item = tensor.dtype.bits // 8
    data = <char*>tensor.data + tensor.byte_offset
    if step == item:
        fill_dense(data, element, item, count)
    else:
        scatter(data, step, element, 0, item, count)
    return True


cdef void scatter(char* to, int64_t step, const char* data, int64_t data_step, int64_t item, int64_t n) noexcept:
    """Elements that are so many bytes apart to where they are other steps apart, one after the other."""
    cdef int64_t i
    if item == 8:
        for i in range(n):
            memcpy(to + i * step, data + i * data_step, 8)
    elif item == 4:
        for i in range(n):
            memcpy(to + i * step, data + i * data_step, 4)
    elif item == 1:
        for i in range(n):
            to[i * step] = data[i * data_step]
    else:
        for i in range(n):
            memcpy(to + i * step, data + i * data_step, item)
