import sys
from types import MethodType

from ffi import description


cdef object text_or_none(const char* text):
    return None if text == NULL else text.decode("utf-8", "replace")


cdef dict plain_info(const MXNetFuncInfo* info):
    """A description as plain values."""
    cdef MXNetAny* default
    cdef size_t i
    params = []
    roles = []
    overloads = []
    for i in range(info.num_overloads):
        overloads.append(plain_info(info.overloads[i]))
    for i in range(info.num_params):
        default = <MXNetAny*>&info.params[i].default_value
        value = MXNetPass(make_borrowed(&default.value, default.type_code)) \
            if info.params[i].flags & kMXNetParamOptional else None
        params.append((info.params[i].name.decode(), text_or_none(info.params[i].type),
                       text_or_none(info.params[i].doc), info.params[i].flags, value))
        roles.append(info.params[i].role)
    return {
        "name": info.name.decode("utf-8", "replace"), "doc": info.doc.decode("utf-8", "replace"),
        "returns": text_or_none(info.returns), "file": text_or_none(info.file),
        "line": info.line, "described": bool(info.described), "params": params, "roles": roles,
        "release_lock_bytes": info.release_lock_bytes,
        "is_method": bool(info.flags & kMXNetFuncMethod), "overloads": overloads,
    }


cdef class FunctionBase(ObjectBase):
    """What a call needs: arguments are converted, C++ runs, the result is converted.

    Calls come by vectorcall, so no Python code runs, and no frame is made, on the way.
    """

    def __cinit__(self):
        self.vectorcall = call_function
        self.first_front_end = PY_SSIZE_T_MAX
        self.variadic = -1
        self.keyword_only = -1
        self.release_bytes = -1
        self.name_ = "function"

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def _raw_info(self):
        """The description as plain values; ffi.description gives it a form."""
        cdef const MXNetFuncInfo* info = NULL
        check(MXNetFuncGetInfo(self.chandle, &info))
        return plain_info(info)

    def front_end(self):
        """The same function with the parameters that only the front end has."""
        return self.again(True)

    def returning(self, cls):
        """The same function with the arrays among its results as instances of cls, without a copy.

        cls is numpy.ndarray, torch.Tensor, mx.np.ndarray, ffi.NDArray, or the array class of
        another package that has `from_dlpack`. An array is the result itself or in a tuple that is;
        what containers hold stays as it is. Raises TypeError for another class.
        """
        maker = protocols.array_maker(cls, NDArray)
        cdef FunctionBase func = self.again(self.is_front_end)
        func.array_maker = maker
        func.exchange = NULL if maker is None else exchange_table(cls)
        func.returned = cls
        return func

    cdef FunctionBase again(self, bint front_end):
        """Another Function of the same function."""
        MXNetObjectRetain(self.chandle)
        cdef FunctionBase func = <FunctionBase>MXNetPass(wrap_anew(<PyTypeObject*>Function, self.chandle))
        read_info(func, front_end)
        func.returned = self.returned
        func.array_maker = self.array_maker
        func.exchange = self.exchange
        return func

    @property
    def returned_class(self):
        """The class of arrays among the results, see returning; None where it was not chosen."""
        return self.returned

    @property
    def name(self):
        """Name under which it is registered."""
        return self.name_

    @property
    def is_front_end(self):
        """Whether the parameters that only the front end has are visible."""
        return bool(self.is_front_end)

    @property
    def release_gil_bytes(self):
        """Bytes of tensors from which on a call releases the GIL; negative for never."""
        return self.release_bytes

    def __eq__(self, other):
        if not isinstance(other, FunctionBase):
            return NotImplemented
        return (self.chandle == (<FunctionBase>other).chandle
                and self.is_front_end == (<FunctionBase>other).is_front_end
                and self.returned is (<FunctionBase>other).returned)

    def __hash__(self):
        return hash(<size_t>self.chandle)


cdef class Function(FunctionBase):
    """A function that C++ and Python can both call; see ffi.get_global_func."""
    # Beyond calling it, a function has a description, and a name in a module.

    # Not as properties, which the class would have, too: inspect does not take that.
    __doc__ = description.Derived(description.docstring, description.class_docstring)
    __signature__ = description.Derived(description.signature, description.class_signature)

    @property
    def info(self):
        """The description, an ffi.description.FunctionInfo."""
        return description.function_info(self)

    @property
    def __name__(self):
        given = self.get_attribute("__name__")
        return self.name_.rpartition(".")[2] if given is None else given

    @__name__.setter
    def __name__(self, value):
        self.set_attribute("__name__", value)

    @property
    def __qualname__(self):
        return self.__name__

    @property
    def __module__(self):
        given = self.get_attribute("__module__")
        return "ffi" if given is None else given

    @__module__.setter
    def __module__(self, value):
        self.set_attribute("__module__", value)

    cdef get_attribute(self, key):
        with critical_section(self):
            return None if self.attributes is None else MXNetDictGet(self.attributes, key)

    cdef set_attribute(self, key, value):
        with critical_section(self):
            if self.attributes is None:
                self.attributes = {}
            self.attributes[key] = value

    def __reduce__(self):
        return handed_down.reduction(self)

    def __repr__(self):
        return f"<ffi.Function {self.name_}>"


def exclusive(FunctionBase function not None):
    """The function, which from now on does not overlap others that use its first argument."""
    function.is_exclusive = True
    return function


cdef uint64_t array_bits(int index, int flags) noexcept:
    """The arguments that go to a parameter of arrays: that one, or all from it on."""
    return <uint64_t>(-1 if flags & kMXNetParamVariadic else 1) << index


cdef int read_info(FunctionBase func, bint front_end) except -1:
    """Takes from the description what calls need."""
    cdef const MXNetFuncInfo* info = NULL
    cdef size_t i
    check(MXNetFuncGetInfo(func.chandle, &info))
    func.name_ = info.name.decode("utf-8", "replace")
    func.release_bytes = info.release_lock_bytes
    func.is_front_end = front_end
    func.is_overloaded = info.num_overloads > 0
    if not info.described:
        return 0
    cdef int body_params = 0
    names = []
    targets = []
    defaults = []
    for i in range(info.num_params):
        hidden = (info.params[i].flags & kMXNetParamFrontEnd) != 0
        if hidden and not front_end:
            continue
        if hidden:
            func.front_end_mask |= <uint64_t>1 << len(names)
        if hidden and func.first_front_end > <Py_ssize_t>len(names):
            func.first_front_end = len(names)
        if info.params[i].flags & kMXNetParamVariadic:
            func.variadic = len(names)
        if info.params[i].flags & kMXNetParamKeywordOnly and func.keyword_only < 0:
            func.keyword_only = len(names)
        default = MXNetPass(make_borrowed(&info.params[i].default_value.value,
                                          info.params[i].default_value.type_code)) if hidden else None
        target = -1
        if not hidden:
            target = body_params
            body_params += 1
        if target >= 0 and info.params[i].role == kMXNetRoleArray:
            func.array_mask |= array_bits(target, info.params[i].flags)
        targets.append(target)
        names.append(sys.intern(info.params[i].name.decode()))
        defaults.append(default)
    if 0 <= func.keyword_only < func.first_front_end:
        # Calls with at least this number of positional arguments take the general way.
        func.first_front_end = func.keyword_only
    read_defaults(func, info)
    func.is_method = (info.flags & kMXNetFuncMethod) != 0
    func.names = tuple(names)
    func.targets = tuple(targets)
    func.defaults = tuple(defaults)
    return 0


cdef void read_defaults(FunctionBase func, const MXNetFuncInfo* info) noexcept:
    """Remembers the defaults if they are those of the last parameters, as they are in most cases."""
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t first = -1
    cdef size_t i
    for i in range(info.num_params):
        if info.params[i].flags & kMXNetParamFrontEnd:
            continue
        if info.params[i].flags & kMXNetParamVariadic:
            break
        if count >= STACK_ARGS:
            return
        if info.params[i].flags & kMXNetParamOptional:
            if first < 0:
                first = count
            func.fill_values[count] = info.params[i].default_value.value
            func.fill_codes[count] = info.params[i].default_value.type_code
        elif first >= 0:
            return
        count += 1
    if first >= 0:
        func.fill_from = first
        func.fill_to = count


cdef PyObject* wrap_function(void* handle) noexcept:
    """What stands for a function object, whose reference is used up: a Function, or a callable."""
    cdef PyObject* func = MXNetTakePeer(handle)
    if func != NULL:
        return func
    func = described(wrap_anew(<PyTypeObject*>Function, handle))
    return MXNetOfferPeer(func) if func != NULL else NULL


cdef PyObject* function_of(void* handle) noexcept:
    """The Function of a function object, also where that was made of a callable of Python's."""
    cdef PyObject* peer = MXNetFindPeer(<MXNetObject*>handle)
    if peer == NULL:
        return wrap_function(handle)
    if isinstance(<object>peer, Function):
        MXNetObjectFree(handle)
        return peer
    Py_DECREF_(peer)
    return described(wrap_anew(<PyTypeObject*>Function, handle))


cdef PyObject* described(PyObject* func) noexcept:
    """Fills in what calls need of a new Function, before others find it."""
    if func == NULL:
        return NULL
    try:
        read_info(<FunctionBase>func, False)
    except BaseException as error:
        Py_DECREF_(func)
        set_error(error)
        return NULL
    return func


cdef class StaticMethod:
    """A function as an attribute of a class, called without the instance: staticmethod, but faster.

    CPython 3.11 has a fast way to look up what `instance.function()` calls only where that is a
    method; to look up an attribute of the instance takes as long as the call. So this is a method,
    which drops the instance.
    """

    cdef vectorcall_t vectorcall
    cdef readonly FunctionBase function

    def __init__(self, FunctionBase function not None):
        self.vectorcall = call_static
        self.function = function

    def __get__(self, instance, owner):
        return self.function


cdef PyObject* call_static(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    """The vectorcall slot of StaticMethod, which is called with the instance before the arguments."""
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    if count == 0:
        set_exception(TypeError, "a static method is called by way of its class or an instance")
        return NULL
    return call_function(<PyObject*>(<StaticMethod>self).function, args + 1, count - 1, kwnames)


cdef enable_vectorcall():
    cdef FunctionBase probe = Function.__new__(Function)
    cdef Py_ssize_t offset = <char*>&probe.vectorcall - <char*><PyObject*>probe
    MXNetEnableVectorcall(<PyTypeObject*>FunctionBase, offset)
    MXNetEnableVectorcall(<PyTypeObject*>Function, offset)
    cdef StaticMethod method = StaticMethod.__new__(StaticMethod)
    offset = <char*>&method.vectorcall - <char*><PyObject*>method
    MXNetEnableVectorcall(<PyTypeObject*>StaticMethod, offset)


enable_vectorcall()
