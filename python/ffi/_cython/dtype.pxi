# Python's spelling of an element type is resolved once a type or dtype object and then remembered.

cdef dict dtype_names = {
    "bool": (kDLBool, 8), "int8": (kDLInt, 8), "int16": (kDLInt, 16), "int32": (kDLInt, 32),
    "int64": (kDLInt, 64), "uint8": (kDLUInt, 8), "uint16": (kDLUInt, 16),
    "uint32": (kDLUInt, 32), "uint64": (kDLUInt, 64), "float16": (kDLFloat, 16),
    "bfloat16": (kDLBfloat, 16), "float32": (kDLFloat, 32), "float64": (kDLFloat, 64),
    "complex64": (kDLComplex, 64), "complex128": (kDLComplex, 128),
}
cdef dict dtype_objects = {}
cdef object dtype_factory = None


cdef DLDataType make_dtype(int code, int bits) noexcept:
    cdef DLDataType dtype
    dtype.code = <uint8_t>code
    dtype.bits = <uint8_t>bits
    dtype.lanes = 1
    return dtype


cdef str dtype_name(DLDataType dtype):
    for name, (code, bits) in dtype_names.items():
        if code == dtype.code and bits == dtype.bits and dtype.lanes == 1:
            return name
    return f"dtype(code={dtype.code}, bits={dtype.bits}, lanes={dtype.lanes})"


def set_dtype_factory(factory):
    """Sets the function (name: str) -> object that makes the Python value of an element type."""
    global dtype_factory
    dtype_factory = factory


cdef object dtype_to_python(DLDataType dtype):
    cdef int key = (dtype.code << 24) | (dtype.bits << 16) | dtype.lanes
    found = dtype_objects.get(key)
    if found is None:
        name = dtype_name(dtype)
        found = name if dtype_factory is None else dtype_factory(name)
        dtype_objects[key] = found
    return found


cdef int dtype_of_type(cls, DLDataType* out) except -1:
    """Element type meant by a class: float, numpy.float32; 0 where the class means none."""
    if cls is float:
        out[0] = make_dtype(kDLFloat, 64)
    elif cls is bool:
        out[0] = make_dtype(kDLBool, 8)
    elif cls is int:
        out[0] = make_dtype(kDLInt, 64)
    elif cls is complex:
        out[0] = make_dtype(kDLComplex, 128)
    elif cls.__module__ in ("numpy", "ml_dtypes") and cls.__name__ in dtype_names:
        code, bits = dtype_names[cls.__name__]
        out[0] = make_dtype(code, bits)
    elif cls.__module__ == "numpy" and cls.__name__ in ("longlong", "ulonglong"):
        out[0] = make_dtype(kDLInt if cls.__name__ == "longlong" else kDLUInt, 64)
    else:
        return 0
    return 1


cdef int dtype_of_numpy(PyObject* descr, DLDataType* out) noexcept:
    """Element type of a numpy.dtype; one of the kMXNetNumpy codes."""
    cdef int status = MXNetNumpyDType(descr, out)
    if status == kMXNetNumpyForeign and (<object>descr).name == "bfloat16":
        out[0] = make_dtype(kDLBfloat, 16)
        return kMXNetNumpyOk
    return status
