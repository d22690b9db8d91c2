cdef extern from *:
    """
    /* Kept out of the functions that every call runs through, so that those save few registers. */
    [[gnu::noinline]] static PyObject* MXNetCallMany(PyObject*, PyObject**, Py_ssize_t);
    [[gnu::noinline]] static PyObject* MXNetCallGeneral(PyObject*, PyObject**, Py_ssize_t, PyObject*);
    [[gnu::noinline, gnu::cold]] static PyObject* MXNetRaised();
    """

cdef enum:
    STACK_ARGS = 12


cdef bint large_enough(int64_t threshold, MXNetValue* values, int* codes, Py_ssize_t count) noexcept:
    """Whether the tensors among the arguments hold as many bytes as make releasing the GIL pay."""
    if threshold <= 0:
        return True
    cdef uint64_t total = 0
    cdef int64_t size
    cdef DLTensor* tensor
    cdef Py_ssize_t i
    cdef int axis
    for i in range(count):
        if codes[i] == kMXNetNDArrayHandle:
            tensor = &(<MXNetNDArrayObject*>values[i].v_handle).tensor
        elif (codes[i] == kMXNetBorrowedArray or codes[i] == kMXNetArrayHandle
              or codes[i] == kMXNetReadOnlyArray):
            tensor = <DLTensor*>values[i].v_handle
        else:
            continue
        size = tensor.dtype.bits >> 3
        for axis in range(tensor.ndim):
            size *= tensor.shape[axis]
        total += size
    return total >= <uint64_t>threshold


cdef int call_released(FunctionBase func, MXNetValue* values, int* codes, int count, MXNetValue* ret,
                       int* ret_code) noexcept:
    """Calls with the GIL released, where the function asks for it and the arguments are large enough."""
    cdef PyThreadState* state
    cdef int status
    if not large_enough(func.release_bytes, values, codes, count):
        return MXNetFuncCall(func.chandle, values, codes, count, ret, ret_code)
    state = PyEval_SaveThread()
    status = MXNetFuncCall(func.chandle, values, codes, count, ret, ret_code)
    PyEval_RestoreThread(state)
    return status


cdef PyObject* raised "MXNetRaised"() noexcept:
    """Raises the last error."""
    raise_last_error()
    return NULL


cdef inline PyObject* invoke(FunctionBase func, MXNetValue* values, int* codes, Py_ssize_t count,
                             PyObject** args, Py_ssize_t given) noexcept:
    """The call itself; args are the first of the arguments as they were given."""
    # Small, so that the compiler puts it into each of its callers.
    cdef MXNetValue ret
    cdef int ret_code
    cdef int status
    if func.release_bytes >= 0:
        status = call_released(func, values, codes, <int>count, &ret, &ret_code)
    else:
        status = MXNetFuncCall(func.chandle, values, codes, <int>count, &ret, &ret_code)
    if status != 0:
        return raised()
    if ret_code == kMXNetNull:
        Py_INCREF_(Py_None)
        return Py_None
    if <PyObject*>func.returned != Py_None:
        return make_returned(func, &ret, ret_code)
    if ret_code == kMXNetNDArrayHandle:
        return wrap_array(ret.v_handle)
    if ret_code == kMXNetObjectHandle:
        return make_answer(ret.v_handle, args, given)
    return make_ret(&ret, ret_code)


cdef PyObject* call_positional(PyObject* self, PyObject** args, Py_ssize_t count) noexcept:
    """The fast path: every argument in its slot; NULL stands for one that was not given."""
    cdef MXNetValue values[STACK_ARGS]
    cdef int codes[STACK_ARGS]
    cdef Frame frame
    cdef MXNetSection section
    cdef PyObject* result = NULL
    cdef Py_ssize_t given = count
    cdef Py_ssize_t i
    if count > STACK_ARGS:
        return call_many(self, args, count)
    frame_init(&frame, self)
    for i in range(count):
        frame.index = i
        if args[i] == NULL:
            set_default(<FunctionBase>self, i, &values[i], &codes[i])
        elif make_arg(args[i], &values[i], &codes[i], &frame) != 0:
            frame_close(&frame)
            return NULL
    if count < (<FunctionBase>self).fill_to and count >= (<FunctionBase>self).fill_from:
        for i in range(count, (<FunctionBase>self).fill_to):
            values[i] = (<FunctionBase>self).fill_values[i]
            codes[i] = (<FunctionBase>self).fill_codes[i]
        count = (<FunctionBase>self).fill_to
    if kMXNetFreeThreaded and (<FunctionBase>self).is_exclusive and args[0] != NULL:
        MXNetBeginSection(&section, args[0])
        result = invoke(<FunctionBase>self, values, codes, count, args, given)
        MXNetEndSection(&section)
    else:
        result = invoke(<FunctionBase>self, values, codes, count, args, given)
    frame_close(&frame)
    return result


cdef inline PyObject* call_nullary(FunctionBase func) noexcept:
    if func.fill_to > 0 and func.fill_from == 0:
        return invoke(func, func.fill_values, func.fill_codes, func.fill_to, NULL, 0)
    return invoke(func, NULL, NULL, 0, NULL, 0)


cdef inline void set_default(FunctionBase func, Py_ssize_t i, MXNetValue* value, int* code) noexcept:
    if func.fill_from <= i < func.fill_to:
        value[0] = func.fill_values[i]
        code[0] = func.fill_codes[i]
    else:
        code[0] = kMXNetMissing


cdef PyObject* call_many "MXNetCallMany"(PyObject* self, PyObject** args, Py_ssize_t count) noexcept:
    """The same for more arguments than the stack has room for."""
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
            result = invoke(<FunctionBase>self, values, codes, count, args, count)
    frame_close(&frame)
    return result


cdef str parameter_name(FunctionBase func, Py_ssize_t index):
    """Name of the body's parameter of that index, or of *args; None where there is none."""
    if func.names is None:
        return None
    for name, target in zip(func.names, func.targets):
        if target == index:
            return name
    return func.names[func.variadic] if func.variadic >= 0 else None


cdef inline Py_ssize_t find_keyword(PyObject* names, PyObject* keyword) noexcept:
    """Position of a keyword among the visible parameters, -1 where there is none."""
    cdef Py_ssize_t size = PyTuple_GET_SIZE(names)
    cdef Py_ssize_t i
    for i in range(size):
        if PyTuple_GET_ITEM(names, i) == keyword:
            return i
    for i in range(size):
        if PyUnicode_Compare(PyTuple_GET_ITEM(names, i), keyword) == 0:
            return i
    return -1


cdef int reject_keyword(FunctionBase func, PyObject* keyword, Py_ssize_t position) noexcept:
    # The object of a method is not given by name.
    cdef tuple shown = None if func.names is None else func.names[1:] if func.is_method else func.names
    if not shown:
        text = f"{func.name_}: takes no keyword arguments"
    elif position >= 0 and position == func.variadic:
        text = (f"{func.name_}: takes {func.names[position]!r} by position only: as many arguments "
                "as there are, after all others")
    elif position < 0:
        text = (f"{func.name_}: unexpected keyword argument {<object>keyword!r}; its parameters are "
                f"{', '.join(shown)}")
    else:
        text = (f"{func.name_}: {argument_text(func, position, func.names[position])} was given by "
                "position and by keyword")
    set_exception(TypeError, text)
    return -1


cdef Py_ssize_t assign_keywords(FunctionBase func, PyObject** args, Py_ssize_t count, PyObject* kwnames,
                               PyObject** slots, Py_ssize_t used) noexcept:
    """Puts keyword arguments into their slots; how many slots are in use, -1 with an exception."""
    cdef PyObject* names = <PyObject*>func.names
    cdef Py_ssize_t position = -1
    cdef Py_ssize_t i
    cdef PyObject* keyword
    for i in range(PyTuple_GET_SIZE(kwnames)):
        keyword = PyTuple_GET_ITEM(kwnames, i)
        if names != Py_None:
            position = find_keyword(names, keyword)
        if position < 0 or slots[position] != NULL or position == func.variadic:
            return reject_keyword(func, keyword, position)
        slots[position] = args[count + i]
        if position >= used:
            used = position + 1
    return used


cdef Py_ssize_t assign_rest(FunctionBase func, PyObject** slots, Py_ssize_t count) noexcept:
    """Moves arguments by position past those that are taken by name only; how many slots are in use."""
    cdef Py_ssize_t first = func.keyword_only
    cdef Py_ssize_t i
    if func.variadic < 0:
        set_exception(TypeError, f"{func.name_}: takes at most {first} arguments by position, got {count}")
        return -1
    for i in range(count - 1, first - 1, -1):
        slots[func.variadic + i - first] = slots[i]
        slots[i] = NULL
    return func.variadic + count - first


cdef Py_ssize_t drop_front_end(FunctionBase func, PyObject** slots, Py_ssize_t used) noexcept:
    """Checks arguments that only the front end has, and closes the gaps they leave."""
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t i
    cdef PyObject* default
    cdef int same
    for i in range(used):
        if i >= 64 or not (func.front_end_mask >> i) & 1:
            slots[kept] = slots[i]
            kept += 1
        elif slots[i] != NULL:
            default = PyTuple_GET_ITEM(<PyObject*>func.defaults, i)
            # Values of other types, such as arrays, may compare to something that is no bool.
            same = slots[i] == default
            if not same and isinstance(<object>slots[i], type(<object>default)):
                same = PyObject_RichCompareBool(slots[i], default, Py_EQ)
            if same <= 0:
                return reject_front_end(func, slots[i], i) if same == 0 else -1
    return kept


cdef int reject_front_end(FunctionBase func, PyObject* given, Py_ssize_t i) noexcept:
    try:
        text = (f"{func.name_}: {argument_text(func, i, func.names[i])} supports only {func.defaults[i]!r}, "
                f"got {<object>given!r}")
        set_exception(NotImplementedError, text)
    except BaseException as error:
        set_error(error)
    return -1


cdef PyObject* call_general "MXNetCallGeneral"(PyObject* self, PyObject** args, Py_ssize_t count,
                                               PyObject* kwnames) noexcept:
    """Keywords, and parameters that only the front end has."""
    cdef FunctionBase func = <FunctionBase>self
    cdef PyObject* stack_slots[STACK_ARGS]
    cdef PyObject** slots = stack_slots
    cdef Py_ssize_t room = count
    cdef Py_ssize_t used = count
    cdef PyObject* result = NULL
    cdef Py_ssize_t i
    if func.is_overloaded:
        return call_overloaded(self, args, count, kwnames)
    if <PyObject*>func.names != Py_None and PyTuple_GET_SIZE(<PyObject*>func.names) > room:
        room = PyTuple_GET_SIZE(<PyObject*>func.names)
    if func.keyword_only >= 0:
        # Arguments by position move past the parameters that are taken by name only.
        room += PyTuple_GET_SIZE(<PyObject*>func.names)
    if room > STACK_ARGS:
        slots = <PyObject**>malloc(room * sizeof(PyObject*))
        if slots == NULL:
            return PyErr_NoMemory()
    for i in range(count):
        slots[i] = args[i]
    for i in range(count, room):
        slots[i] = NULL
    if <size_t>func.keyword_only < <size_t>count:  # -1, where there is none, is the largest
        used = assign_rest(func, slots, count)
    if kwnames != NULL and used >= 0:
        used = assign_keywords(func, args, count, kwnames, slots, used)
    if func.is_front_end and used > func.first_front_end:
        if used > PyTuple_GET_SIZE(<PyObject*>func.names) and func.variadic < 0:
            # The body counts its own parameters, which are fewer.
            used = -1
            set_exception(TypeError, description.too_many(func._raw_info(), count))
        else:
            used = drop_front_end(func, slots, used)
    if used >= 0:
        result = call_positional(self, slots, used)
    if slots != stack_slots:
        free(slots)
    return result


cdef PyObject* call_overloaded(PyObject* self, PyObject** args, Py_ssize_t count,
                               PyObject* kwnames) noexcept:
    """Passes keyword arguments with their names, as the parameters depend on the overload."""
    cdef Frame frame
    cdef Py_ssize_t named = PyTuple_GET_SIZE(kwnames) if kwnames != NULL else 0
    cdef Py_ssize_t size = count + 2 * named
    cdef MXNetValue* values
    cdef int* codes
    cdef PyObject* result = NULL
    cdef Py_ssize_t i
    cdef Py_ssize_t slot
    frame_init(&frame, self)
    values = <MXNetValue*>frame_alloc(&frame, (size + 1) * sizeof(MXNetValue))
    codes = <int*>frame_alloc(&frame, (size + 1) * sizeof(int)) if values != NULL else NULL
    if codes != NULL:
        for i in range(count + named):
            frame.index = i
            slot = i if i < count else count + 2 * (i - count) + 1
            if i >= count:
                codes[slot - 1] = kMXNetKeyword
                values[slot - 1].v_str.data = MXNetUtf8(PyTuple_GET_ITEM(kwnames, i - count),
                                                        &values[slot - 1].v_str.size)
                if values[slot - 1].v_str.data == NULL:
                    reject_surrogates(&frame)
                    break
            if make_arg(args[i], &values[slot], &codes[slot], &frame) != 0:
                break
        else:
            result = invoke(<FunctionBase>self, values, codes, size, args, count + named)
    frame_close(&frame)
    return result


cdef PyObject* call_function(PyObject* self, PyObject** args, size_t nargsf,
                             PyObject* kwnames) noexcept:
    """The vectorcall slot of FunctionBase."""
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    if kwnames == NULL and count <= (<FunctionBase>self).first_front_end:
        return call_positional(self, args, count) if count > 0 else call_nullary(<FunctionBase>self)
    return call_general(self, args, count, kwnames)
