cdef int run_callback(void* resource, const MXNetValue* values, const int* codes, int count,
                      MXNetValue* ret, int* ret_code) noexcept:
    """The body of every function made of a Python callable; see MXNetEnterPython."""
    # One slot more in front, where a bound method may put its object.
    cdef PyObject* stack_args[STACK_ARGS + 1]
    cdef PyObject** room = stack_args
    cdef PyObject** args
    cdef PyObject* result = NULL
    cdef int made = 0
    cdef int status
    if Py_EnterRecursiveCall(" in a callback") != 0:
        return store_current_error()
    if count > STACK_ARGS:
        room = <PyObject**>malloc((count + 1) * sizeof(PyObject*))
    if room != NULL:
        args = room + 1
        while made < count:
            args[made] = make_borrowed(&values[made], codes[made])
            if args[made] == NULL:
                break
            made += 1
        if made == count:
            result = MXNetVectorcall(<PyObject*>resource, args,
                                     count | PY_VECTORCALL_ARGUMENTS_OFFSET)
        while made > 0:
            made -= 1
            Py_DECREF_(args[made])
        if room != stack_args:
            free(room)
    else:
        PyErr_NoMemory()
    Py_LeaveRecursiveCall()
    if result == NULL:
        return store_current_error()
    if result == Py_None:
        # The result is None, which ret_code says already.
        Py_DECREF_(result)
        return 0
    status = give_result(<PyObject*>resource, result, ret, ret_code)
    Py_DECREF_(result)
    return status if status == 0 else store_current_error()


cdef int give_result(PyObject* callback, PyObject* result, MXNetValue* ret, int* ret_code) noexcept:
    """Makes what a callback returned an owned value; -1 with an exception set."""
    cdef PyTypeObject* cls = Py_TYPE(result)
    cdef const char* text
    cdef size_t size
    if cls == &PyLong_Type and MXNetSmallInt(result, &ret.v_int64):
        ret_code[0] = kMXNetInt
        return 0
    if cls == &PyFloat_Type:
        ret.v_float64 = PyFloat_AS_DOUBLE(result)
        ret_code[0] = kMXNetFloat
        return 0
    if cls == &PyBool_Type:
        ret.v_int64 = result == Py_True
        ret_code[0] = kMXNetBool
        return 0
    if cls == &PyUnicode_Type:
        text = MXNetUtf8(result, &size)
        if text != NULL:
            ret_code[0] = kMXNetObjectHandle
            return MXNetNewString(text, size, &ret.v_handle)
        # Fails again below, with an error that names the function.
        PyErr_Clear()
    return give_other(callback, result, ret, ret_code)


cdef int give_other(PyObject* callback, PyObject* result, MXNetValue* ret, int* ret_code) noexcept:
    cdef Frame frame
    cdef MXNetValue value
    cdef int code
    cdef int status
    frame_init(&frame, callback)
    frame.index = -1
    status = make_arg(result, &value, &code, &frame)
    if status == 0:
        if code <= kMXNetContext and code != kMXNetHandle or code == kMXNetBool:
            ret[0] = value
            ret_code[0] = code
        else:
            status = MXNetFuncCall(own_function, &value, &code, 1, ret, ret_code)
            if status != 0:
                raise_last_error()
    frame_close(&frame)
    return status


cdef int store_current_error() noexcept:
    """Moves the current Python exception to the last error; always -1."""
    cdef PyObject* cls = NULL
    cdef PyObject* error = NULL
    cdef PyObject* traceback = NULL
    PyErr_Fetch(&cls, &error, &traceback)
    PyErr_NormalizeException(&cls, &error, &traceback)
    if error == NULL:
        # Without memory there may be no exception set.
        MXNetSetNothingSaid()
        Py_XDECREF_(cls)
        Py_XDECREF_(traceback)
        return -1
    if traceback != NULL:
        PyException_SetTraceback(error, traceback)
    try:
        store_python_error(<object>error)
    except BaseException:
        PyErr_Clear()
        MXNetSetNothingSaid()
    Py_XDECREF_(cls)
    Py_XDECREF_(error)
    Py_XDECREF_(traceback)
    return -1


MXNetSetCallback(run_callback)


# ffi.convert, which copies borrowed values into objects; lives as long as the process.
cdef void* own_function = NULL


cdef class InfoBuilder:
    """Holds the memory that an MXNetFuncInfo points into while it is passed on."""

    cdef MXNetFuncInfo info
    cdef MXNetParamInfo* params
    cdef Frame frame
    cdef list texts

    def __cinit__(self, dict raw):
        cdef Py_ssize_t i
        self.texts = []
        frame_init(&self.frame, NULL)
        self.frame.index = 0
        described = raw["params"]
        self.params = <MXNetParamInfo*>malloc((len(described) + 1) * sizeof(MXNetParamInfo))
        if self.params == NULL:
            raise MemoryError()
        roles = raw.get("roles") or [0] * len(described)
        for i in range(len(described)):
            name, type_text, doc, flags, default = described[i]
            self.params[i].name = self.text(name)
            self.params[i].type = self.text(type_text)
            self.params[i].doc = self.text(doc)
            self.params[i].flags = flags
            self.params[i].role = roles[i]
            self.texts.append(default)
            self.params[i].default_value.reserved = 0
            if make_arg(<PyObject*>default, &self.params[i].default_value.value,
                        <int*>&self.params[i].default_value.type_code, &self.frame) != 0:
                MXNetPass(NULL)
        self.info.struct_size = sizeof(MXNetFuncInfo)
        self.info.abi_major = MXNET_RUNTIME_ABI_MAJOR
        self.info.abi_minor = MXNET_RUNTIME_ABI_MINOR
        self.info.name = self.text(raw["name"])
        self.info.doc = self.text(raw["doc"])
        self.info.returns = self.text(raw["returns"])
        self.info.file = self.text(raw["file"])
        self.info.line = raw["line"]
        self.info.described = raw["described"]
        self.info.params = self.params
        self.info.num_params = len(described)
        self.info.release_lock_bytes = raw["release_lock_bytes"]
        self.info.overloads = NULL
        self.info.num_overloads = 0
        self.info.op = NULL
        self.info.flags = 0

    def __dealloc__(self):
        frame_close(&self.frame)
        free(self.params)

    cdef const char* text(self, value) except? NULL:
        if value is None:
            return NULL
        encoded = value.encode("utf-8", "replace")
        self.texts.append(encoded)
        return encoded


def convert_function(function, name=None, raw_info=None):
    """Makes a function of a Python callable; a Function is returned as it is.

    raw_info is a description in the form of Function._raw_info.
    """
    cdef void* handle = NULL
    cdef InfoBuilder builder
    if isinstance(function, Function):
        return function
    if not callable(function):
        raise TypeError(f"convert_function: argument 0 ('function') expected a callable, got {type(function).__name__}")
    Py_INCREF(function)
    check(MXNetFuncCreateFromCFunc(MXNetEnterPython, <PyObject*>function, MXNetReleasePython, &handle))
    cdef FunctionBase func = <FunctionBase>MXNetPass(wrap_as(<PyTypeObject*>Function, handle))
    if raw_info is None and name is not None:
        raw_info = {"name": name, "doc": "", "returns": None, "file": None, "line": 0,
                    "described": False, "params": [], "release_lock_bytes": -1}
    if raw_info is not None:
        builder = InfoBuilder(raw_info)
        check(MXNetFuncSetInfo(handle, &builder.info))
        read_info(func, False)
    return func


def close_entrance():
    """Lets no thread of C++ enter the interpreter any more, which is about to end."""
    with nogil:
        MXNetCloseEntrance()
