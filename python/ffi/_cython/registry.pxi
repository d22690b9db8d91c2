cdef bytes registry_name(name, str function):
    if not isinstance(name, str):
        raise TypeError(f"{function}: argument 0 ('name') expected str, got {type(name).__name__}")
    encoded = name.encode("utf-8")
    if b"\0" in encoded:
        raise ValueError(f"{function}: argument 0 ('name') contains a NUL character: {name!r}")
    return encoded


def get_global(name):
    """The registered function of that name, or None."""
    cdef void* handle = NULL
    cdef bytes encoded = registry_name(name, "get_global_func")
    check(MXNetFuncGetGlobal(encoded, &handle))
    return None if handle == NULL else MXNetPass(function_of(handle))


def register_global(name, FunctionBase function not None, bint override=False):
    """Registers a function; ValueError where the name is taken and override is false."""
    cdef bytes encoded = registry_name(name, "register_func")
    check(MXNetFuncRegisterGlobal(encoded, function.chandle, override))


def remove_global(name):
    """Removes a name; KeyError where it is not registered."""
    cdef bytes encoded = registry_name(name, "remove_global_func")
    check(MXNetFuncRemoveGlobal(encoded))


def list_global_names():
    """All registered names, sorted."""
    cdef int size = 0
    cdef const char** names = NULL
    cdef int i
    check(MXNetFuncListGlobalNames(&size, &names))
    decoded = []
    for i in range(size):
        decoded.append(names[i].decode("utf-8", "replace"))
    return decoded


def version():
    """(major, minor) of the ABI, and the release of the runtime."""
    cdef int major = 0
    cdef int minor = 0
    cdef const char* release = NULL
    check(MXNetGetVersion(&major, &minor, &release))
    return (major, minor, release.decode())


check(MXNetFuncGetGlobal("ffi.convert", &own_function))
if own_function == NULL:
    raise ImportError("the runtime library does not register 'ffi.convert'; it is of another version")
