# Classes that C++ registers: their description, and descriptors of their fields.

cdef class Field:
    """A field or property of the objects of a C++ class."""

    def __init__(self):
        raise TypeError("a Field comes from the description of a C++ class")

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return MXNetPass(read_field(self, <PyObject*>instance))

    def __set__(self, instance, value):
        if write_field(self, <PyObject*>instance, <PyObject*>value) != 0:
            MXNetPass(NULL)

    def __delete__(self, instance):
        raise AttributeError(f"{self.where} cannot be deleted")

    @property
    def name(self):
        """Name of the attribute."""
        return self.where.rpartition(".")[2]

    @property
    def __name__(self):
        return self.name

    @property
    def type(self):
        """Type expression of the value; None where it is not described."""
        return self.type_

    @property
    def read_only(self):
        """Whether it cannot be set."""
        return self.setter == NULL

    @property
    def __doc__(self):
        return self.doc

    def __repr__(self):
        return f"<ffi.Field {self.where}>"

    def __reduce__(self):
        raise TypeError(f"cannot pickle {self!r}")


cdef void* handle_for(Field field, PyObject* instance) noexcept:
    """The object of an instance; NULL with an exception where it has none."""
    cdef void* handle = NULL
    if isinstance(<object>instance, ObjectBase):
        handle = (<ObjectBase>instance).chandle
        if handle == NULL:
            set_exception(ValueError, f"{field.where}: a {Py_TYPE_name(instance)} that holds no object; "
                          "its __init__ has not called that of its base")
    else:
        set_exception(TypeError, f"{field.where}: expected {field.where.rpartition('.')[0]}, got {Py_TYPE_name(instance)}")
    return handle


cdef PyObject* read_field(Field field, PyObject* instance) noexcept:
    cdef MXNetSection section
    cdef PyObject* made
    cdef void* handle = handle_for(field, instance)
    if handle == NULL:
        return NULL
    MXNetBeginSection(&section, instance)
    made = field_value(field, handle)
    MXNetEndSection(&section)
    return made


cdef inline PyObject* field_value(Field field, void* handle) noexcept:
    cdef MXNetAny value
    if field.getter(field.resource, handle, &value) != 0:
        raise_last_error()
        return NULL
    if value.type_code == kMXNetStr or value.type_code == kMXNetBytes:
        return make_borrowed(&value.value, value.type_code)
    return make_ret(&value.value, value.type_code)


cdef int write_field(Field field, PyObject* instance, PyObject* value) noexcept:
    cdef MXNetAny given
    cdef MXNetSection section
    cdef Frame frame
    cdef int status
    cdef void* handle = handle_for(field, instance)
    if handle == NULL:
        return -1
    if field.setter == NULL:
        set_exception(AttributeError, f"{field.where} is read-only")
        return -1
    frame_init(&frame, <PyObject*>field)
    frame.index = FIELD_VALUE
    given.reserved = 0
    # Converting the value may run code that gives the instance another object.
    MXNetObjectRetain(handle)
    status = make_arg(value, &given.value, <int*>&given.type_code, &frame)
    if status == 0:
        MXNetBeginSection(&section, instance)
        status = field.setter(field.resource, handle, &given)
        MXNetEndSection(&section)
        if status != 0:
            raise_last_error()
    frame_close(&frame)
    MXNetObjectFree(handle)
    return status


def class_info(key):
    """The description of a class, by key or type index, as plain values; None where there is none.

    Fields are descriptors of an attribute each, methods are (name, Function, is_static).
    """
    cdef const MXNetTypeInfo* info = NULL
    cdef uint32_t index
    cdef Field field
    cdef size_t i
    if isinstance(key, str):
        check(MXNetObjectTypeKey2Index(registry_name(key, "get_class"), &index))
    else:
        index = key
    check(MXNetObjectGetTypeInfo(index, &info))
    if info == NULL:
        return None
    own = info.key.decode()
    fields = []
    for i in range(info.num_fields):
        field = Field.__new__(Field)
        field.getter = info.fields[i].getter
        field.setter = info.fields[i].setter
        field.resource = info.fields[i].resource
        field.where = f"{own}.{info.fields[i].name.decode()}"
        field.type_ = text_or_none(info.fields[i].type)
        field.doc = text_or_none(info.fields[i].doc)
        fields.append(field)
    methods = []
    for i in range(info.num_methods):
        MXNetObjectRetain(info.methods[i].func)
        function = MXNetPass(function_of(info.methods[i].func))
        methods.append((info.methods[i].name.decode(), function,
                        bool(info.methods[i].flags & kMXNetMethodStatic)))
    return {"key": own, "doc": info.doc.decode("utf-8", "replace"), "type_index": info.type_index,
            "base_index": info.base_index, "fields": fields, "methods": methods}


def adopt(ObjectBase target not None, ObjectBase source not None):
    """Makes target, in place of source, the wrapper of the object of source."""
    cdef void* former = target.chandle
    if source.chandle == NULL:
        raise ValueError(f"a {Py_TYPE_name(<PyObject*>source)} that holds no object")
    # Views rely on the wrapper of their array to keep its memory.
    if isinstance(target, NDArray) and former != NULL:
        raise TypeError(f"a {type(target).__name__} that has an array keeps it")
    MXNetObjectRetain(source.chandle)
    MXNetSetPeer(source.chandle, <PyObject*>target)
    if former != source.chandle:
        MXNetDropHandle(former, <PyObject*>target)
    else:
        MXNetObjectFree(former)


def set_class_factory(factory):
    """Sets what makes the Python class of a type index that has none yet."""
    global class_factory
    class_factory = factory
