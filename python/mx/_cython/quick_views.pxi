# Calls of operators that give views of arrays of the CPU, for the commonest arguments: their layout is
# made here. Every other call, and each that somebody observes, goes the way of all calls.

cdef const uint32_t* call_observers = MXNetCallObservers()


cdef inline bint is_quick(PyObject** args, size_t nargsf, PyObject* kwnames, Py_ssize_t least, Py_ssize_t most) noexcept:
    """Whether the first of so many arguments is an array, and none is given by name."""
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    return (kwnames == NULL and least <= count and count <= most and call_observers[0] == 0
            and Py_TYPE(args[0]) == <PyTypeObject*>ndarray)


cdef inline PyObject* call_operator(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    """The call of the operator, unless an exception is set."""
    return call_function(self, args, nargsf, kwnames) if PyErr_Occurred() == NULL else NULL


cdef inline bint to_axis(PyObject* item, int ndim, int* axis) noexcept:
    """Reads the number of an axis, which may be negative; False for what is none."""
    axis[0] = <int>to_index(item, ndim) if Py_TYPE(item) == &PyLong_Type else -1
    return axis[0] >= 0


cdef inline bint is_row_major(const DLTensor* tensor) noexcept:
    """Whether elements follow one another in memory, of which there are some."""
    cdef int64_t expected = 1
    cdef int i
    for i in range(tensor.ndim - 1, -1, -1):
        if tensor.shape[i] == 1:
            continue
        if tensor.shape[i] == 0 or tensor.strides[i] != expected:
            return False
        expected *= tensor.shape[i]
    return True


cdef inline bint is_line(const DLTensor* tensor, int64_t* step) noexcept:
    """Whether elements, of which there are some, lie at even steps in memory, in row-major order."""
    cdef int64_t count = 1
    cdef int i
    step[0] = 1
    for i in range(tensor.ndim - 1, -1, -1):
        if tensor.shape[i] == 1:
            continue
        if count == 1:
            step[0] = tensor.strides[i]
        if tensor.shape[i] == 0 or tensor.strides[i] != step[0] * count:
            return False
        count *= tensor.shape[i]
    return True


cdef PyObject* reversed_axes(NDArray self) noexcept:
    """A view with the axes in reverse; NULL where the operator has to make it."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    cdef int i
    if tensor == NULL:
        return NULL
    for i in range(tensor.ndim - 1, -1, -1):
        add_axis(&view, tensor.shape[i], tensor.strides[i])
    return view_of(self, tensor, &view)


cdef PyObject* permuted_axes(NDArray self, PyObject** axes, Py_ssize_t count) noexcept:
    """A view with the axes in that order; NULL where the operator has to make it."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    cdef unsigned int seen = 0
    cdef int axis
    if tensor == NULL or count != tensor.ndim:
        return NULL
    for i in range(count):
        if not to_axis(axes[i], tensor.ndim, &axis) or (seen >> axis) & 1:
            return NULL
        seen |= 1u << axis
        add_axis(&view, tensor.shape[axis], tensor.strides[axis])
    return view_of(self, tensor, &view)


cdef PyObject* swapped_axes(NDArray self, int first, int second) noexcept:
    """A view with two axes exchanged, which may be counted from the end; NULL where the operator has to make it."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    cdef int i, axis
    if tensor == NULL:
        return NULL
    first += tensor.ndim if first < 0 else 0
    second += tensor.ndim if second < 0 else 0
    if not (0 <= first < tensor.ndim and 0 <= second < tensor.ndim):
        return NULL
    for i in range(tensor.ndim):
        axis = second if i == first else first if i == second else i
        add_axis(&view, tensor.shape[axis], tensor.strides[axis])
    return view_of(self, tensor, &view)


cdef PyObject* in_shape(NDArray self, PyObject** extents, Py_ssize_t count) noexcept:
    """A view of elements at even steps in another shape; NULL where the operator has to make it."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    cdef int64_t left, extent, stride
    cdef int unknown = -1, overflow = 0
    cdef Py_ssize_t i
    if tensor == NULL or count > MOST_AXES or not is_line(tensor, &stride):
        return NULL
    left = elements_of(tensor)
    for i in range(count):
        if Py_TYPE(extents[i]) != &PyLong_Type:
            return NULL
        extent = PyLong_AsLongLongAndOverflow(extents[i], &overflow)
        if overflow != 0:
            return NULL
        add_axis(&view, extent, 0)
        if extent == -1 and unknown < 0:
            unknown = <int>i
        elif extent <= 0 or left % extent != 0:
            return NULL
        else:
            left //= extent
    if unknown >= 0:
        view.shape[unknown] = left
    elif left != 1:
        return NULL
    for i in range(count - 1, -1, -1):
        view.strides[i] = stride
        stride *= view.shape[i]
    return view_of(self, tensor, &view)


cdef PyObject* flat(NDArray self) noexcept:
    """A view of a row-major array with one axis; NULL where the operator has to make it."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    if tensor == NULL or not is_row_major(tensor):
        return NULL
    add_axis(&view, elements_of(tensor), 1)
    return view_of(self, tensor, &view)


cdef PyObject* squeezed(NDArray self) noexcept:
    """A view without axes of one element, or the array itself; NULL where the operator has to make it."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    cdef int i
    if tensor == NULL:
        return NULL
    for i in range(tensor.ndim):
        if tensor.shape[i] != 1:
            add_axis(&view, tensor.shape[i], tensor.strides[i])
    return Py_NewRef(self) if view.ndim == tensor.ndim else view_of(self, tensor, &view)


cdef PyObject* with_new_axis(NDArray self, PyObject* item) noexcept:
    """A view with one more axis; NULL where the operator has to make it."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    cdef int axis
    if tensor == NULL or tensor.ndim == MOST_AXES or not to_axis(item, tensor.ndim + 1, &axis):
        return NULL
    keep_axes(&view, tensor, axis)
    add_axis(&view, 1, 0)
    keep_axes(&view, tensor, tensor.ndim - axis)
    return view_of(self, tensor, &view)


cdef PyObject* main_diagonal(NDArray self) noexcept:
    """A read-only view of the diagonal of a matrix; NULL where the operator has to make it."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    if tensor == NULL or tensor.ndim != 2:
        return NULL
    add_axis(&view, min(tensor.shape[0], tensor.shape[1]), tensor.strides[0] + tensor.strides[1])
    cdef PyObject* made = view_of(self, tensor, &view)
    if made != NULL:
        (<MXNetNDArrayObject*>(<NDArray>made).chandle).flags |= kMXNetNDArrayReadOnly
    return made


cdef PyObject* same_layout(NDArray self) noexcept:
    """A view of all of an array; NULL where the operator has to make it."""
    cdef ViewLayout view
    cdef const DLTensor* tensor = begin_view(self, &view)
    if tensor == NULL:
        return NULL
    keep_axes(&view, tensor, tensor.ndim)
    return view_of(self, tensor, &view)


cdef PyObject* quick_transpose(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* view = NULL
    if is_quick(args, nargsf, kwnames, 1, 2):
        if PyVectorcall_NARGS(nargsf) == 1 or args[1] == Py_None:
            view = reversed_axes(<NDArray>args[0])
        elif Py_TYPE(args[1]) == &PyTuple_Type:
            view = permuted_axes(<NDArray>args[0], PyTuple_ITEMS(args[1]), PyTuple_GET_SIZE(args[1]))
    return call_operator(self, args, nargsf, kwnames) if view == NULL else view


cdef PyObject* quick_swapaxes(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef const DLTensor* tensor
    cdef int first, second
    cdef PyObject* view = NULL
    if is_quick(args, nargsf, kwnames, 3, 3):
        tensor = host_tensor(<NDArray>args[0])
        if tensor != NULL and to_axis(args[1], tensor.ndim, &first) and to_axis(args[2], tensor.ndim, &second):
            view = swapped_axes(<NDArray>args[0], first, second)
    return call_operator(self, args, nargsf, kwnames) if view == NULL else view


cdef PyObject* quick_reshape(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* view = NULL
    if is_quick(args, nargsf, kwnames, 2, 2):
        if Py_TYPE(args[1]) == &PyTuple_Type:
            view = in_shape(<NDArray>args[0], PyTuple_ITEMS(args[1]), PyTuple_GET_SIZE(args[1]))
        else:
            view = in_shape(<NDArray>args[0], args + 1, 1)
    return call_operator(self, args, nargsf, kwnames) if view == NULL else view


cdef PyObject* quick_ravel(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* view = flat(<NDArray>args[0]) if is_quick(args, nargsf, kwnames, 1, 1) else NULL
    return call_operator(self, args, nargsf, kwnames) if view == NULL else view


cdef PyObject* quick_squeeze(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* view = squeezed(<NDArray>args[0]) if is_quick(args, nargsf, kwnames, 1, 1) else NULL
    return call_operator(self, args, nargsf, kwnames) if view == NULL else view


cdef PyObject* quick_expand_dims(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* view = with_new_axis(<NDArray>args[0], args[1]) if is_quick(args, nargsf, kwnames, 2, 2) else NULL
    return call_operator(self, args, nargsf, kwnames) if view == NULL else view


cdef PyObject* quick_diagonal(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* view = main_diagonal(<NDArray>args[0]) if is_quick(args, nargsf, kwnames, 1, 1) else NULL
    return call_operator(self, args, nargsf, kwnames) if view == NULL else view


cdef PyObject* quick_view(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* view = same_layout(<NDArray>args[0]) if is_quick(args, nargsf, kwnames, 1, 1) else NULL
    return call_operator(self, args, nargsf, kwnames) if view == NULL else view


cdef PyObject* quick_asarray(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    if is_quick(args, nargsf, kwnames, 1, 1) and host_tensor(<NDArray>args[0]) != NULL:
        return Py_NewRef(<object>args[0])
    return call_operator(self, args, nargsf, kwnames)


cdef void set_quick(str name, vectorcall_t quick):
    """Has calls of a function come to `quick` first, as it is in mx.np and as a method."""
    for functions in (_registry.FUNCTIONS, _methods.METHODS):
        function = functions.get(name)
        if isinstance(function, FunctionBase):
            (<FunctionBase>function).vectorcall = quick


set_quick("asarray", <vectorcall_t>quick_asarray)
set_quick("diagonal", <vectorcall_t>quick_diagonal)
set_quick("expand_dims", <vectorcall_t>quick_expand_dims)
set_quick("ravel", <vectorcall_t>quick_ravel)
set_quick("reshape", <vectorcall_t>quick_reshape)
set_quick("squeeze", <vectorcall_t>quick_squeeze)
set_quick("swapaxes", <vectorcall_t>quick_swapaxes)
set_quick("transpose", <vectorcall_t>quick_transpose)
set_quick("view", <vectorcall_t>quick_view)
