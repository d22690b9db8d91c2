# cython: language_level=3, binding=False, wraparound=False
# cython: initializedcheck=False, annotation_typing=False
# cython: embedsignature=True, embedsignature.format=clinic
"""What a call of an optimized module does before its plan runs: it looks whether anything changed.

A module of fifty layers has some hundred tensors, of which each call has to know the versions. Here
they are read without an object of Python for a list, an attribute or a method. Nothing of torch is
imported: its descriptors and functions come as arguments.
"""

from cpython.dict cimport PyDict_GetItemWithError, PyDict_Size
from cpython.exc cimport PyErr_Occurred
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject, PyObject_GetAttr, PyObject_IsTrue
from libc.stdint cimport uint64_t

cdef extern from "Python.h":
    ctypedef PyObject* (*Getter "getter")(PyObject*, void*) noexcept
    ctypedef PyObject* (*Method "PyCFunction")(PyObject*, PyObject*) noexcept
    ctypedef struct PyGetSetDef:
        Getter get
        void* closure
    ctypedef struct PyGetSetDescrObject:
        PyGetSetDef* d_getset
    ctypedef struct PyMethodDef:
        Method ml_meth
    ctypedef struct PyMethodDescrObject:
        PyMethodDef* d_method
    void Py_DECREF_ "Py_DECREF"(PyObject* obj) noexcept
    unsigned long long PyLong_AsUnsignedLongLongMask(PyObject* number) noexcept
    bint PyDict_Check(object obj) noexcept

cdef str _TRAINING = "training"
cdef str _SHAPE = "shape"

# What keeps a plan from being used.
cdef enum:
    NOTHING
    HOOKS
    TRAINING
    CHANGED

cdef tuple _WORDS = ("", "hooks", "training", "changed")


cdef int take(PyObject* number, uint64_t* out) except -1:
    """An int of Python, whose reference is used up."""
    if number == NULL:
        return -1  # with what the getter has set
    out[0] = PyLong_AsUnsignedLongLongMask(number)
    Py_DECREF_(number)
    return -1 if PyErr_Occurred() != NULL else 0


cdef class Reader:
    """Reads the version and the address of tensors.

    `version` is the descriptor of the attribute, `address` that of the method without arguments,
    both of the class that all tensors derive from.
    """

    cdef object version, address, base

    def __init__(self, version, address):
        if type(version).__name__ != "getset_descriptor" or type(address).__name__ != "method_descriptor":
            raise TypeError(f"Reader: expected descriptors of C, got {version!r} and {address!r}")
        self.version, self.address = version, address
        self.base = (version.__objclass__, address.__objclass__)

    def check(self, tensors):
        """TypeError for what is no tensor."""
        for one in tensors:
            if not (isinstance(one, self.base[0]) and isinstance(one, self.base[1])):
                raise TypeError(f"expected a tensor, got {type(one).__name__}")

    cdef int version_of(self, object tensor, uint64_t* out) except -1:
        cdef PyGetSetDef* found = (<PyGetSetDescrObject*><PyObject*>self.version).d_getset
        return take(found.get(<PyObject*>tensor, found.closure), out)

    cdef int address_of(self, object tensor, uint64_t* out) except -1:
        cdef Method method = (<PyMethodDescrObject*><PyObject*>self.address).d_method.ml_meth
        return take(method(<PyObject*>tensor, NULL), out)


cdef class Watch:
    """What a module was when it was looked at, to compare with.

    `hooks` are dictionaries that have to be empty, `modules` may not be in training mode, and each
    of `locations`, a dictionary and a key in it, has to hold the object of `seen` at its position;
    None is for a key that is not there, too.
    `counted` are tensors that may not get another version, `weights` those that may not get another
    address, `contents` arrays of NumPy whose elements may not change, and `steps` a list whose first
    item may not.
    """

    cdef tuple hooks, modules, dicts, keys, seen, counted, weights, contents, values
    cdef list steps
    cdef object before
    cdef Reader reader
    cdef uint64_t* numbers  # versions, then addresses

    def __cinit__(self):
        self.numbers = NULL

    def __init__(self, Reader reader not None, *, hooks, modules, locations, seen, counted, weights, contents,
                 list steps not None):
        self.reader = reader
        self.hooks, self.modules, self.seen = tuple(hooks), tuple(modules), tuple(seen)
        self.dicts, self.keys = tuple([one for one, _ in locations]), tuple([key for _, key in locations])
        self.counted, self.weights = tuple(counted), tuple(weights)
        self.contents = tuple(contents)
        if len(self.seen) != len(self.dicts):
            raise ValueError(f"Watch: {len(self.dicts)} locations and {len(self.seen)} objects")
        for one in self.dicts:
            if not isinstance(one, dict):
                raise TypeError(f"Watch: locations: expected dictionaries, got {type(one).__name__}")
        reader.check(self.counted + self.weights)
        self.values = tuple([one.tobytes() for one in self.contents])
        self.steps, self.before = steps, steps[0]
        PyMem_Free(self.numbers)
        self.numbers = <uint64_t*>PyMem_Malloc((len(self.counted) + len(self.weights) + 1) * sizeof(uint64_t))
        if self.numbers == NULL:
            raise MemoryError()
        self.read(self.numbers, False)

    def __dealloc__(self):
        PyMem_Free(self.numbers)

    def check(self):
        """Why a plan may not be used, in a word: "hooks", "training", "changed", or ""."""
        return _WORDS[self.look()]

    cdef int look(self) except -1:
        cdef Py_ssize_t i
        cdef PyObject* found
        for one in self.hooks:
            if PyDict_Size(one) > 0 if PyDict_Check(one) else PyObject_IsTrue(one):
                return HOOKS
        for one in self.modules:
            training = PyObject_GetAttr(one, _TRAINING)
            if training is not False and PyObject_IsTrue(training):
                return TRAINING
        for i in range(len(self.dicts)):
            found = PyDict_GetItemWithError(self.dicts[i], self.keys[i])
            if found == NULL:
                found = <PyObject*>None
            if found != <PyObject*>self.seen[i]:
                return CHANGED
        if self.steps[0] != self.before or self.read(self.numbers, True):
            return CHANGED
        for i in range(len(self.contents)):
            if self.contents[i].tobytes() != self.values[i]:
                return CHANGED
        return NOTHING

    cdef int read(self, uint64_t* numbers, bint compare) except -1:
        """Writes versions and addresses to `numbers`, or tells whether any is another one."""
        cdef uint64_t number
        for one in self.counted:
            self.reader.version_of(one, &number)
            if compare and numbers[0] != number:
                return 1
            numbers[0] = number
            numbers += 1
        for one in self.weights:
            self.reader.address_of(one, &number)
            if compare and numbers[0] != number:
                return 1
            numbers[0] = number
            numbers += 1
        return 0


cdef class Quick:
    """The way of most calls: by a plan that is ready, where nothing has changed.

    `state` has a Watch as its attribute `watch`, another one after each look. `ready` has what
    executes arguments by the tuple of their shapes. `prevents` are functions that have to return
    false, `unless` is a dictionary, a key, and the object that has to be there, and `tensor` is the
    class of arguments.
    """

    cdef object state, tensor
    cdef tuple prevents
    cdef dict ready, where
    cdef object key, expected, not_ready

    def __init__(self, state, dict ready not None, prevents, unless, tensor, not_ready):
        self.state, self.ready, self.prevents = state, ready, tuple(prevents)
        self.where, self.key, self.expected = unless
        self.tensor, self.not_ready = tensor, not_ready

    def run(self, tuple args not None):
        """What the model gives for the arguments; `not_ready` where no plan may be used for them."""
        run = None
        for one in self.prevents:
            if one() is not False:
                return self.not_ready
        if PyDict_GetItemWithError(self.where, self.key) != <PyObject*>self.expected:
            return self.not_ready
        if (<Watch?>self.state.watch).look() != NOTHING:
            return self.not_ready
        for one in args:
            if type(one) is not self.tensor:
                return self.not_ready
        # A plan checks the shapes that it is given.
        if PyDict_Size(self.ready) == 1:
            for run in self.ready.values():
                break
        else:
            run = self.ready.get(tuple([PyObject_GetAttr(one, _SHAPE) for one in args]))
        if run is None:
            return self.not_ready
        try:
            return run(args)
        except (AttributeError, KeyError, TypeError, ValueError, BufferError):
            return self.not_ready
