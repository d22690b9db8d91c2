# What Array and List, and Map and Dict, read of their objects; ffi.container makes classes of it.

cdef object too_deep(ObjectBase container):
    return ValueError(f"{type(container).__name__} is nested more than {MAX_DEPTH} levels deep or contains itself")


cdef MXNetAnyArray* items_of(ObjectBase container, uint32_t fixed, uint32_t mutable) except NULL:
    """The span of a container's object, which is of one of two types."""
    cdef MXNetSeqObject* seq = <MXNetSeqObject*>container.chandle
    if seq == NULL or seq.header.type_index != fixed and seq.header.type_index != mutable:
        raise ValueError(f"a {type(container).__name__} that holds no such object")
    return &seq.items


cdef inline MXNetAnyArray* seq_items(ObjectBase container) except NULL:
    return items_of(container, kMXNetObjectArray, kMXNetObjectList)


cdef inline MXNetAnyArray* map_items(ObjectBase container) except NULL:
    return items_of(container, kMXNetObjectMap, kMXNetObjectDict)


cdef inline PyObject* make_element(const MXNetAny* item) noexcept:
    """A new reference to the Python value of an element, which its container may drop meanwhile."""
    cdef MXNetBytesObject* text
    cdef MXNetAny kept = item[0]
    if kept.type_code == kMXNetInt:
        return PyLong_FromLongLong(kept.value.v_int64)
    if kept.type_code == kMXNetObjectHandle:
        text = <MXNetBytesObject*>kept.value.v_handle
        if text.header.type_index == kMXNetObjectString:
            return MXNetNewText(text.bytes.data, text.bytes.size)
    return make_borrowed(&kept.value, kept.type_code)


cdef PyObject* read_element(ObjectBase container, MXNetAnyArray* items, size_t at) noexcept:
    """The same for the element at an index that the container had when it was looked at.

    NULL without an exception where another thread has made it shorter.
    """
    cdef MXNetSection section
    cdef PyObject* made
    if not kMXNetFreeThreaded:
        return make_element(&items.data[at])
    MXNetBeginSection(&section, <PyObject*>container)
    made = make_element(&items.data[at]) if at < items.size else NULL
    MXNetEndSection(&section)
    return made


cdef object plain_of(ObjectBase container, value, int depth):
    """What make_plain_element gives, where every container that may change has its own lock."""
    if depth > MAX_DEPTH:
        raise too_deep(container)
    plain = []
    if isinstance(value, SeqBase):
        for item in SeqBase.__iter__(value):
            plain.append(plain_of(container, item, depth + 1))
        return plain
    if isinstance(value, tuple):
        for item in value:
            plain.append(plain_of(container, item, depth + 1))
        return tuple(plain)
    if isinstance(value, MapBase):
        return {key: plain_of(container, item, depth + 1) for key, item in MapBase._iter_items(value)}
    return value


cdef object make_plain_element(ObjectBase container, const MXNetAny* item, int depth):
    """The same, with containers as Python's own, all the way down."""
    cdef MXNetSeqObject* seq = <MXNetSeqObject*>item.value.v_handle
    cdef uint32_t kind
    if item.type_code != kMXNetObjectHandle:
        return MXNetPass(make_element(item))
    kind = seq.header.type_index
    if kind == kMXNetObjectArray or kind == kMXNetObjectList:
        return make_plain_list(container, seq, depth)
    if kind == kMXNetObjectMap or kind == kMXNetObjectDict:
        return make_plain_dict(container, seq, depth)
    if kind == kMXNetObjectTuple:
        return tuple(make_plain_list(container, seq, depth))
    return MXNetPass(make_element(item))


cdef list make_plain_list(ObjectBase container, MXNetSeqObject* seq, int depth):
    cdef list made
    cdef size_t i = 0
    # First of all: it may be changed, or dropped, by code that runs meanwhile.
    MXNetObjectRetain(seq)
    try:
        if depth >= MAX_DEPTH:
            raise too_deep(container)
        made = []
        while i < seq.items.size:
            made.append(make_plain_element(container, &seq.items.data[i], depth + 1))
            i += 1
    finally:
        MXNetObjectFree(seq)
    return made


cdef dict make_plain_dict(ObjectBase container, MXNetSeqObject* seq, int depth):
    cdef dict made
    cdef size_t i = 0
    MXNetObjectRetain(seq)
    try:
        if depth >= MAX_DEPTH:
            raise too_deep(container)
        made = {}
        while i + 1 < seq.items.size:
            # Keys are hashed, which lists cannot be.
            key = MXNetPass(make_element(&seq.items.data[i]))
            if i + 1 < seq.items.size:
                made[key] = make_plain_element(container, &seq.items.data[i + 1], depth + 1)
            i += 2
    finally:
        MXNetObjectFree(seq)
    return made


cdef int construct(ObjectBase self, FunctionBase make, items) except -1:
    """Gives self the new object that make makes of Python's container."""
    cdef Frame frame
    cdef MXNetValue value
    cdef MXNetValue ret
    cdef int code
    cdef int ret_code
    cdef int status
    if self.chandle != NULL:
        raise TypeError(f"a {type(self).__name__} is made once")
    frame_init(&frame, <PyObject*>make)
    frame.index = 0
    status = make_arg(<PyObject*>items, &value, &code, &frame)
    if status == 0:
        status = MXNetFuncCall(make.chandle, &value, &code, 1, &ret, &ret_code)
        if status != 0:
            raise_last_error()
    frame_close(&frame)
    if status != 0:
        MXNetPass(NULL)
    MXNetSetPeer(ret.v_handle, <PyObject*>self)
    return 0


cdef class Elements:
    """Iterates over elements of a container: every step-th of its run, or pairs of them."""
    cdef ObjectBase container
    cdef MXNetAnyArray* items
    cdef size_t at
    cdef size_t step
    cdef bint pairs
    # The size that a mapping has to keep; sequences may grow meanwhile.
    cdef size_t size

    def __init__(self):
        raise TypeError("an iterator comes from iter()")

    def __iter__(self):
        return self

    def __length_hint__(self):
        return (self.items.size - self.at) // self.step if self.at < self.items.size else 0

    def __next__(self):
        cdef size_t at = self.at
        cdef PyObject* key
        if at >= self.items.size:
            # So that it does not begin again if the container grows.
            self.at = <size_t>PY_SSIZE_T_MAX
            raise StopIteration
        if self.step == 2 and self.items.size != self.size:
            raise changed_size(self.container)
        self.at = at + self.step
        key = read_element(self.container, self.items, at)
        if not self.pairs:
            return self.give(key)
        first = self.give(key)
        if self.items.size != self.size:
            raise changed_size(self.container)
        return first, self.give(read_element(self.container, self.items, at + 1))

    cdef give(self, PyObject* element):
        if kMXNetFreeThreaded and element == NULL and PyErr_Occurred() == NULL:
            raise changed_size(self.container) if self.step == 2 else StopIteration()
        return MXNetPass(element)


cdef object changed_size(ObjectBase container):
    return RuntimeError(f"{type(container).__name__} changed size during iteration")


cdef Elements iterate(ObjectBase container, MXNetAnyArray* items, size_t first, size_t step, bint pairs):
    cdef Elements made = Elements.__new__(Elements)
    made.container = container
    made.items = items
    made.at = first
    made.step = step
    made.pairs = pairs
    made.size = items.size
    return made


cdef class SeqBase(ObjectBase):
    """What Array and List share: reading."""

    def __len__(self):
        return seq_items(self).size

    def __getitem__(self, index):
        cdef MXNetAnyArray* items = seq_items(self)
        cdef int64_t at
        cdef PyObject* made
        cdef Py_ssize_t start, stop, step
        if type(index) is not int or not MXNetSmallInt(<PyObject*>index, &at):
            if isinstance(index, slice):
                start, stop, step = index.indices(items.size)
                return slice_function(self, start, step, len(range(start, stop, step)))
            at = position_of(self, index)
        if at < 0:
            at += <int64_t>items.size
        made = read_element(self, items, at) if 0 <= at < <int64_t>items.size else NULL
        if made == NULL and PyErr_Occurred() == NULL:
            raise IndexError(f"ffi.{type(self).__name__}: index {index} is out of range for a {type(self).__name__} of {items.size}")
        return MXNetPass(made)

    def __iter__(self):
        return iterate(self, seq_items(self), 0, 1, False)

    def to_list(self):
        """A list of the elements; containers among them become Python's own as well.

        Raises ValueError where it contains itself or is nested more than 64 levels deep.
        """
        seq_items(self)
        if kMXNetFreeThreaded:
            return plain_of(self, self, 0)
        return make_plain_list(self, <MXNetSeqObject*>self.chandle, 0)


cdef int64_t position_of(ObjectBase container, index) except? -1:
    """Any index but a slice as a number; what is too large is out of range."""
    if not hasattr(type(index), "__index__"):
        raise TypeError(f"ffi.{type(container).__name__}: indices are integers or slices, not {type(index).__name__}")
    position = PyNumber_Index(index)
    if not -2**62 < position < 2**62:
        raise IndexError(f"ffi.{type(container).__name__}: index {short_int(position)} is out of range for a {type(container).__name__}")
    return position


cdef class ArrayBase(SeqBase):
    def __init__(self, items=(), /):
        construct(self, array_function, items if type(items) in (list, tuple) else list(items))


cdef class ListBase(SeqBase):
    def __init__(self, items=(), /):
        construct(self, list_function, items if type(items) in (list, tuple) else list(items))


cdef class MapBase(ObjectBase):
    """What Map and Dict share: reading."""

    def __len__(self):
        return map_items(self).size // 2

    def __getitem__(self, key):
        cdef PyObject* value = find_value(self, key)
        if value == NULL:
            raise KeyError(key)
        return MXNetPass(value)

    def __contains__(self, key):
        return find_entry(self, key) >= 0

    def get(self, key, default=None):
        """The value of a key, default where there is none."""
        cdef PyObject* value = find_value(self, key)
        return default if value == NULL else MXNetPass(value)

    def __iter__(self):
        return iterate(self, map_items(self), 0, 2, False)

    def _iter_values(self):
        return iterate(self, map_items(self), 1, 2, False)

    def _iter_items(self):
        return iterate(self, map_items(self), 0, 2, True)

    def _find(self, key):
        return find_entry(self, key)

    def to_dict(self):
        """A dict of the entries; containers among the values become Python's own as well.

        Raises ValueError where it contains itself or is nested more than 64 levels deep, TypeError
        where a key is not hashable.
        """
        map_items(self)
        if kMXNetFreeThreaded:
            return plain_of(self, self, 0)
        return make_plain_dict(self, <MXNetSeqObject*>self.chandle, 0)


cdef int64_t find_entry(ObjectBase container, key) except? -2:
    """Number of the entry with a key, -1 where there is none."""
    cdef MXNetAnyArray* items = map_items(container)
    cdef PyObject* obj = <PyObject*>key
    cdef MXNetAny sought
    cdef MXNetSection section
    cdef Frame frame
    cdef PyObject* element
    cdef int64_t found
    cdef size_t i
    if (Py_TYPE(obj) == &PyUnicode_Type or Py_TYPE(obj) == &PyBytes_Type or is_plain_number(obj)):
        frame_init(&frame, NULL)
        if make_arg(obj, &sought.value, <int*>&sought.type_code, &frame) == 0:
            MXNetBeginSection(&section, <PyObject*>container)
            found = MXNetFindEntry(container.chandle, &sought)
            MXNetEndSection(&section)
            return found
        # A value without a counterpart in C++, such as lone surrogates, equals no key.
        PyErr_Clear()
        return -1
    # C++ does not know the __hash__ and __eq__ of other objects.
    hashed = hash(key)
    i = 0
    while i < items.size:
        element = read_element(container, items, i)
        if kMXNetFreeThreaded and element == NULL and PyErr_Occurred() == NULL:
            break
        candidate = MXNetPass(element)
        if candidate is key or is_same_key(candidate, key, hashed):
            return i // 2
        i += 2
    return -1


cdef bint is_same_key(candidate, key, hashed) except -1:
    try:
        if hash(candidate) != hashed:
            return False
    except TypeError:
        # C++ made a key that Python cannot hash, such as a List.
        return False
    return bool(candidate == key)


cdef PyObject* find_value(ObjectBase container, key) except? NULL:
    """A new reference to the value of a key, NULL where there is none."""
    cdef MXNetAnyArray* items
    cdef MXNetSection section
    cdef PyObject* found = NULL
    cdef int64_t entry
    MXNetBeginSection(&section, <PyObject*>container)
    try:
        entry = find_entry(container, key)
        items = map_items(container)
        # Comparing keys may have run code that removed entries.
        if 0 <= 2 * entry + 1 < <int64_t>items.size:
            found = make_element(&items.data[2 * entry + 1])
            if found == NULL:
                MXNetPass(NULL)
    finally:
        MXNetEndSection(&section)
    return found


cdef class FrozenMapBase(MapBase):
    def __init__(self, items=(), /, **more):
        construct(self, map_function, items if type(items) is dict and not more else dict(items, **more))


cdef class DictBase(MapBase):
    def __init__(self, items=(), /, **more):
        construct(self, dict_function, items if type(items) is dict and not more else dict(items, **more))


cdef FunctionBase array_function = get_global("ffi.Array")
cdef FunctionBase list_function = get_global("ffi.List")
cdef FunctionBase map_function = get_global("ffi.Map")
cdef FunctionBase dict_function = get_global("ffi.Dict")
cdef FunctionBase slice_function = exclusive(get_global("ffi.SeqSlice"))
