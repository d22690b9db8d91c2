# cython: language_level=3, binding=False, wraparound=False
# cython: initializedcheck=False, annotation_typing=False
# cython: embedsignature=True, embedsignature.format=clinic
"""What a run of a plan does in Python before its steps: it finds the inputs and looks what they are.

In Python that takes longer than small plans themselves. `mx.graph._portable` says the same in Python.
"""

from cpython.dict cimport PyDict_GetItemWithError, PyDict_Size
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF


cdef class Attempt:
    """Calls a function of arrays until it is ended: from then on None comes of it.

    Of a call that raises one of `failures` comes what `instead` gives for the arrays and that.
    """

    cdef object call, instead
    cdef tuple failures
    cdef object __weakref__

    def __init__(self, call, instead, tuple failures not None):
        self.call, self.instead, self.failures = call, instead, failures

    def __call__(self, arrays):
        return self.outputs(arrays)

    def end(self):
        """Has calls that begin from now on give None."""
        self.call = None

    cdef object outputs(self, object arrays):
        call = self.call  # which another thread may end
        if call is None:
            return None
        try:
            return call(arrays)
        except self.failures as failure:
            return self.instead(arrays, failure)


cdef class Latest:
    """What has executed the inputs that came last, which says itself whether it takes others.

    `names` are those of the inputs, and `array` and `other` the classes of arrays; those of `other`
    have to have one of `dtypes`.
    """

    cdef tuple names
    cdef object array, other, dtypes
    cdef public object run

    def __init__(self, tuple names not None, array, other, dtypes):
        self.names, self.array, self.other, self.dtypes = names, array, other, dtypes
        self.run = None

    def by_name(self, inputs):
        """The outputs in a list, for inputs by name; None where they are not such as came last."""
        cdef Py_ssize_t count = len(self.names)
        cdef Py_ssize_t i
        cdef PyObject* found
        cdef list arrays
        if self.run is None or type(inputs) is not dict or PyDict_Size(inputs) != count:
            return None
        arrays = PyList_New(count)
        for i in range(count):
            found = PyDict_GetItemWithError(inputs, self.names[i])
            if found == NULL or not self.takes(<object>found):
                return None  # a list that is not filled may go as it is
            Py_INCREF(<object>found)
            PyList_SET_ITEM(arrays, i, <object>found)
        return self.called(arrays)

    def in_order(self, tuple arrays not None):
        """The same for inputs in order."""
        if self.run is None or len(arrays) != len(self.names):
            return None
        for one in arrays:
            if not self.takes(one):
                return None
        return self.called(arrays)

    cdef bint takes(self, object one) except -1:
        if type(one) is self.array:
            return True
        return type(one) is self.other and one.dtype in self.dtypes

    cdef object called(self, arrays):
        run = self.run  # which another thread may change
        if type(run) is Attempt:
            outputs = (<Attempt>run).outputs(arrays)
        else:
            outputs = run(arrays)
        return None if outputs is None else list(outputs)
