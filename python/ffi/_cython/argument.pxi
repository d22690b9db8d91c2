
# Every function here returns 0, or -1 with a Python exception set. None adds a reference.

cdef inline int make_arg(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    """Describes obj as a borrowed value. Exact types first, by address: no look-up is needed."""
    cdef PyTypeObject* cls = Py_TYPE(obj)
    cdef Py_ssize_t size
    cdef int64_t* ints
    if cls == &PyLong_Type:
        if MXNetSmallInt(obj, &value.v_int64):
            code[0] = kMXNetInt
            return 0
        return make_long(obj, value, code, frame)
    if cls == &PyUnicode_Type:
        code[0] = kMXNetStr
        value.v_str.data = MXNetUtf8(obj, &value.v_str.size)
        if value.v_str.data != NULL:
            return 0
        return reject_surrogates(frame)
    if cls == ndarray_type:
        code[0] = kMXNetNDArrayHandle
        value.v_handle = (<ObjectBase>obj).chandle
        return 0 if value.v_handle != NULL else reject_empty(obj, frame)
    if cls == &PyTuple_Type:
        size = PyTuple_GET_SIZE(obj)
        if size <= (frame.end - frame.cursor) // <Py_ssize_t>sizeof(int64_t):
            ints = <int64_t*>frame.cursor
            if MXNetSmallInts(PySequence_Fast_ITEMS(obj), size, ints):
                frame.cursor = <char*>(ints + size)
                code[0] = kMXNetIntTuple
                value.v_ints.data = ints
                value.v_ints.size = size
                return 0
        return make_run(obj, value, code, frame, False)
    if obj == Py_None:
        code[0] = kMXNetNull
        value.v_int64 = 0
        return 0
    if cls == &PyFloat_Type:
        code[0] = kMXNetFloat
        value.v_float64 = PyFloat_AS_DOUBLE(obj)
        return 0
    if cls == &PyBool_Type:
        code[0] = kMXNetBool
        value.v_int64 = 1 if obj == Py_True else 0
        return 0
    if cls == <PyTypeObject*>Context:
        code[0] = kMXNetContext
        value.v_ctx = (<Context>obj).device
        return 0
    if cls == &PyList_Type:
        return make_run(obj, value, code, frame, True)
    if cls == <PyTypeObject*>Function:
        code[0] = kMXNetFuncHandle
        value.v_handle = (<ObjectBase>obj).chandle
        return 0 if value.v_handle != NULL else reject_empty(obj, frame)
    return make_other(obj, cls, value, code, frame)


cdef int make_long(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    cdef int overflow = 0
    value.v_int64 = PyLong_AsLongLongAndOverflow(obj, &overflow)
    if overflow == 0:
        code[0] = kMXNetInt
        return 0
    if overflow > 0:
        value.v_uint64 = PyLong_AsUnsignedLongLong(obj)
        if PyErr_Occurred() == NULL:
            code[0] = kMXNetUInt
            return 0
        PyErr_Clear()
    return reject_large(obj, frame)


cdef inline Py_ssize_t read_ints(PyObject** items, Py_ssize_t size, int64_t* out) noexcept:
    """How many of the items, from the first on, are ints within int64; runs no Python code."""
    cdef Py_ssize_t i
    cdef int overflow = 0
    for i in range(size):
        if Py_TYPE(items[i]) != &PyLong_Type:
            return i
        if not MXNetSmallInt(items[i], &out[i]):
            out[i] = PyLong_AsLongLongAndOverflow(items[i], &overflow)
            if overflow != 0:
                return i
    return size


cdef int make_run(PyObject* obj, MXNetValue* value, int* code, Frame* frame,
                  bint is_list) noexcept:
    """A tuple or list: a span of int64 where all are ints, else a span of tagged values."""
    if kMXNetFreeThreaded and is_list:
        obj = keep_copy(PyList_AsTuple(obj), frame)
        if obj == NULL:
            return -1
    cdef Py_ssize_t size = PySequence_Fast_GET_SIZE(obj)
    cdef int64_t* ints = <int64_t*>frame_alloc(frame, size * sizeof(int64_t))
    if ints == NULL:
        return -1
    if read_ints(PySequence_Fast_ITEMS(obj), size, ints) < size:
        return make_sequence(obj, size, value, code, frame, is_list)
    code[0] = kMXNetIntList if is_list else kMXNetIntTuple
    value.v_ints.data = ints
    value.v_ints.size = size
    return 0


cdef PyObject* keep_copy(PyObject* copy, Frame* frame) noexcept:
    """Keeps what is converted in place of a container that other threads may change; NULL if it is."""
    if copy == NULL:
        return NULL
    cdef int status = frame_keep(frame, copy)
    Py_DECREF_(copy)
    return copy if status == 0 else NULL


cdef inline PyObject* run_item(PyObject* run, Py_ssize_t i, bint is_list) noexcept:
    return PyList_GET_ITEM(run, i) if is_list else PyTuple_GET_ITEM(run, i)


cdef inline bint is_plain_number(PyObject* obj) noexcept:
    cdef PyTypeObject* cls = Py_TYPE(obj)
    return (cls == &PyLong_Type or cls == &PyFloat_Type or cls == &PyBool_Type
            or obj == Py_None)


cdef inline int make_item(PyObject* item, MXNetAny* out, Frame* frame, bint keep) noexcept:
    """One element; of a container that may change meanwhile, it is kept alive."""
    out.reserved = 0
    if keep and not is_plain_number(item) and frame_keep(frame, item) != 0:
        return -1
    return make_arg(item, &out.value, <int*>&out.type_code, frame)


cdef inline void set_path(Frame* frame, Py_ssize_t step) noexcept:
    if frame.depth <= 4:
        frame.path[frame.depth - 1] = step
        frame.path_length = frame.depth


cdef inline int enter(Frame* frame) noexcept:
    frame.depth += 1
    return 0 if frame.depth <= MAX_DEPTH else reject_depth(frame)


cdef inline void leave(Frame* frame) noexcept:
    frame.depth -= 1
    frame.path_length = frame.depth if frame.depth < 4 else 4


cdef int make_sequence(PyObject* obj, Py_ssize_t size, MXNetValue* value, int* code, Frame* frame,
                       bint is_list) noexcept:
    cdef MXNetAny* items = <MXNetAny*>frame_alloc(frame, size * sizeof(MXNetAny))
    if items == NULL or enter(frame) != 0:
        return -1
    # Without the GIL obj is a copy of the list, made as a tuple.
    cdef bint is_live = is_list and not kMXNetFreeThreaded
    cdef Py_ssize_t i = 0
    # The size is read each time: converting an element may run code that shortens the list.
    while i < size and (not is_live or i < PyList_GET_SIZE(obj)):
        set_path(frame, i)
        if make_item(run_item(obj, i, is_live), &items[i], frame, is_live) != 0:
            return -1
        i += 1
    leave(frame)
    code[0] = kMXNetList if is_list else kMXNetTuple
    value.v_seq.data = items
    value.v_seq.size = i
    return 0


cdef int make_dict(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    if kMXNetFreeThreaded:
        obj = keep_copy(PyDict_Copy(obj), frame)
        if obj == NULL:
            return -1
    cdef Py_ssize_t size = PyDict_Size(obj)
    cdef MXNetAny* items = <MXNetAny*>frame_alloc(frame, 2 * size * sizeof(MXNetAny))
    if items == NULL or enter(frame) != 0:
        return -1
    cdef Py_ssize_t position = 0
    cdef Py_ssize_t i = 0
    cdef PyObject* key
    cdef PyObject* item
    while i < size and PyDict_Next(obj, &position, &key, &item):
        # Converting the key may run code that drops the value.
        if not is_plain_number(item) and frame_keep(frame, item) != 0:
            return -1
        set_path(frame, STEP_KEY)
        if make_item(key, &items[2 * i], frame, True) != 0:
            return -1
        set_path(frame, STEP_VALUE)
        if make_item(item, &items[2 * i + 1], frame, False) != 0:
            return -1
        i += 1
    leave(frame)
    code[0] = kMXNetDict
    value.v_seq.data = items
    value.v_seq.size = 2 * i
    return 0


# ---- rejections: each sets the exception and returns -1 ----

cdef str where_text(Frame* frame):
    """Names the value being converted: "f: argument 0 ('x') item 2"."""
    cdef FunctionBase func
    cdef str text
    if frame.func == NULL:
        text = "convert: argument 0"
    elif frame.index == FIELD_VALUE:
        text = (<Field>frame.func).where
    elif frame.index < 0:
        text = f"{protocols.callable_name(<object>frame.func)}: result"
    else:
        func = <FunctionBase>frame.func
        text = f"{func.name_}: {argument_text(func, frame.index, parameter_name(func, frame.index))}"
    for i in range(frame.path_length):
        step = frame.path[i]
        if step != STEP_CONVERTED:
            text += " key" if step == STEP_KEY else " value" if step == STEP_VALUE else f" item {step}"
    return text


cdef str argument_text(FunctionBase func, Py_ssize_t index, name):
    """ "argument 2 ('axis')"; the object of a method is not counted."""
    text = f"argument {index}"
    if func.is_method:
        text = f"argument {index - 1}" if index > 0 else "argument"
    return text if name is None else f"{text} ('{name}')"


cdef void set_exception(cls, message) noexcept:
    PyErr_SetObject(<PyObject*>cls, <PyObject*>message)


cdef int reject_large(PyObject* obj, Frame* frame) noexcept:
    # Not what a derived class makes of itself, which may fail.
    shown = short_int(int.__index__(<object>obj))
    set_exception(OverflowError, f"{where_text(frame)} expected an integer from -2**63 to 2**64-1, got {shown}")
    return -1


cdef str short_int(value):
    """The text of an integer; of a long one its size, since Python does not print very long ones."""
    if abs(value) < 10**40:
        return str(value)
    return f"an integer of {value.bit_length()} bits"


cdef int reject_depth(Frame* frame) noexcept:
    frame.path_length = 0
    set_exception(ValueError, f"{where_text(frame)} is nested more than 64 levels deep or contains itself")
    return -1


cdef int reject_empty(PyObject* obj, Frame* frame) noexcept:
    set_exception(ValueError, f"{where_text(frame)} is a {Py_TYPE_name(obj)} that holds no object")
    return -1


cdef str Py_TYPE_name(PyObject* obj):
    return protocols.type_name(type(<object>obj))


cdef int reject_surrogates(Frame* frame) noexcept:
    """Says which argument the failed encoding belongs to."""
    cdef PyObject* cls = NULL
    cdef PyObject* error = NULL
    cdef PyObject* traceback = NULL
    PyErr_Fetch(&cls, &error, &traceback)
    PyErr_NormalizeException(&cls, &error, &traceback)
    if error != NULL and isinstance(<object>error, UnicodeEncodeError):
        (<object>error).reason = f"surrogates not allowed in {where_text(frame)}"
    PyErr_Restore(cls, error, traceback)
    return -1


cdef int reject_type(PyObject* obj, Frame* frame) noexcept:
    try:
        set_exception(TypeError, f"{where_text(frame)} {protocols.unsupported(type(<object>obj))}")
    except BaseException as error:
        set_error(error)
    return -1
