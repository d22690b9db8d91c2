from cython import critical_section

from ffi import protocols


cdef void set_error(error) noexcept:
    """Makes error the current exception; its traceback, if it has one, stays."""
    cls = type(error)
    PyErr_SetObject(<PyObject*>cls, <PyObject*>error)


cdef class ObjectBase:
    """Holds one reference to an object of the runtime, and is the one wrapper that does."""

    def __init__(self, *args, **kwargs):
        raise TypeError(f"{type(self).__name__} objects come from functions; they are not made directly")

    def __dealloc__(self):
        MXNetDropHandle(self.chandle, <PyObject*>self)

    @property
    def handle(self):
        """Address of the object."""
        return <uint64_t>self.chandle

    @property
    def type_index(self):
        """Number of the object's type."""
        return (<MXNetObject*>self.chandle).type_index if self.chandle != NULL else 0

    @property
    def type_key(self):
        """Name of the object's type."""
        cdef const char* key = NULL
        if MXNetObjectTypeIndex2Key(self.type_index, &key) != 0:
            return "unknown"
        return key.decode()

    def same_as(self, other):
        """Whether both hold the same object."""
        return isinstance(other, ObjectBase) and (<ObjectBase>other).chandle == self.chandle

    def __repr__(self):
        return f"<{type(self).__name__} {self.type_key} at {self.handle:#x}>"

    def __reduce__(self):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")


# Class of each object type by its index; None where ObjectBase serves.
cdef list object_classes = [None] * 64
# Replaced classes, kept since another thread may be making an instance of one.
cdef list former_classes = []
cdef tuple empty_tuple = ()
# The class of arrays, looked at for every argument: kept as a bare pointer.
cdef SharedType ndarray_type
ndarray_type = NULL


def register_object(type_index, cls):
    """Wraps results whose object has this type index in cls, a subclass of ObjectBase.

    Raises TypeError for what is no int or no such class, ValueError where no type has the index.
    """
    global ndarray_type
    protocols.check_registration(type_index, cls, ObjectBase)
    cdef const char* key = NULL
    check(MXNetObjectTypeIndex2Key(type_index, &key))
    with critical_section(object_classes):
        while len(object_classes) <= type_index:
            object_classes.append(None)
        if kMXNetFreeThreaded and object_classes[type_index] is not None:
            former_classes.append(object_classes[type_index])
        object_classes[type_index] = cls
    if type_index == kMXNetObjectNDArray:
        MXNetSetArrayType(<PyTypeObject*>cls)
        ndarray_type = <PyTypeObject*>cls


cdef PyObject* wrap_anew(PyTypeObject* cls, void* handle) noexcept:
    """A new instance of cls, a class derived from ObjectBase, that the object does not know of."""
    cdef PyObject* obj = MXNetNativeNew(cls, <PyObject*>empty_tuple) if cls != NULL else NULL
    if obj == NULL:
        MXNetObjectFree(handle)
        return NULL
    (<ObjectBase>obj).chandle = handle
    return obj


cdef PyObject* wrap_as(PyTypeObject* cls, void* handle) noexcept:
    """The wrapper of an object that had none: a new instance of cls, derived from ObjectBase."""
    cdef PyObject* obj = wrap_anew(cls, handle)
    return MXNetOfferPeer(obj) if obj != NULL else NULL


cdef PyObject* wrap_array(void* handle) noexcept:
    """The same for an array."""
    return MXNetNewArray(ndarray_type, handle)


cdef PyObject* wrap_view(PyObject* array, void* data, const int64_t* shape, const int64_t* strides, int ndim, DLDataType dtype) noexcept:
    """A view of an array, in its wrapper; NULL where it cannot be made."""
    return MXNetNewView(ndarray_type, array, data, shape, strides, ndim, dtype)


# Makes the class of a type index when the first object of it appears.
cdef object class_factory = None


cdef PyTypeObject* class_of(uint32_t type_index) noexcept:
    """The class of a type index, which its table keeps alive; NULL with an exception set."""
    if type_index < <uint32_t>len(object_classes):
        cls = object_classes[type_index]
        if cls is not None:
            return <PyTypeObject*>cls
    if type_index < kMXNetObjectDynamic or class_factory is None:
        return <PyTypeObject*>ObjectBase
    try:
        cls = class_factory(type_index)
        with critical_section(object_classes):
            # Another thread may have registered one meanwhile.
            if type_index >= <uint32_t>len(object_classes) or object_classes[type_index] is None:
                register_object(type_index, cls)
            cls = object_classes[type_index]
    except BaseException as error:
        set_error(error)
        return NULL
    return <PyTypeObject*>cls
