# cython: embedsignature=True, embedsignature.format=clinic
# cython: language_level=3, binding=False, wraparound=False
# cython: initializedcheck=False, cdivision=True, annotation_typing=False
"""The fast path of the function boundary.

This file only fixes the order in which the parts are read; each part may use those above it.

No part has a comprehension: where a list cannot grow for lack of memory, Cython 3.3 releases the
element twice, which frees an object in use. Bounds stay checked: indexing of pointers has no check
anyway, and other sequences may come from anywhere.
"""

include "capi.pxi"        # declarations of the runtime's C interface and of CPython's
include "interpreter.pxi"  # rejects subinterpreters
include "object.pxi"      # ObjectBase, and the Python class of each object type
include "context.pxi"     # Context
include "frame.pxi"       # memory that the arguments of one call borrow from
include "dtype.pxi"       # element types, from and to Python
include "argument.pxi"    # a Python value becomes a tagged value: the common types
include "tensor.pxi"      # ... arrays of other libraries
include "argument_slow.pxi"  # ... everything else, by one cached look-up of its type
include "error.pxi"       # failures, from and to Python
include "result.pxi"      # a tagged value becomes a Python value
include "call.pxi"        # the call itself: positional, keyword and front-end form
include "function.pxi"    # Function
include "callback.pxi"    # a Python callable becomes a function
include "ndarray.pxi"     # NDArray
include "registry.pxi"    # the global registry
include "classes.pxi"     # classes that C++ registers
include "containers.pxi"  # what sequences and mappings read
