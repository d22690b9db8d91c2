# C++ failures become Python exceptions, and Python exceptions travel through C++ unchanged.

import builtins as _builtins

cdef dict error_classes = {}
cdef dict error_kinds = {}
cdef dict module_globals = globals()

cdef enum:
    CODE_CACHE = 128
    MAX_FRAMES = 64

# Code objects stand for C++ functions in tracebacks; made once for each line of the source.
cdef struct CodeEntry:
    PyObject* file
    PyObject* function
    int line
    PyObject* code

cdef CodeEntry code_cache[CODE_CACHE]


def set_error_class(str kind, cls):
    """Raises cls for C++ errors of this kind, and names exceptions of cls so in C++."""
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise TypeError(f"set_error_class: argument 1 ('cls') expected an exception class, got {cls!r}")
    error_classes[kind] = cls
    error_kinds[cls] = kind
    forget_kinds()


cdef void forget_kinds() noexcept:
    global kind_changes
    cdef int i
    MXNetLockTables()
    kind_changes += 1
    MXNetUnlockTables()
    for i in range(KIND_CACHE):
        set_kind(&kind_cache[i], NULL, NULL, kind_changes)


cdef inline bint same_text(PyObject* cached, const char* text) noexcept:
    return cached != NULL and strcmp(PyBytes_AS_STRING(cached), text) == 0


cdef enum:
    KIND_CACHE = 32

# The classes of recent kinds by the C text, so that no str has to be made.
cdef struct KindEntry:
    PyObject* kind
    PyObject* cls

cdef KindEntry kind_cache[KIND_CACHE]
# How often classes were set; cached look-ups from before the last time are stale.
cdef unsigned int kind_changes = 0


cdef object class_of_kind(const char* kind):
    """The exception class of a kind, None where no class has that name."""
    cdef KindEntry* entry = &kind_cache[(strlen(kind) * 7 + <unsigned char>kind[0]) % KIND_CACHE]
    cdef PyObject* found = NULL
    cdef unsigned int changes
    MXNetLockTables()
    changes = kind_changes
    if same_text(entry.kind, kind):
        found = entry.cls
        Py_INCREF_(found)
    MXNetUnlockTables()
    if found != NULL:
        return MXNetPass(found)
    name = kind.decode("utf-8", "replace")
    cls = MXNetDictGet(error_classes, name)
    if cls is None:
        cls = getattr(_builtins, name, None)
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            return None
    encoded = <bytes>kind
    set_kind(entry, <PyObject*>encoded, <PyObject*>cls, changes)
    return cls


cdef void set_kind(KindEntry* entry, PyObject* kind, PyObject* cls, unsigned int changes) noexcept:
    cdef KindEntry former
    cdef KindEntry made
    made.kind = kind
    made.cls = cls
    Py_XINCREF_(kind)
    Py_XINCREF_(cls)
    MXNetLockTables()
    former = made
    if changes == kind_changes:
        former = entry[0]
        entry[0] = made
    MXNetUnlockTables()
    Py_XDECREF_(former.kind)
    Py_XDECREF_(former.cls)


cdef str kind_of_class(cls):
    for base in cls.__mro__:
        kind = MXNetDictGet(error_kinds, base)
        if kind is not None:
            return kind
        if base.__module__ == "builtins":
            return base.__name__
    return "RuntimeError"


cdef object new_exception(const MXNetErrorInfo* info):
    text = MXNetPass(PyUnicode_DecodeUTF8(info.message.data, info.message.size, "replace"))
    cls = class_of_kind(info.kind)
    if cls is not None:
        try:
            return MXNetPass(PyObject_CallOneArg(<PyObject*>cls, <PyObject*>text))
        except Exception:
            pass  # a class such as UnicodeDecodeError, which takes more than a message
    return RuntimeError(f"{info.kind.decode('utf-8', 'replace')}: {text}")


cdef PyObject* code_of_frame(const MXNetErrorFrame* frame) noexcept:
    """A new reference to a code object for the traceback, NULL with an exception."""
    cdef size_t slot = (strlen(frame.file) * 31 + strlen(frame.function) * 7 + frame.line) % CODE_CACHE
    cdef CodeEntry* entry = &code_cache[slot]
    cdef CodeEntry former
    cdef CodeEntry made
    cdef PyObject* code = NULL
    MXNetLockTables()
    if entry.line == frame.line and same_text(entry.function, frame.function) and same_text(entry.file, frame.file):
        code = entry.code
        Py_INCREF_(code)
    MXNetUnlockTables()
    if code != NULL:
        return code
    code = MXNetNewCode(frame.file, frame.function, frame.line)
    if code == NULL:
        return NULL
    made.file = PyBytes_FromStringAndSize(frame.file, strlen(frame.file))
    made.function = PyBytes_FromStringAndSize(frame.function, strlen(frame.function))
    made.line = frame.line
    made.code = code
    Py_INCREF_(code)
    MXNetLockTables()
    former = entry[0]
    entry[0] = made
    MXNetUnlockTables()
    Py_XDECREF_(former.file)
    Py_XDECREF_(former.function)
    Py_XDECREF_(former.code)
    return code


cdef void forget_last_error() noexcept:
    """Releases what the last error holds, which may run code that must not see an exception."""
    cdef PyObject* cls = NULL
    cdef PyObject* error = NULL
    cdef PyObject* traceback = NULL
    PyErr_Fetch(&cls, &error, &traceback)
    MXNetSetLastError(NULL)
    PyErr_Restore(cls, error, traceback)


cdef size_t codes_of_frames(const MXNetErrorInfo* info, PyObject** codes) noexcept:
    """New references to the code objects of an error's frames; how many there are."""
    cdef size_t count = 0
    while count < info.num_frames and count < MAX_FRAMES:
        codes[count] = code_of_frame(&info.frames[count])
        if codes[count] == NULL:
            # The error itself matters more than an entry of its traceback.
            PyErr_Clear()
            break
        count += 1
    return count


cdef inline bint is_address(const MXNetErrorFrame* frame) noexcept:
    return frame.file[0] == 0 and frame.line == 0 and frame.function[0] == c"0" and frame.function[1] == c"x"


cdef bint has_addresses(const MXNetErrorInfo* info) noexcept:
    cdef size_t i
    for i in range(info.num_frames):
        if is_address(&info.frames[i]):
            return True
    return False


cdef tuple entries_of_frames(const MXNetErrorInfo* info):
    """(file, function, line), or the address, of an error's frames."""
    entries = []
    cdef size_t i
    for i in range(info.num_frames):
        if is_address(&info.frames[i]):
            entries.append(MXNetPass(PyLong_FromUnsignedLongLong(strtoull(info.frames[i].function, NULL, 16))))
        else:
            entries.append((<bytes>info.frames[i].file, <bytes>info.frames[i].function, info.frames[i].line))
    return tuple(entries)


# Code objects of the entries of recent errors; a new one may take the start of a program.
cdef dict codes_of_entries = {}


cdef list find_codes(tuple entries):
    """Code objects of entries, with each address replaced by the source lines it stands for."""
    from ffi.backtrace import source_locations
    codes = []
    for file, function, line in source_locations(entries)[:MAX_FRAMES]:
        codes.append(MXNetPass(MXNetNewCode(file.encode(), function.encode(), line)))
    if len(codes_of_entries) >= CODE_CACHE:
        codes_of_entries.clear()
    codes_of_entries[entries] = codes
    return codes


cdef size_t codes_beside_error(entries, PyObject** codes) noexcept:
    """find_codes while an exception is set; only what ends a process, as Ctrl-C, replaces it."""
    cdef PyObject* cls = NULL
    cdef PyObject* error = NULL
    cdef PyObject* traceback = NULL
    cdef size_t count = 0
    PyErr_Fetch(&cls, &error, &traceback)
    try:
        found = MXNetDictGet(codes_of_entries, entries) or find_codes(entries)
        for code in found:
            Py_INCREF(code)
            codes[count] = <PyObject*>code
            count += 1
    except Exception:
        pass
    except BaseException as interrupt:
        Py_XDECREF_(cls)
        Py_XDECREF_(error)
        Py_XDECREF_(traceback)
        set_error(interrupt)
        return 0
    PyErr_Restore(cls, error, traceback)
    return count


cdef void raise_last_error() noexcept:
    """Sets the Python exception that the calling thread's last error means."""
    cdef const MXNetErrorInfo* info = MXNetGetLastError()
    cdef MXNetOpaqueObject* opaque = <MXNetOpaqueObject*>info.payload
    cdef PyObject* codes[MAX_FRAMES]
    cdef size_t count = 0
    cdef size_t i
    cdef int status = 0
    # Read before the exception is made: its class may call functions whose failure replaces info.
    entries = None
    if has_addresses(info):
        entries = entries_of_frames(info)
    else:
        count = codes_of_frames(info, codes)
    if (opaque != NULL and opaque.header.type_index == kMXNetObjectOpaque
            and opaque.finalizer == MXNetReleasePython):
        error = <object><PyObject*>opaque.value
        set_error(error)
    else:
        try:
            error = new_exception(info)
            set_error(error)
        except BaseException as other:
            set_error(other)
    if entries is not None:
        count = codes_beside_error(entries, codes)
    # Innermost first, as an exception passes frames on its way out.
    for i in range(count):
        if status == 0:
            status = MXNetAddTraceback(codes[i], <PyObject*>module_globals)
        Py_DECREF_(codes[i])
    if opaque != NULL:
        forget_last_error()


cdef int check(int status) except -1:
    if status != 0:
        raise_last_error()
        return -1
    return 0


cdef int store_python_error(object error) except? -2:
    """Makes a Python exception the last error; always -1."""
    cdef MXNetErrorInfo info
    try:
        message = str(error)
    except Exception:
        message = "<exception whose text cannot be made>"
    except BaseException as interrupt:
        error = interrupt
        message = "interrupted"
    cdef bytes text = message.encode("utf-8", "replace")
    cdef bytes kind = kind_of_class(type(error)).encode("utf-8", "replace")
    info.struct_size = sizeof(info)
    info.kind = kind
    info.message.data = text
    info.message.size = len(text)
    info.frames = NULL
    info.num_frames = 0
    info.payload = MXNetNewOpaque(<PyObject*>error)
    MXNetSetLastError(&info)
    MXNetObjectFree(info.payload)
    return -1
