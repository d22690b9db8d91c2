import operator
import os

# How a type is converted is found out once and cached until the type changes; see type_cache.h.

cdef enum Handler:
    H_NONE, H_OBJECT, H_FUNCTION, H_NDARRAY, H_CONTEXT, H_INT, H_FLOAT, H_COMPLEX, H_STR, H_BYTES,
    H_TUPLE, H_LIST, H_DICT, H_NUMPY_ARRAY, H_NUMPY_DTYPE, H_NUMPY_SCALAR, H_EXCHANGE, H_DLPACK,
    H_TYPE, H_BYTES_LIKE, H_ENUM, H_MEMBER, H_INDEX, H_CALLABLE, H_CONVERTED, H_OPAQUE, H_PATH, H_RANGE,
    H_DATACLASS, H_BUFFER, H_UNSUPPORTED


cdef inline size_t cache_slot(PyTypeObject* cls) noexcept:
    return (<size_t>cls >> 4) % kMXNetTypeCacheSize


cdef MXNetHandlerEntry* find_handler(PyTypeObject* cls) noexcept:
    cdef MXNetHandlerEntry* entry = &MXNetHandlers[cache_slot(cls)]
    if entry.cls == cls and entry.stamp == MXNetStampOf(cls) and entry.stamp != 0:
        return entry
    cdef void* extra = NULL
    cdef int handler
    cdef MXNetTypeStamp stamp
    try:
        hasattr(<object>cls, "__ffi_convert__")  # has the type be given a version
        stamp = MXNetStampOf(cls)
        handler = choose_handler(<object>cls, &extra)
    except BaseException as error:
        set_error(error)
        return NULL
    # Releases the former type of the slot.
    cdef PyTypeObject* former = entry.cls
    MXNetKeepType(<PyObject*>cls)
    entry.cls = cls
    entry.handler = handler
    entry.extra = extra
    entry.stamp = stamp
    MXNetUnkeepType(<PyObject*>former)
    # Releasing the former type may have run code that used the slot.
    return entry if entry.cls == cls else find_handler(cls)


cdef int choose_handler(cls, void** extra) except -1:
    """Decides by the class alone."""
    if issubclass(cls, ObjectBase):
        return H_FUNCTION if issubclass(cls, Function) else H_NDARRAY if issubclass(cls, NDArray) else H_OBJECT
    if issubclass(cls, Context):
        return H_CONTEXT
    converter = protocols.converter_of(cls)
    if converter is protocols.opaque_marker:
        return H_OPAQUE
    if converter is not None:
        # Without the GIL it is looked up when it is called: another thread may drop it before.
        extra[0] = NULL if kMXNetFreeThreaded else <void*>converter
        return H_CONVERTED
    if is_numpy(cls, "ndarray"):
        return H_NUMPY_ARRAY
    if is_numpy(cls, "dtype"):
        return H_NUMPY_DTYPE
    if is_numpy(cls, "generic"):
        return H_NUMPY_SCALAR
    if issubclass(cls, int):
        extra[0] = <void*><size_t>getattr(cls, "__ffi_enum__", 0)
        return H_MEMBER if extra[0] != NULL else H_INT
    if issubclass(cls, float):
        return H_FLOAT
    if issubclass(cls, complex):
        return H_COMPLEX
    if issubclass(cls, str):
        return H_STR
    if issubclass(cls, bytes):
        return H_BYTES
    if issubclass(cls, tuple):
        return H_TUPLE
    if issubclass(cls, list):
        return H_LIST
    if issubclass(cls, dict):
        return H_DICT
    if issubclass(cls, type):
        return H_TYPE
    enum = sys.modules.get("enum")
    if enum is not None and issubclass(cls, enum.Enum):
        return H_ENUM
    extra[0] = exchange_table(cls)
    if extra[0] != NULL:
        return H_EXCHANGE
    if hasattr(cls, "__dlpack__"):
        return H_DLPACK
    if issubclass(cls, (bytearray, memoryview)):
        return H_BYTES_LIKE
    if hasattr(cls, "__index__"):
        return H_INDEX
    if hasattr(cls, "__fspath__"):
        return H_PATH
    if cls is range:
        return H_RANGE
    # hasattr would find the __call__ of the metaclass, with which every class makes instances.
    for base in cls.__mro__:
        if "__call__" in base.__dict__:
            return H_CALLABLE
    if hasattr(cls, "__dataclass_fields__"):
        return H_DATACLASS
    if MXNetHasBuffer(<PyTypeObject*>cls):
        return H_BUFFER
    return H_UNSUPPORTED


def register_converter(cls, function):
    """Makes instances of cls convert as what function makes of them."""
    protocols.check_converter(cls, function, (ObjectBase, Context))
    protocols.CONVERTERS[cls] = function
    forget_handlers()


cdef void forget_handlers() noexcept:
    global numpy_array_type
    numpy_array_type = NULL
    MXNetForgetHandlers()


cdef bint is_numpy(cls, str name) except -1:
    """Whether cls derives from NumPy's own class of that name; any class may call itself so."""
    base = getattr(sys.modules.get("numpy"), name, None)
    return isinstance(base, type) and issubclass(cls, base)


cdef void* exchange_table(cls) except? NULL:
    """The C exchange table of DLPack that a tensor type may offer, if it is of a version known here."""
    cdef MXNetDLPackExchange* table
    capsule = getattr(cls, "__dlpack_c_exchange_api__", None)
    if capsule is None or not PyCapsule_IsValid(capsule, "dlpack_exchange_api"):
        return NULL
    table = <MXNetDLPackExchange*>PyCapsule_GetPointer(capsule, "dlpack_exchange_api")
    if (table.version.major != 1 or table.dltensor_from_py_object_no_sync == NULL
            or table.managed_tensor_to_py_object_no_sync == NULL):
        return NULL
    return table


# NumPy's own class of arrays, once one was given: the class of most arguments that are no scalars.
cdef SharedType numpy_array_type
numpy_array_type = NULL


cdef int make_other(PyObject* obj, PyTypeObject* cls, MXNetValue* value, int* code,
                    Frame* frame) noexcept:
    global numpy_array_type
    cdef MXNetHandlerEntry* entry
    cdef int handler
    if cls == numpy_array_type:
        return make_numpy(obj, value, code, frame)
    entry = find_handler(cls)
    if entry == NULL:
        return -1
    handler = entry.handler
    if handler == H_NUMPY_ARRAY:
        if not MXNetIsHeapType(cls):
            numpy_array_type = cls
        return make_numpy(obj, value, code, frame)
    if handler == H_EXCHANGE:
        return make_exchanged(obj, entry.extra, value, code, frame)
    if handler == H_NUMPY_DTYPE:
        return make_numpy_dtype(obj, value, code, frame)
    if handler == H_TYPE:
        return make_type(obj, value, code, frame)
    if handler <= H_NDARRAY:
        value.v_handle = (<ObjectBase>obj).chandle
        code[0] = (kMXNetFuncHandle if handler == H_FUNCTION else
                   kMXNetNDArrayHandle if handler == H_NDARRAY else kMXNetObjectHandle)
        return 0 if value.v_handle != NULL else reject_empty(obj, frame)
    if handler == H_DICT:
        return make_dict(obj, value, code, frame)
    if handler == H_TUPLE or handler == H_LIST:
        return make_run(obj, value, code, frame, handler == H_LIST)
    if handler == H_BYTES:
        code[0] = kMXNetBytes
        value.v_str.data = PyBytes_AS_STRING(obj)
        value.v_str.size = PyBytes_GET_SIZE(obj)
        return 0
    if handler == H_DLPACK:
        return make_dlpack(obj, value, code, frame)
    if handler == H_INT:
        return make_long(obj, value, code, frame)
    if handler == H_MEMBER:
        code[0] = kMXNetEnum
        value.v_enum.value = <object>obj
        value.v_enum.type_index = <size_t>entry.extra
        return 0
    if handler == H_STR:
        code[0] = kMXNetStr
        value.v_str.data = MXNetUtf8(obj, &value.v_str.size)
        return 0 if value.v_str.data != NULL else reject_surrogates(frame)
    if handler == H_FLOAT:
        code[0] = kMXNetFloat
        value.v_float64 = PyFloat_AS_DOUBLE(obj)
        return 0
    if handler == H_CONTEXT:
        code[0] = kMXNetContext
        value.v_ctx = (<Context>obj).device
        return 0
    if handler == H_UNSUPPORTED:
        return make_of_array(obj, value, code, frame)
    if handler == H_BUFFER:
        return make_buffer(obj, value, code, frame)
    try:
        if handler == H_CONVERTED:
            converter = protocols.converter_of(<object>cls) if kMXNetFreeThreaded else <object>entry.extra
            return make_converted(converter, <object>obj, value, code, frame)
        return make_rare(<object>obj, handler, value, code, frame)
    except BaseException as error:
        set_error(error)
        return -1


cdef int make_of_array(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    """An object without a rule of its own that has __array__ or __array_interface__."""
    try:
        made = protocols.array_of(<object>obj)
    except BaseException as error:
        set_error(error)
        return -1
    return reject_type(obj, frame) if made is None else make_kept(made, value, code, frame)


cdef int make_numpy_dtype(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    cdef int status = dtype_of_numpy(obj, &value.v_type)
    if status != kMXNetNumpyOk:
        return reject_dtype(<object>obj, status == kMXNetNumpySwapped, frame)
    code[0] = kMXNetType
    return 0


cdef int make_type(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    """A class given as argument, numpy.float32 for one, by the element type it means."""
    cdef MXNetDTypeEntry* entry = &MXNetDTypes[cache_slot(<PyTypeObject*>obj)]
    cdef PyObject* former
    cdef DLDataType dtype
    cdef MXNetTypeStamp stamp
    if not MXNetIsOfClass(entry, obj):
        stamp = MXNetStampOf(<PyTypeObject*>obj)
        try:
            found = data_type.of_class(<object>obj)
            if found is None:
                return make_callable(obj, value, code, frame)
            dtype = make_dtype(found)
        except TypeError as failure:
            set_exception(TypeError, f"{where_text(frame)} {failure}")
            return -1
        except BaseException as error:
            set_error(error)
            return -1
        # Read after the look-up, which may have run code that used the slot.
        former = entry.cls
        MXNetKeepType(obj)
        entry.cls = obj
        entry.stamp = stamp
        entry.dtype = dtype
        value.v_type = dtype
        code[0] = kMXNetType
        MXNetUnkeepType(former)
        return 0
    value.v_type = entry.dtype
    code[0] = kMXNetType
    return 0


cdef int make_callable(PyObject* obj, MXNetValue* value, int* code, Frame* frame) noexcept:
    """A callable becomes a function that lives for the call, unless the callee keeps it."""
    cdef void* handle = NULL
    MXNetAllowFinding(obj)
    Py_INCREF_(obj)
    if MXNetFuncFromCallable(MXNetEnterPython, obj, MXNetReleasePython, &handle) != 0:
        raise_last_error()
        return -1
    value.v_handle = handle
    code[0] = kMXNetFuncHandle
    return frame_keep_handle(frame, handle)


cdef int make_kept(object made, MXNetValue* value, int* code, Frame* frame) noexcept:
    """Converts what stands for the argument, and keeps it for the call."""
    if frame_keep(frame, <PyObject*>made) != 0:
        return -1
    return make_arg(<PyObject*>made, value, code, frame)


cdef bint takes_array(Frame* frame) noexcept:
    """Whether the argument is of a parameter that is described as an array."""
    # The last bit is also that of all further arguments.
    return (frame.func != NULL and frame.depth == 0 and frame.index >= 0
            and ((<FunctionBase>frame.func).array_mask >> min(frame.index, 63)) & 1)


cdef int make_rare(object obj, int handler, MXNetValue* value, int* code, Frame* frame) except? -1:
    if handler == H_COMPLEX:
        code[0] = kMXNetComplex
        value.v_complex[0] = obj.real
        value.v_complex[1] = obj.imag
        return 0
    if handler == H_NUMPY_SCALAR:
        if takes_array(frame):
            return make_kept(sys.modules["numpy"].asarray(obj), value, code, frame)
        kind = obj.dtype.kind
        if kind in "biufc" and obj.dtype.name != "longdouble" and obj.dtype.itemsize <= 16:
            made = obj.item()
            if type(made) in (bool, int, float, complex):
                return make_kept(made, value, code, frame)
        elif obj.dtype.name == "bfloat16":
            return make_kept(float(obj), value, code, frame)
        elif kind == "U" or kind == "S":
            return make_kept(obj.item(), value, code, frame)
        return reject_dtype(obj.dtype, False, frame)
    if handler == H_ENUM:
        return make_converted(enum_value, obj, value, code, frame)
    if handler == H_BYTES_LIKE:
        if isinstance(obj, memoryview) and not (obj.format in ("B", "b", "c") and obj.ndim == 1 and obj.c_contiguous):
            return make_buffer(<PyObject*>obj, value, code, frame)
        return make_kept(bytes(obj), value, code, frame)
    if handler == H_INDEX:
        return make_kept(PyNumber_Index(obj), value, code, frame)
    if handler == H_PATH:
        return make_kept(os.fspath(obj), value, code, frame)
    if handler == H_RANGE:
        return make_kept(list(obj), value, code, frame)
    if handler == H_DATACLASS:
        return make_kept(protocols.fields_of(obj), value, code, frame)
    if handler == H_OPAQUE:
        return make_kept(make_opaque(obj), value, code, frame)
    return make_callable(<PyObject*>obj, value, code, frame)


cdef int make_converted(object converter, object obj, MXNetValue* value, int* code,
                        Frame* frame) except? -1:
    """What a converter makes of obj, which may again be something with a converter."""
    if enter(frame) != 0:
        return -1
    set_path(frame, STEP_CONVERTED)
    cdef int status = make_kept(converter(obj), value, code, frame)
    leave(frame)
    return status


def make_opaque(value):
    """An object of the runtime that carries value unchanged: where it comes out, it is value.

    So what is returned here is not the wrapper that stands for the object.
    """
    cdef void* handle = MXNetNewOpaque(<PyObject*>value)
    if handle == NULL:
        raise MemoryError()
    return MXNetPass(wrap_anew(class_of(kMXNetObjectOpaque), handle))


# The value of a member of an Enum.
cdef object enum_value = operator.attrgetter("value")


cdef bint is_operand_type(PyObject* obj) noexcept:
    """Whether arithmetic with arrays knows this kind of value."""
    cdef PyTypeObject* cls = Py_TYPE(obj)
    if (cls == ndarray_type or cls == &PyLong_Type or cls == &PyFloat_Type or cls == &PyBool_Type
            or cls == &PyList_Type or cls == &PyTuple_Type):
        return True
    cdef MXNetHandlerEntry* entry = find_handler(cls)
    if entry == NULL:
        PyErr_Clear()
        return False
    return entry.handler in (H_NDARRAY, H_INT, H_FLOAT, H_COMPLEX, H_TUPLE, H_LIST, H_NUMPY_ARRAY,
                             H_NUMPY_SCALAR, H_EXCHANGE, H_DLPACK, H_INDEX, H_RANGE, H_BUFFER)
