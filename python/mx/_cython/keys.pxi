# Keys of indexing, as the operators take them.

cdef inline bint is_plain_bound(PyObject* bound) noexcept:
    """None, or an int that needs no clipping."""
    cdef int overflow = 0
    if bound == Py_None:
        return True
    if Py_TYPE(bound) != &PyLong_Type:
        return False
    PyLong_AsLongLongAndOverflow(bound, &overflow)
    return overflow == 0


cdef inline object encode_item(object item):
    """What _indexing.encode_item gives, without Python code for the commonest items."""
    cdef PyTypeObject* kind = Py_TYPE(<PyObject*>item)
    cdef PySliceObject* parts
    if kind == &PyLong_Type or kind == &PyList_Type or kind == <PyTypeObject*>ndarray or item is None:
        return item
    if <PyObject*>item == Py_Ellipsis:
        return "..."
    if kind == &PySlice_Type:
        parts = <PySliceObject*><PyObject*>item
        if is_plain_bound(parts.start) and is_plain_bound(parts.stop) and is_plain_bound(parts.step):
            return ("slice", <object>parts.start, <object>parts.stop, <object>parts.step)
    return _indexing.encode_item(item)


cdef object encode_key(object key):
    """What _indexing.encode_key gives."""
    cdef PyTypeObject* kind = Py_TYPE(<PyObject*>key)
    if kind == &PyLong_Type:
        return key
    if kind == <PyTypeObject*>ndarray:
        return key
    if kind == &PySlice_Type or kind == &PyList_Type or <PyObject*>key == Py_Ellipsis or key is None:
        return (encode_item(key),)
    if kind == &PyTuple_Type:
        return encode_items(<tuple>key)
    return _indexing.encode_key(key)


cdef tuple encode_items(tuple items):
    # Not a comprehension, of which Cython 3.3 releases an item twice when there is no memory.
    cdef tuple encoded = PyTuple_New(len(items))
    cdef Py_ssize_t i
    for i in range(len(items)):
        item = encode_item(items[i])
        Py_INCREF(item)
        PyTuple_SET_ITEM(encoded, i, item)
    return encoded


cdef inline object fetch(NDArray self, object key):
    cdef PyObject* plain = plain_item(self, <PyObject*>key)
    return fetch_any(self, key) if is_not_made(plain) else MXNetPass(plain)


cdef object fetch_any(NDArray self, object key):
    """self[key] by the operator."""
    cdef PyObject* args[2]
    encoded = encode_key(key)
    args[0] = <PyObject*>self
    args[1] = <PyObject*>encoded
    return call(get_item, args, 2)
