# Towards Python: results, which are owned, and arguments of Python callbacks, which are borrowed.

cdef PyObject* make_ret(MXNetValue* value, int code) noexcept:
    """A new reference to the Python value of an owned value, which is used up; NULL on failure."""
    if code == kMXNetNull:
        Py_INCREF_(Py_None)
        return Py_None
    if code == kMXNetNDArrayHandle:
        return wrap_array(value.v_handle)
    if code == kMXNetInt:
        return PyLong_FromLongLong(value.v_int64)
    if code == kMXNetFloat:
        return PyFloat_FromDouble(value.v_float64)
    if code == kMXNetBool:
        if value.v_int64 != 0:
            Py_INCREF_(Py_True)
            return Py_True
        Py_INCREF_(Py_False)
        return Py_False
    if code == kMXNetObjectHandle:
        return make_object(value.v_handle)
    if code == kMXNetFuncHandle:
        return wrap_function(value.v_handle)
    return make_plain(value, code)


cdef PyObject* make_plain(MXNetValue* value, int code) noexcept:
    """Values that hold no reference and are rare."""
    if code == kMXNetUInt:
        return PyLong_FromUnsignedLongLong(value.v_uint64)
    if code == kMXNetComplex:
        return PyComplex_FromDoubles(value.v_complex[0], value.v_complex[1])
    if code == kMXNetHandle:
        return PyLong_FromVoidPtr(value.v_handle)
    try:
        if code == kMXNetType:
            made = dtype_to_python(value.v_type)
        elif code == kMXNetContext:
            made = make_context(value.v_ctx)
        elif code == kMXNetEnum:
            made = handed_down.enum_member(value.v_enum.type_index, value.v_enum.value)
        else:
            raise TypeError(f"a value with type code {code} has no Python counterpart")
    except BaseException as error:
        set_error(error)
        return NULL
    Py_INCREF(made)
    return <PyObject*>made


cdef PyObject* make_ints(const MXNetIntArray* ints, bint is_list) noexcept:
    cdef PyObject* made = PyList_New(ints.size) if is_list else PyTuple_New(ints.size)
    cdef PyObject* item
    cdef size_t i
    if made == NULL:
        return NULL
    for i in range(ints.size):
        item = PyLong_FromLongLong(ints.data[i])
        if item == NULL:
            Py_DECREF_(made)
            return NULL
        if is_list:
            PyList_SET_ITEM(made, i, item)
        else:
            PyTuple_SET_ITEM(made, i, item)
    return made


cdef PyObject* make_items(const MXNetAnyArray* items, bint is_list) noexcept:
    """A tuple or list of a span of values, which stay their owner's."""
    cdef PyObject* made = PyList_New(items.size) if is_list else PyTuple_New(items.size)
    cdef PyObject* item
    cdef size_t i
    if made == NULL:
        return NULL
    for i in range(items.size):
        item = make_borrowed(&items.data[i].value, items.data[i].type_code)
        if item == NULL:
            Py_DECREF_(made)
            return NULL
        if is_list:
            PyList_SET_ITEM(made, i, item)
        else:
            PyTuple_SET_ITEM(made, i, item)
    return made


cdef PyObject* make_dict_of(const MXNetAnyArray* items) noexcept:
    cdef PyObject* made = PyDict_New()
    cdef PyObject* key
    cdef PyObject* item
    cdef size_t i
    cdef int status = 0 if made != NULL else -1
    for i in range(0, items.size, 2):
        if status != 0:
            break
        key = make_borrowed(&items.data[i].value, items.data[i].type_code)
        item = make_borrowed(&items.data[i + 1].value, items.data[i + 1].type_code) if key != NULL else NULL
        status = PyDict_SetItem(made, key, item) if item != NULL else -1
        Py_XDECREF_(key)
        Py_XDECREF_(item)
    if status == 0:
        return made
    Py_XDECREF_(made)
    return NULL


cdef PyObject* make_object(void* handle) noexcept:
    """Text, bytes and tuples become Python's own; other objects are wrapped. Uses the reference up."""
    cdef uint32_t kind = (<MXNetObject*>handle).type_index
    cdef PyObject* made = MXNetTakePeer(handle)
    if made != NULL:
        return made
    if kind == kMXNetObjectString:
        made = MXNetNewText((<MXNetBytesObject*>handle).bytes.data,
                            (<MXNetBytesObject*>handle).bytes.size)
    elif kind == kMXNetObjectShape:
        made = make_ints(&(<MXNetShapeObject*>handle).ints, False)
    elif kind == kMXNetObjectTuple:
        made = make_items(&(<MXNetSeqObject*>handle).items, False)
    elif kind == kMXNetObjectBytes:
        made = PyBytes_FromStringAndSize((<MXNetBytesObject*>handle).bytes.data,
                                         (<MXNetBytesObject*>handle).bytes.size)
    elif kind == kMXNetObjectOpaque and (<MXNetOpaqueObject*>handle).finalizer == MXNetReleasePython:
        made = <PyObject*>(<MXNetOpaqueObject*>handle).value
        Py_INCREF_(made)
    elif kind == kMXNetObjectFunction:
        return wrap_function(handle)
    elif kind == kMXNetObjectNDArray:
        return wrap_array(handle)
    else:
        return wrap_as(class_of(kind), handle)
    MXNetObjectFree(handle)
    return made


cdef PyObject* make_answer(void* handle, PyObject** args, Py_ssize_t count) noexcept:
    """make_object for the result of a call with these arguments."""
    cdef MXNetBytesObject* text = <MXNetBytesObject*>handle
    cdef PyObject* given
    if text.header.type_index == kMXNetObjectString:
        given = MXNetFindText(args, count, text.bytes.data, text.bytes.size)
        if given != NULL:
            MXNetObjectFree(handle)
            return given
    return make_object(handle)


cdef PyObject* make_borrowed(const MXNetValue* value, int code) noexcept:
    """A new reference to the Python value of a borrowed value, which stays its owner's."""
    cdef MXNetValue owned
    cdef int owned_code
    cdef PyObject* made
    if code == kMXNetInt:
        return PyLong_FromLongLong(value.v_int64)
    if code == kMXNetFloat:
        return PyFloat_FromDouble(value.v_float64)
    if code == kMXNetStr:
        return MXNetNewText(value.v_str.data, value.v_str.size)
    if code == kMXNetBytes:
        return PyBytes_FromStringAndSize(value.v_str.data, value.v_str.size)
    if code == kMXNetIntTuple or code == kMXNetIntList:
        return make_ints(&value.v_ints, code == kMXNetIntList)
    if code == kMXNetTuple or code == kMXNetList:
        return make_items(&value.v_seq, code == kMXNetList)
    if code == kMXNetDict:
        return make_dict_of(&value.v_seq)
    if code == kMXNetBorrowedArray and (<MXNetBorrowedTensor*>value.v_handle).peer != NULL:
        made = <PyObject*>(<MXNetBorrowedTensor*>value.v_handle).peer
        Py_INCREF_(made)
        return made
    if code == kMXNetArrayHandle or code == kMXNetReadOnlyArray or code == kMXNetBorrowedArray:
        # A tensor borrowed from C++ is gone after the call, so that the callback gets an array of its
        # own: a copy, unless it may be shared.
        if MXNetFuncCall(own_function, value, &code, 1, &owned, &owned_code) != 0:
            raise_last_error()
            return NULL
        return make_ret(&owned, owned_code)
    if (code == kMXNetObjectHandle or code == kMXNetFuncHandle or code == kMXNetNDArrayHandle
            or code == kMXNetModuleHandle):
        MXNetObjectRetain(value.v_handle)
    owned = value[0]
    return make_ret(&owned, code)


cdef object exchanged(MXNetDLPackExchange* exchange, MXNetNDArrayObject* array):
    """The array as the class that has this exchange table of DLPack; they share the memory."""
    cdef DLManagedTensorVersioned* shared = NULL
    cdef void* made = NULL
    check(MXNetNDArrayToDLPack(array, &shared))
    if exchange.managed_tensor_to_py_object_no_sync(shared, &made) != 0:
        made = NULL  # with an exception that is set
    return MXNetPass(<PyObject*>made)


cdef object returned_as(FunctionBase func, const MXNetValue* value, int code):
    """The Python value of a borrowed value, with arrays as the class that func returns."""
    cdef MXNetNDArrayObject* array
    cdef MXNetAnyArray* items
    cdef void* view = NULL
    cdef size_t i
    if code == kMXNetObjectHandle and (<MXNetObject*>value.v_handle).type_index == kMXNetObjectTuple:
        items = &(<MXNetSeqObject*>value.v_handle).items
        made = []
        for i in range(items.size):
            made.append(returned_as(func, &items.data[i].value, items.data[i].type_code))
        return tuple(made)
    array = <MXNetNDArrayObject*>value.v_handle
    if (code == kMXNetNDArrayHandle and func.exchange != NULL and IsPlainTensor(array.tensor)
            and not array.flags & (kMXNetNDArrayHasPeer | kMXNetNDArrayReadOnly)):
        return exchanged(<MXNetDLPackExchange*>func.exchange, array)
    made = MXNetPass(make_borrowed(value, code))
    if code != kMXNetNDArrayHandle or isinstance(made, func.returned):
        return made
    if array.flags & kMXNetNDArrayHasPeer:
        # An array of its own, since the peer is no instance of that class.
        check(MXNetNDArrayView(array, array.tensor.data, array.tensor.shape, array.tensor.strides,
                               array.tensor.ndim, array.tensor.dtype, &view))
        made = MXNetPass(wrap_array(view))
    return made if func.array_maker is None else func.array_maker(made)


cdef PyObject* make_returned(FunctionBase func, MXNetValue* ret, int code) noexcept:
    """The result of a function that says what class its arrays have; uses the reference up."""
    cdef PyObject* made = NULL
    try:
        result = returned_as(func, ret, code)
        Py_INCREF(result)
        made = <PyObject*>result
    except BaseException as error:
        set_error(error)
    if (code == kMXNetObjectHandle or code == kMXNetFuncHandle or code == kMXNetNDArrayHandle
            or code == kMXNetModuleHandle):
        MXNetObjectFree(ret.v_handle)
    return made
