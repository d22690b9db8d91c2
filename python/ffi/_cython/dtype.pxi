# Python's spelling of an element type is resolved once a type or dtype object and then remembered.

from ffi import data_type

cdef dict dtype_objects = {}


cdef DLDataType make_dtype(tuple triple):
    cdef DLDataType dtype
    dtype.code, dtype.bits, dtype.lanes = triple
    return dtype


cdef str dtype_name(DLDataType dtype):
    return data_type.name_of((dtype.code, dtype.bits, dtype.lanes))


cdef object dtype_to_python(DLDataType dtype):
    triple = (dtype.code, dtype.bits, dtype.lanes)
    found = MXNetDictGet(dtype_objects, triple)
    if found is None:
        found = dtype_objects[triple] = data_type.to_numpy(triple)
    return found


cdef int dtype_of_numpy(PyObject* descr, DLDataType* out) noexcept:
    """Element type of a numpy.dtype; one of the kMXNetNumpy codes."""
    cdef int status = MXNetNumpyDType(descr, out)
    return status if status != kMXNetNumpyForeign else dtype_of_foreign(descr, out)


cdef int dtype_of_foreign(PyObject* descr, DLDataType* out) noexcept:
    try:
        dtype = data_type.BY_NAME.get((<object>descr).name)
        if dtype in data_type.EXTENDED:
            out[0] = make_dtype(dtype)
            return kMXNetNumpyOk
    except Exception:
        pass  # a data type that has not even a name
    return kMXNetNumpyForeign
