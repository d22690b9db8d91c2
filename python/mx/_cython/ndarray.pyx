# cython: language_level=3, binding=False, wraparound=False
# cython: initializedcheck=False, cdivision=True, annotation_typing=False
# cython: embedsignature=True, embedsignature.format=clinic
"""The array class of the fast path.

Python fills the slots of an extension type only from methods written in it, so the operators are
spelled out here. What each of them calls, and every other member, comes from the tables of
mx.ndarray, which the class of the ctypes path is made from as well.
"""

cimport cython
import numpy
from types import GetSetDescriptorType

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport INT64_MAX, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset
from ffi._cython.core cimport (
    DLDataType, DLTensor, FunctionBase, MXNetCallObservers, MXNetNDArrayCreate, MXNetNDArrayHandle,
    MXNetNDArrayObject, MXNetSmallInt, NDArray, call_function, is_operand_type, kDLBool,
    kDLComplex, kDLCPU, kDLFloat, kDLInt, kDLUInt, kMXNetNDArrayReadOnly, vectorcall_t, wrap_array, wrap_view,
)

from mx import _dtypes, _registry
from mx.ndarray import _conversion, _indexing, _install, _methods, _operators, _representation

cdef extern from "Python.h":
    PyTypeObject* Py_TYPE(PyObject* obj) noexcept
    PyTypeObject PyFloat_Type
    PyTypeObject PyList_Type
    PyTypeObject PyLong_Type
    PyTypeObject PySlice_Type
    PyTypeObject PyTuple_Type
    PyObject* Py_None
    PyObject* Py_Ellipsis
    Py_ssize_t PyTuple_GET_SIZE(PyObject* obj) noexcept
    Py_ssize_t PyVectorcall_NARGS(size_t nargsf) noexcept
    double PyFloat_AS_DOUBLE(PyObject* number) noexcept
    object PyComplex_FromDoubles(double real, double imag)
    list PyList_New(Py_ssize_t size)
    void PyList_SET_ITEM(object made, Py_ssize_t i, PyObject* item) noexcept
    PyObject* PyFloat_FromDouble(double value) noexcept
    PyObject* PyLong_FromLongLong(long long value) noexcept
    char* PyBytes_AS_STRING(object made) noexcept
    int PyBUF_WRITE
    object PyMemoryView_FromMemory(char* memory, Py_ssize_t size, int flags)
    object PyBytes_FromStringAndSize(const char* data, Py_ssize_t size)
    ctypedef struct PySliceObject:
        PyObject* start
        PyObject* stop
        PyObject* step
    long long PyLong_AsLongLongAndOverflow(PyObject* obj, int* overflow) noexcept
    int Py_LT
    int Py_LE
    int Py_EQ
    int Py_NE
    int Py_GT
    int Py_GE

cdef extern from *:
    """
    /* Lets Cython see a result of plain C as a new reference, NULL as an exception. */
    static inline PyObject* MXNetPass(PyObject* obj) { return obj; }
    static inline PyObject** MXNetItemsOf(PyObject* tuple) { return ((PyTupleObject*)tuple)->ob_item; }
    /* The module of an extension type is the part of its name before the last dot. */
    static inline void MXNetSetTypeName(PyObject* type, const char* name) {
      ((PyTypeObject*)type)->tp_name = name;
    }
    /* An extension type has no setattr; its dictionary takes what is no slot. */
    static inline int MXNetSetMember(PyObject* type, PyObject* name, PyObject* value) {
      if (PyDict_SetItem(((PyTypeObject*)type)->tp_dict, name, value) != 0) return -1;
      PyType_Modified((PyTypeObject*)type);
      return 0;
    }
    /* The same property for a class that derives from its own, which Python then need not look up. */
    static inline PyObject* MXNetOwnProperty(PyObject* type, PyObject* property) {
      return PyDescr_NewGetSet((PyTypeObject*)type, ((PyGetSetDescrObject*)property)->d_getset);
    }
    """
    object MXNetPass(PyObject* obj)
    PyObject* Py_NewRef(object obj) noexcept
    PyObject* PyErr_Occurred() noexcept
    PyObject** PyTuple_ITEMS "MXNetItemsOf"(PyObject* obj) noexcept
    void MXNetSetTypeName(object cls, const char* name) noexcept
    int MXNetSetMember(object cls, object name, object value) except -1
    object MXNetOwnProperty(object cls, object property)

# The functions behind the operators, which live as long as the module.
cdef object function_of(str special):
    return _operators.front_end((_operators.ARITHMETIC | _operators.COMPARISONS | _operators.UNARY)[special])

cdef object add = function_of("add")
cdef object subtract = function_of("sub")
cdef object multiply = function_of("mul")
cdef object divide = function_of("truediv")
cdef object floor_divide = function_of("floordiv")
cdef object remainder = function_of("mod")
cdef object power = function_of("pow")
cdef object square = _operators._square
# Python has one object for each small int.
cdef object two = 2
cdef object matmul = function_of("matmul")
cdef object bitwise_and = function_of("and")
cdef object bitwise_or = function_of("or")
cdef object bitwise_xor = function_of("xor")
cdef object left_shift = function_of("lshift")
cdef object right_shift = function_of("rshift")
cdef object negative = function_of("__neg__")
cdef object positive = function_of("__pos__")
cdef object absolute = function_of("__abs__")
cdef object invert = function_of("__invert__")
cdef object imaginary = _methods._imag
cdef object sort_in_place = _methods._sort_in_place
cdef object squeeze = _methods.METHODS["squeeze"]
cdef object get_item = _indexing._getitem
cdef object set_item = _indexing._setitem
# The key of all elements.
cdef tuple whole = encode_items((...,))
cdef list comparisons = [None] * 6
comparisons[Py_LT] = function_of("__lt__")
comparisons[Py_LE] = function_of("__le__")
comparisons[Py_EQ] = function_of("__eq__")
comparisons[Py_NE] = function_of("__ne__")
comparisons[Py_GT] = function_of("__gt__")
comparisons[Py_GE] = function_of("__ge__")


# A borrowed reference: the module keeps the class alive.
cdef PyTypeObject* numpy_array = <PyTypeObject*><PyObject*>numpy.ndarray


cdef inline bint is_operand(object other) except -1:
    """What _operators.is_operand gives, without Python code for the commonest classes."""
    cdef PyTypeObject* kind = Py_TYPE(<PyObject*>other)
    if kind == <PyTypeObject*>ndarray or kind == &PyFloat_Type or kind == &PyLong_Type or kind == numpy_array:
        return True
    return is_operand_type(<PyObject*>other) and _operators.is_plain(other)


cdef inline object call(object function, PyObject** args, size_t count):
    return MXNetPass(call_function(<PyObject*>function, args, count, NULL))


cdef inline object unary(object function, object self):
    cdef PyObject* args[1]
    args[0] = <PyObject*>self
    return call(function, args, 1)


cdef inline object binary(object function, object left, object right, object other):
    """function(left, right). other is the operand that may be of any type; NotImplemented if it is no operand."""
    cdef PyObject* args[2]
    if not is_operand(other):
        return NotImplemented
    args[0] = <PyObject*>left
    args[1] = <PyObject*>right
    return call(function, args, 2)


cdef inline object in_place(object function, object self, object other):
    """function(self, other, out=self), whose result is self."""
    cdef PyObject* args[3]
    if not is_operand(other):
        return NotImplemented
    args[0] = <PyObject*>self
    args[1] = <PyObject*>other
    args[2] = <PyObject*>self
    call(function, args, 3)
    return self


include "keys.pxi"
include "numbers.pxi"
include "views.pxi"
include "quick_views.pxi"

cdef extern from *:
    """
    /* Kept out of the slot, so that it saves no registers. */
    [[gnu::noinline, gnu::cold]] static Py_ssize_t MXNetOtherLength(PyObject*);
    """

cdef Py_ssize_t other_length "MXNetOtherLength"(object array) except -1:
    """The length of what is no array of the CPU with axes, or its error."""
    return _indexing.length(array)

cdef inline bint is_read_by_numpy(NDArray self) noexcept:
    """Whether NumPy reads the elements of an array of cpu(0) itself."""
    cdef const DLTensor* tensor = host_tensor(self)
    return (tensor != NULL and tensor.device.device_id == 0 and tensor.dtype.code in (kDLInt, kDLUInt, kDLFloat)
            and tensor.dtype.bits in (8, 16, 32, 64))


# NumPy's dtypes that arrays were asked for, by bits and type code; only types of one lane.
cdef PyObject* dtypes[256 * 8]


cdef inline PyObject** kept_dtype(const DLDataType* dtype) noexcept:
    """Where that is kept; NULL for types that are not."""
    return &dtypes[dtype.bits * 8 + dtype.code] if dtype.lanes == 1 and dtype.code < 8 else NULL


cdef object find_dtype(NDArray self):
    """The dtype of an array, which is kept for others of the type."""
    cdef PyObject** kept
    found = _dtypes.as_numpy(NDArray.dtype.__get__(self))
    kept = kept_dtype(&(<MXNetNDArrayObject*>self.chandle).tensor.dtype)
    if kept != NULL and kept[0] == NULL:
        Py_INCREF(found)
        kept[0] = <PyObject*>found
    return found


# Behind a pointer, so that it is not made a part of the property, which then has no registers to keep.
cdef object (*find_new_dtype)(NDArray self)
find_new_dtype = find_dtype


cdef class ndarray(NDArray):
    """An array of numbers of one type, over memory that views of it share."""

    def __init__(self, *args, **kwargs):
        raise TypeError(_conversion.MADE_BY)

    @property
    def dtype(self):
        """The element type. ImportError for bfloat16 without ml_dtypes."""
        cdef PyObject** kept
        if self.chandle != NULL:
            kept = kept_dtype(&(<MXNetNDArrayObject*>self.chandle).tensor.dtype)
            if kept != NULL and kept[0] != NULL:
                return <object>kept[0]
        return find_new_dtype(self)

    @property
    def T(self):
        """View with the axes reversed."""
        cdef PyObject* view = reversed_axes(self)
        return _methods.transposed(self) if is_not_made(view) else MXNetPass(view)

    @property
    def mT(self):
        """View with the last two axes exchanged. ValueError for fewer than two."""
        cdef PyObject* view = swapped_axes(self, -1, -2)
        return _methods.matrix_transposed(self) if is_not_made(view) else MXNetPass(view)

    def transpose(self, *axes):
        """A view with the axes permuted, given as one tuple or as integers; reversed without them."""
        cdef PyObject* view = NULL
        if call_observers[0] == 0:
            if not axes:
                view = reversed_axes(self)
            else:
                view = permuted_axes(self, PyTuple_ITEMS(<PyObject*>axes), len(axes))
        return _methods.transpose(self, *axes) if is_not_made(view) else MXNetPass(view)

    def reshape(self, *shape, order="C"):
        """The elements in another shape, given as one tuple or as integers; a view where possible."""
        cdef PyObject* view = NULL
        items = shape
        if call_observers[0] == 0 and order == "C":
            if len(shape) == 1 and type(shape[0]) is tuple:
                items = shape[0]
            view = in_shape(self, PyTuple_ITEMS(<PyObject*>items), PyTuple_GET_SIZE(<PyObject*>items))
        return _methods.reshape(self, *shape, order=order) if is_not_made(view) else MXNetPass(view)

    def squeeze(self, axis=None):
        """A view without axes of one element, of all or of those given; ValueError where one has more."""
        cdef PyObject* view = squeezed(self) if axis is None and call_observers[0] == 0 else NULL
        return squeeze(self, axis) if is_not_made(view) else MXNetPass(view)

    @property
    def real(self):
        """The real parts: a view of complex elements, else the array itself."""
        if self.chandle != NULL and (<MXNetNDArrayObject*>self.chandle).tensor.dtype.code in (kDLFloat, kDLInt, kDLUInt):
            return self
        return _methods.real(self)

    @real.setter
    def real(self, value): _methods.set_real(self, value)

    @property
    def imag(self):
        """The imaginary parts: a view of complex elements, else zeros."""
        return unary(imaginary, self)

    @imag.setter
    def imag(self, value): _methods.set_imag(self, value)

    def __add__(self, other): return binary(add, self, other, other)

    def __radd__(self, other):
        # NotImplemented would let bytes append the array's memory, through the buffer protocol.
        if isinstance(other, (bytes, bytearray)):
            raise TypeError(f"unsupported operand type(s) for +: '{type(other).__name__}' and 'ndarray'")
        return binary(add, other, self, other)

    def __iadd__(self, other): return in_place(add, self, other)
    def __sub__(self, other): return binary(subtract, self, other, other)
    def __rsub__(self, other): return binary(subtract, other, self, other)
    def __isub__(self, other): return in_place(subtract, self, other)
    def __mul__(self, other): return binary(multiply, self, other, other)
    def __rmul__(self, other): return binary(multiply, other, self, other)
    def __imul__(self, other): return in_place(multiply, self, other)
    def __truediv__(self, other): return binary(divide, self, other, other)
    def __rtruediv__(self, other): return binary(divide, other, self, other)
    def __itruediv__(self, other): return in_place(divide, self, other)
    def __floordiv__(self, other): return binary(floor_divide, self, other, other)
    def __rfloordiv__(self, other): return binary(floor_divide, other, self, other)
    def __ifloordiv__(self, other): return in_place(floor_divide, self, other)
    def __mod__(self, other): return binary(remainder, self, other, other)
    def __rmod__(self, other): return binary(remainder, other, self, other)
    def __imod__(self, other): return in_place(remainder, self, other)
    def __matmul__(self, other): return binary(matmul, self, other, other)
    def __rmatmul__(self, other): return binary(matmul, other, self, other)
    def __imatmul__(self, other): return in_place(matmul, self, other)
    def __and__(self, other): return binary(bitwise_and, self, other, other)
    def __rand__(self, other): return binary(bitwise_and, other, self, other)
    def __iand__(self, other): return in_place(bitwise_and, self, other)
    def __or__(self, other): return binary(bitwise_or, self, other, other)
    def __ror__(self, other): return binary(bitwise_or, other, self, other)
    def __ior__(self, other): return in_place(bitwise_or, self, other)
    def __xor__(self, other): return binary(bitwise_xor, self, other, other)
    def __rxor__(self, other): return binary(bitwise_xor, other, self, other)
    def __ixor__(self, other): return in_place(bitwise_xor, self, other)
    def __lshift__(self, other): return binary(left_shift, self, other, other)
    def __rlshift__(self, other): return binary(left_shift, other, self, other)
    def __ilshift__(self, other): return in_place(left_shift, self, other)
    def __rshift__(self, other): return binary(right_shift, self, other, other)
    def __rrshift__(self, other): return binary(right_shift, other, self, other)
    def __irshift__(self, other): return in_place(right_shift, self, other)

    def __pow__(self, other, modulus):
        if other is two and modulus is None:
            return unary(square, self)
        return NotImplemented if modulus is not None else binary(power, self, other, other)

    def __rpow__(self, other, modulus):
        return NotImplemented if modulus is not None else binary(power, other, self, other)

    def __ipow__(self, other): return in_place(power, self, other)
    def __divmod__(self, other): return _operators.division(self, other)
    def __rdivmod__(self, other): return _operators.reflected_division(self, other)
    def __neg__(self): return unary(negative, self)
    def __pos__(self): return unary(positive, self)
    def __abs__(self): return unary(absolute, self)
    def __invert__(self): return unary(invert, self)
    def __richcmp__(self, other, int op): return binary(comparisons[op], self, other, other)
    __hash__ = None

    def __getitem__(self, key): return fetch(self, key)
    def __setitem__(self, key, value):
        if store_number(self, key, value):
            return
        if <PyObject*>key == Py_Ellipsis and (store_array(self, value) or fill_few(self, value)):
            return
        set_item(self, encode_key(key), value)

    def fill(self, value, /):
        """Sets every element to value."""
        if not fill_few(self, value):
            set_item(self, whole, value)

    def sort(self, axis=-1, kind=None):
        """Sorts the elements along an axis, in place; the sort is stable, NaN comes last."""
        cdef PyObject* args[2]
        cdef int overflow = 0
        cdef long long number
        if kind is None and type(axis) is int:
            number = PyLong_AsLongLongAndOverflow(<PyObject*>axis, &overflow)
            if overflow == 0 and -64 <= number < 64:
                args[0] = <PyObject*>self
                args[1] = <PyObject*>axis
                if call(sort_in_place, args, 2):
                    return
        _methods.sort(self, axis, kind)

    def __delitem__(self, key): _indexing.delitem(self, key)
    def __len__(self):
        if self.chandle == NULL or (<MXNetNDArrayObject*>self.chandle).tensor.ndim == 0:
            return other_length(self)
        return (<MXNetNDArrayObject*>self.chandle).tensor.shape[0]

    def __iter__(self):
        if self.chandle == NULL or (<MXNetNDArrayObject*>self.chandle).tensor.ndim == 0:
            return _indexing.iterate(self)
        return RowIterator(self)

    def __contains__(self, value): return _indexing.contains(self, value)
    def __bool__(self):
        number = only_number(self, False)
        return _conversion.truth(self) if number is None else bool(number)

    def __int__(self):
        number = only_number(self, True)
        return _conversion.integer(self) if number is None else int(number)

    def __float__(self):
        number = only_number(self, True)
        return _conversion.real_number(self) if number is None else float(number)

    def item(self, *args):
        """One element as a Python number: the only one, or that at an index."""
        number = None
        if not args:
            number = only_number(self, False)
        elif len(args) == 1 and type(args[0]) is int:
            number = number_of(self, args[0])
        return _conversion.item(self, *args) if number is None else number

    def tolist(self):
        """The elements as nested lists of Python numbers; a number for an array without axes."""
        cdef const DLTensor* tensor = host_tensor(self)
        if tensor == NULL or tensor.ndim == 0 or not has_numbers(tensor.dtype):
            return _conversion.tolist(self)
        return list_of(tensor, <const char*>tensor.data + tensor.byte_offset, 0)

    def tobytes(self, order="C"):
        """The bytes of the elements in row-major order, or another order as numpy.ndarray.tobytes."""
        cdef const DLTensor* tensor = host_tensor(self)
        if tensor == NULL or tensor.ndim != 1 or order != "C" or not has_numbers(tensor.dtype):
            return _conversion.tobytes(self, order)
        cdef int64_t item = tensor.dtype.bits // 8
        cdef int64_t n = tensor.shape[0]
        cdef const char* data = <const char*>tensor.data + tensor.byte_offset
        if n <= 1 or tensor.strides[0] == 1:
            return PyBytes_FromStringAndSize(data, n * item)
        made = PyBytes_FromStringAndSize(NULL, n * item)
        if n > FEW_ELEMENTS:
            memory = PyMemoryView_FromMemory(PyBytes_AS_STRING(made), n * item, PyBUF_WRITE)
            set_item(numpy.frombuffer(memory, self.dtype), whole, self)
            return made
        copy_strided(PyBytes_AS_STRING(made), data, tensor.strides[0] * item, item, n)
        return made

    def __round__(self, ndigits=None):
        """round(self, ndigits) as a Python number, for an array without axes."""
        number = only_number(self, True)
        return _conversion.rounded(self, ndigits) if number is None else round(number, ndigits)

    def conjugate(self):
        """The complex conjugates; of other elements the array itself."""
        if self.chandle != NULL and (<MXNetNDArrayObject*>self.chandle).tensor.dtype.code != kDLComplex:
            return self
        return _methods.conjugate(self)

    conj = conjugate

    def __index__(self):
        number = only_number(self, True)
        return number if type(number) is int else _conversion.index(self)

    def __repr__(self):
        if is_read_by_numpy(self) and elements_of(host_tensor(self)) != 0:
            return _representation.with_type(numpy.asarray(self))
        return _representation.SPECIAL["__repr__"](self)

    def __str__(self):
        return str(numpy.asarray(self)) if is_read_by_numpy(self) else _representation.SPECIAL["__str__"](self)


MXNetSetTypeName(ndarray, "mx.np.ndarray")
MXNetSetMember(ndarray, "__complex__", ComplexMethod())
for name, member in vars(NDArray).items():
    if type(member) is GetSetDescriptorType and name not in vars(ndarray):
        MXNetSetMember(ndarray, name, MXNetOwnProperty(ndarray, member))
# The type's dictionary now has the names of all methods above, which are not to be replaced.
_install.install(ndarray, native=frozenset(vars(ndarray)), setattr=MXNetSetMember)
