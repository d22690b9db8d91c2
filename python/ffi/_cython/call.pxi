cdef enum:
    STACK_ARGS = 12


cdef bint large_enough(int64_t threshold, MXNetValue* values, int* codes, Py_ssize_t count) noexcept:
    """Whether the tensors among the arguments hold as many bytes as make releasing the GIL pay."""
    if threshold <= 0:
        return True
    cdef int64_t total = 0
    cdef int64_t size
    cdef DLTensor* tensor
    cdef Py_ssize_t i
    cdef int axis
    for i in range(count):
        if codes[i] == kMXNetNDArrayHandle:
            tensor = &(<MXNetNDArrayObject*>values[i].v_handle).tensor
        elif codes[i] == kMXNetArrayHandle or codes[i] == kMXNetReadOnlyArray:
            tensor = <DLTensor*>values[i].v_handle
        else:
            continue
        size = tensor.dtype.bits >> 3
        for axis in range(tensor.ndim):
            size *= tensor.shape[axis]
        total += size
    return total >= threshold


cdef inline PyObject* invoke(Function func, MXNetValue* values, int* codes, Py_ssize_t count) noexcept:
    cdef MXNetValue ret
    cdef int ret_code
    cdef int status
    cdef PyThreadState* state
    if func.release_bytes >= 0 and large_enough(func.release_bytes, values, codes, count):
        state = PyEval_SaveThread()
        status = MXNetFuncCall(func.chandle, values, codes, <int>count, &ret, &ret_code)
        PyEval_RestoreThread(state)
    else:
        status = MXNetFuncCall(func.chandle, values, codes, <int>count, &ret, &ret_code)
    if status != 0:
        raise_last_error()
        return NULL
    if ret_code == kMXNetNull:
        Py_INCREF_(Py_None)
        return Py_None
    return make_ret(&ret, ret_code)


cdef PyObject* call_positional(PyObject* self, PyObject** args, Py_ssize_t count) noexcept:
    """The fast path: every argument in its place."""
    cdef MXNetValue values[STACK_ARGS]
    cdef int codes[STACK_ARGS]
    cdef Frame frame
    cdef PyObject* result = NULL
    cdef Py_ssize_t i
    if count == 0:
        return invoke(<Function>self, NULL, NULL, 0)
    if count > STACK_ARGS:
        return call_many(self, args, count)
    frame_init(&frame, self)
    for i in range(count):
        frame.index = i
        if make_arg(args[i], &values[i], &codes[i], &frame) != 0:
            frame_close(&frame)
            return NULL
    result = invoke(<Function>self, values, codes, count)
    frame_close(&frame)
    return result


cdef PyObject* call_many(PyObject* self, PyObject** args, Py_ssize_t count) noexcept:
    """Any number of arguments, and gaps: NULL stands for one that was not given."""
    cdef Frame frame
    cdef MXNetValue* values
    cdef int* codes
    cdef PyObject* result = NULL
    cdef Py_ssize_t i
    cdef int status = 0
    frame_init(&frame, self)
    values = <MXNetValue*>frame_alloc(&frame, count * sizeof(MXNetValue))
    codes = <int*>frame_alloc(&frame, count * sizeof(int)) if values != NULL else NULL
    if codes != NULL:
        for i in range(count):
            frame.index = i
            if args[i] == NULL:
                codes[i] = kMXNetMissing
            else:
                status = make_arg(args[i], &values[i], &codes[i], &frame)
                if status != 0:
                    break
        if status == 0:
            result = invoke(<Function>self, values, codes, count)
    frame_close(&frame)
    return result


cdef str parameter_name(Function func, Py_ssize_t index):
    """Name of the body's parameter of that index; None where the function is not described."""
    if func.names is None:
        return None
    last = None
    for name, target in zip(func.names, func.targets):
        if target == index:
            return name
        last = name
    return last


cdef Py_ssize_t find_keyword(Function func, PyObject* keyword) noexcept:
    """Position of a keyword among the visible parameters, -1 where there is none."""
    cdef Py_ssize_t i
    cdef PyObject* names = <PyObject*>func.names
    cdef Py_ssize_t size = PyTuple_GET_SIZE(names)
    for i in range(size):
        if PyTuple_GET_ITEM(names, i) == keyword:
            return i
    for i in range(size):
        if PyUnicode_Compare(PyTuple_GET_ITEM(names, i), keyword) == 0:
            return i
    return -1


cdef int refuse_keyword(Function func, PyObject* keyword, Py_ssize_t position) except -1:
    if func.names is None:
        raise TypeError(f"{func.name_}: takes no keyword arguments")
    if position < 0:
        raise TypeError(f"{func.name_}: unexpected keyword argument {<object>keyword!r}; its parameters "
                        f"are {', '.join(func.names)}")
    raise TypeError(f"{func.name_}: argument {position} ({func.names[position]!r}) was given by "
                    "position and by keyword")


cdef int place_keywords(Function func, PyObject** args, Py_ssize_t count, PyObject* kwnames,
                        PyObject** slots) except -1:
    """Puts keyword arguments into their slots; returns how many slots are in use."""
    cdef Py_ssize_t used = count
    cdef Py_ssize_t i, position
    cdef PyObject* keyword
    for i in range(PyTuple_GET_SIZE(kwnames)):
        keyword = PyTuple_GET_ITEM(kwnames, i)
        position = find_keyword(func, keyword) if func.names is not None else -1
        if position < 0 or slots[position] != NULL or position == func.variadic:
            refuse_keyword(func, keyword, position if position != func.variadic else -1)
        slots[position] = args[count + i]
        if position >= used:
            used = position + 1
    return <int>used


cdef int drop_front_end(Function func, PyObject** slots, Py_ssize_t used) except -1:
    """Checks arguments that only the front end has, and closes the gaps they leave."""
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t i
    for i in range(used):
        if i >= len(func.targets) or func.targets[i] >= 0:
            slots[kept] = slots[i]
            kept += 1
        elif slots[i] != NULL and <object>slots[i] != func.defaults[i]:
            raise NotImplementedError(
                f"{func.name_}: argument {i} ({func.names[i]!r}) supports only {func.defaults[i]!r}, got "
                f"{<object>slots[i]!r}")
    return <int>kept


cdef PyObject* call_general(PyObject* self, PyObject** args, Py_ssize_t count,
                            PyObject* kwnames) noexcept:
    """Keywords, and parameters that only the front end has."""
    cdef Function func = <Function>self
    cdef PyObject* stack_slots[STACK_ARGS]
    cdef PyObject** slots = stack_slots
    cdef Py_ssize_t room = count
    cdef Py_ssize_t used = count
    cdef PyObject* result = NULL
    cdef Py_ssize_t i
    if func.names is not None and len(func.names) > room:
        room = len(func.names)
    if room > STACK_ARGS:
        slots = <PyObject**>malloc(room * sizeof(PyObject*))
        if slots == NULL:
            return PyErr_NoMemory()
    for i in range(room):
        slots[i] = args[i] if i < count else NULL
    try:
        if kwnames != NULL:
            used = place_keywords(func, args, count, kwnames, slots)
        if func.is_front_end and used > func.first_front_end:
            used = drop_front_end(func, slots, used)
        result = call_many(self, slots, used)
    except BaseException as error:
        set_error(error)
    if slots != stack_slots:
        free(slots)
    return result


cdef PyObject* call_function(PyObject* self, PyObject** args, size_t nargsf,
                             PyObject* kwnames) noexcept:
    """The vectorcall slot of Function."""
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    if kwnames == NULL and count <= (<Function>self).first_front_end:
        return call_positional(self, args, count)
    return call_general(self, args, count, kwnames)
