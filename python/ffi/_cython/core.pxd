"""What mx._cython builds on: the types, and calls that skip the interpreter."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t, int32_t, uint32_t, uint8_t, uint16_t


include "c_api.pxi"

cdef extern from "small_int.h":
    int MXNetSmallInt(PyObject* obj, int64_t* out) noexcept


ctypedef PyObject* (*vectorcall_t)(PyObject*, PyObject**, size_t, PyObject*) noexcept


cdef class ObjectBase:
    cdef void* chandle
    cdef object __weakref__


cdef class FunctionBase(ObjectBase):
    cdef vectorcall_t vectorcall
    # Names of the visible parameters, interned; None where the function is not described.
    cdef tuple names
    # For each visible parameter its index among the body's, -1 where the front end keeps it.
    cdef tuple targets
    # Defaults of the visible parameters, for those that only the front end sees.
    cdef tuple defaults
    cdef Py_ssize_t first_front_end
    cdef uint64_t front_end_mask
    # Bits of the body's parameters that take arrays.
    cdef uint64_t array_mask
    cdef Py_ssize_t variadic
    # The first of the visible parameters that is taken by name only, -1 where there is none.
    cdef Py_ssize_t keyword_only
    # Whether arguments by name go to C++ as such, for it to choose the overload.
    cdef bint is_overloaded
    cdef bint is_front_end
    # Whether messages leave the first parameter, the object, out of the arguments that they count.
    cdef bint is_method
    # Whether calls wait for others that read or change their first argument.
    cdef bint is_exclusive
    cdef int64_t release_bytes
    # Calls with fill_from to fill_to arguments are completed from the defaults at once; the
    # runtime would do it too, but would have to copy the arguments that are there.
    cdef Py_ssize_t fill_from
    cdef Py_ssize_t fill_to
    cdef MXNetValue fill_values[12]
    cdef int fill_codes[12]
    # The class of arrays among the results, and what makes one of an NDArray; None for no change.
    cdef object returned
    cdef object array_maker
    cdef void* exchange
    cdef str name_
    cdef FunctionBase again(self, bint front_end)


cdef class Function(FunctionBase):
    cdef dict attributes
    cdef get_attribute(self, key)
    cdef set_attribute(self, key, value)


cdef class NDArray(ObjectBase):
    # As MXNetArrayWrapper of python_compat.h has it: what keeps the memory of a view that does not do so itself; NULL
    # for other arrays.
    cdef PyObject* memory_owner


cdef class Field:
    cdef MXNetFieldGetter getter
    cdef MXNetFieldSetter setter
    cdef void* resource
    # "demo.Counter.value"
    cdef str where
    cdef str type_
    cdef str doc


cdef class Context:
    cdef DLDevice device


cdef PyObject* call_function(PyObject* self, PyObject** args, size_t nargsf,
                             PyObject* kwnames) noexcept
cdef bint is_operand_type(PyObject* obj)
cdef PyObject* wrap_array(void* handle) noexcept
cdef PyObject* wrap_view(PyObject* array, void* data, const int64_t* shape, const int64_t* strides, int ndim, DLDataType dtype) noexcept
