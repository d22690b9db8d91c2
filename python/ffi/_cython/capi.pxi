from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_DECREF, Py_XDECREF
from libc.stdint cimport int64_t, uint64_t, int32_t, uint32_t, uint8_t, uint16_t, INT64_MAX, INT64_MIN, UINT64_MAX
from libc.stdlib cimport malloc, free, strtoull
from libc.string cimport strcmp, strlen

cdef extern from "<mxnet/runtime/tensor_check.h>" namespace "mxnet::runtime":
    bint IsPlainTensor(const DLTensor& tensor) noexcept
    bint IsSoundTensor(const DLTensor& tensor) noexcept

cdef extern from "python_compat.h":
    void MXNetSetNothingSaid() noexcept
    int MXNetCheckTensor(const DLTensor* tensor, const char* name) noexcept
    PyObject* MXNetNewCode(const char* file, const char* function, int line) noexcept
    int MXNetSmallInts(PyObject** items, Py_ssize_t size, int64_t* out) noexcept
    const char* MXNetUtf8(PyObject* obj, size_t* size) noexcept
    int MXNetIsHeapType(PyTypeObject* cls) noexcept
    int MXNetHasBuffer(PyTypeObject* cls) noexcept
    void MXNetEnableVectorcall(PyTypeObject* type, Py_ssize_t offset) noexcept
    int MXNetAddTraceback(PyObject* code, PyObject* globals) noexcept
    ctypedef int (*MXNetCallbackBody)(void*, const MXNetValue*, const int*, int, MXNetValue*,
                                      int*) noexcept
    PyObject* MXNetVectorcall(PyObject* callable, PyObject** args, size_t nargsf) noexcept
    void MXNetSetCallback(MXNetCallbackBody body) noexcept
    void MXNetCloseEntrance() noexcept nogil
    int MXNetEnterPython(void* resource, const MXNetValue* values, const int* codes, int count,
                         MXNetValue* ret, int* ret_code) noexcept nogil
    PyObject* MXNetNewText(const char* data, size_t size) noexcept
    PyObject* MXNetFindText(PyObject** values, Py_ssize_t count, const char* data, size_t size) noexcept
    int MXNetNewString(const char* data, size_t size, void** out) noexcept
    object MXNetPass(PyObject* obj)
    void MXNetSetArrayType(PyTypeObject* type) noexcept
    PyObject* MXNetNewArray(PyTypeObject* type, void* handle) noexcept
    PyObject* MXNetNewView(PyTypeObject* type, PyObject* array, void* data, const int64_t* shape, const int64_t* strides, int ndim, DLDataType dtype) noexcept
    PyObject* MXNetFindPeer(MXNetObject* object) noexcept
    PyObject* MXNetTakePeer(void* handle) noexcept
    void MXNetSetPeer(void* handle, PyObject* wrapper) noexcept
    PyObject* MXNetOfferPeer(PyObject* wrapper) noexcept
    void MXNetDropHandle(void* handle, PyObject* wrapper) noexcept
    int64_t MXNetFindEntry(void* map, const MXNetAny* key) noexcept
    PyObject* MXNetNativeNew(PyTypeObject* type, PyObject* args) noexcept
    void MXNetReleasePython(void* value) noexcept nogil
    const MXNetOwnerFunctions MXNetPythonOwnerFunctions
    void* MXNetNewOpaque(PyObject* value) noexcept

    ctypedef struct MXNetDLPackExchange:
        DLPackVersion version
        int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned* tensor, void** out) noexcept
        int (*dltensor_from_py_object_no_sync)(void* py_object, DLTensor* out) noexcept

cdef extern from "free_threading.h":
    enum:
        kMXNetFreeThreaded
    # A PyTypeObject* that may be set while others read it.
    ctypedef PyTypeObject* SharedType "MXNetShared<PyTypeObject*>"
    ctypedef struct MXNetSection:
        pass
    void MXNetBeginSection(MXNetSection* section, PyObject* obj) noexcept
    void MXNetEndSection(MXNetSection* section) noexcept
    void MXNetAllowFinding(PyObject* obj) noexcept
    void MXNetLockTables() noexcept
    void MXNetUnlockTables() noexcept
    object MXNetDictGet(object dict, object key)

cdef extern from "type_cache.h":
    enum:
        kMXNetTypeCacheSize
    ctypedef unsigned long long MXNetTypeStamp
    ctypedef struct MXNetHandlerEntry:
        PyTypeObject* cls
        void* extra
        int handler
        # 0 where the interpreter gave the type no version.
        MXNetTypeStamp stamp
    ctypedef struct MXNetDTypeEntry:
        PyObject* cls
        MXNetTypeStamp stamp
        DLDataType dtype
    MXNetHandlerEntry* MXNetHandlers
    MXNetDTypeEntry* MXNetDTypes
    MXNetTypeStamp MXNetStampOf(PyTypeObject* cls) noexcept
    int MXNetIsOfClass(MXNetDTypeEntry* entry, PyObject* cls) noexcept
    void MXNetKeepType(PyObject* cls) noexcept
    void MXNetUnkeepType(PyObject* cls) noexcept
    void MXNetForgetHandlers() noexcept

cdef extern from "numpy_compat.h":
    enum:
        kMXNetNumpyOk
        kMXNetNumpyForeign
        kMXNetNumpySwapped
        kMXNetNumpyStrides
    int MXNetNumpyDType(PyObject* descr, DLDataType* out) noexcept
    PyObject* MXNetNumpyDescr(PyObject* array) noexcept
    int MXNetNumpyNdim(PyObject* array) noexcept
    int MXNetNumpyReadOnly(PyObject* array) noexcept
    int MXNetNumpyTensor(PyObject* obj, DLDataType dtype, int64_t* dims, DLTensor* out) noexcept

cdef extern from "Python.h":
    PyTypeObject PyLong_Type
    PyTypeObject PyUnicode_Type
    PyTypeObject PyTuple_Type
    PyTypeObject PyList_Type
    PyTypeObject PyDict_Type
    PyTypeObject PyFloat_Type
    PyTypeObject PyBool_Type
    PyTypeObject PyBytes_Type
    PyTypeObject PyType_Type
    PyObject* Py_None
    PyObject* Py_True
    PyObject* Py_False
    PyTypeObject* Py_TYPE(PyObject* obj) noexcept
    void Py_INCREF_ "Py_INCREF"(PyObject* obj) noexcept
    void Py_DECREF_ "Py_DECREF"(PyObject* obj) noexcept
    void Py_XINCREF_ "Py_XINCREF"(PyObject* obj) noexcept
    void Py_XDECREF_ "Py_XDECREF"(PyObject* obj) noexcept
    long long PyLong_AsLongLongAndOverflow(PyObject* obj, int* overflow) noexcept
    unsigned long long PyLong_AsUnsignedLongLong(PyObject* obj) noexcept
    PyObject* PyLong_FromLongLong(long long value) noexcept
    PyObject* PyLong_FromUnsignedLongLong(unsigned long long value) noexcept
    PyObject* PyLong_FromVoidPtr(void* p) noexcept
    double PyFloat_AS_DOUBLE(PyObject* obj) noexcept
    PyObject* PyFloat_FromDouble(double value) noexcept
    PyObject* PyComplex_FromDoubles(double real, double imag) noexcept
    PyObject* PyUnicode_DecodeUTF8(const char* data, Py_ssize_t size, const char* errors) noexcept
    PyObject* PyBytes_FromStringAndSize(const char* data, Py_ssize_t size) noexcept
    char* PyBytes_AS_STRING(PyObject* obj) noexcept
    Py_ssize_t PyBytes_GET_SIZE(PyObject* obj) noexcept
    Py_ssize_t PyTuple_GET_SIZE(PyObject* obj) noexcept
    PyObject* PyTuple_GET_ITEM(PyObject* obj, Py_ssize_t i) noexcept
    Py_ssize_t PySequence_Fast_GET_SIZE(PyObject* obj) noexcept
    PyObject** PySequence_Fast_ITEMS(PyObject* obj) noexcept
    PyObject* PyTuple_New(Py_ssize_t size) noexcept
    void PyTuple_SET_ITEM(PyObject* obj, Py_ssize_t i, PyObject* item) noexcept
    Py_ssize_t PyList_GET_SIZE(PyObject* obj) noexcept
    PyObject* PyList_GET_ITEM(PyObject* obj, Py_ssize_t i) noexcept
    PyObject* PyList_AsTuple(PyObject* obj) noexcept
    PyObject* PyDict_Copy(PyObject* obj) noexcept
    PyObject* PyList_New(Py_ssize_t size) noexcept
    void PyList_SET_ITEM(PyObject* obj, Py_ssize_t i, PyObject* item) noexcept
    PyObject* PyDict_New() noexcept
    int PyDict_Next(PyObject* dict, Py_ssize_t* pos, PyObject** key, PyObject** value) noexcept
    Py_ssize_t PyDict_Size(PyObject* dict) noexcept
    int PyDict_SetItem(PyObject* dict, PyObject* key, PyObject* value) noexcept
    PyObject* PyObject_Vectorcall(PyObject* callable, PyObject** args, size_t nargsf,
                                  PyObject* kwnames) noexcept
    int Py_EnterRecursiveCall(const char* where) noexcept
    void Py_LeaveRecursiveCall() noexcept
    object PyNumber_Index(object obj)
    PyObject* PyObject_CallOneArg(PyObject* callable, PyObject* arg) noexcept
    Py_ssize_t PyVectorcall_NARGS(size_t nargsf) noexcept
    size_t PY_VECTORCALL_ARGUMENTS_OFFSET
    int PyUnicode_Compare(PyObject* a, PyObject* b) noexcept
    int PyObject_RichCompareBool(PyObject* a, PyObject* b, int op) noexcept
    int Py_EQ
    Py_ssize_t PY_SSIZE_T_MAX
    int PyBUF_WRITABLE
    int PyBUF_STRIDES
    int PyBUF_FORMAT
    int PyBUF_ND
    int PyBUF_C_CONTIGUOUS
    int PyBUF_F_CONTIGUOUS
    int PyBUF_ANY_CONTIGUOUS
    Py_buffer* PyMemoryView_GET_BUFFER(PyObject* view) noexcept
    PyObject* PyErr_Occurred() noexcept
    void PyErr_Clear() noexcept
    void PyErr_Fetch(PyObject** type, PyObject** value, PyObject** traceback) noexcept
    void PyErr_Restore(PyObject* type, PyObject* value, PyObject* traceback) noexcept
    void PyErr_NormalizeException(PyObject** type, PyObject** value, PyObject** tb) noexcept
    void PyErr_SetObject(PyObject* type, PyObject* value) noexcept
    PyObject* PyErr_NoMemory() noexcept
    int PyException_SetTraceback(PyObject* exc, PyObject* tb) noexcept
    PyObject* PyException_GetTraceback(PyObject* exc) noexcept
    ctypedef struct PyThreadState
    ctypedef struct PyInterpreterState
    PyInterpreterState* PyInterpreterState_Get() noexcept
    int64_t PyInterpreterState_GetID(PyInterpreterState* state) noexcept
    PyThreadState* PyEval_SaveThread() noexcept
    void PyEval_RestoreThread(PyThreadState* state) noexcept
    void* PyCapsule_GetPointer(object capsule, const char* name) except NULL
    bint PyCapsule_IsValid(object capsule, const char* name)
    int PyCapsule_SetName(object capsule, const char* name) except -1
    object PyCapsule_New(void* pointer, const char* name, void (*destructor)(PyObject*) noexcept)
    void* PyCapsule_GetPointer_ "PyCapsule_GetPointer"(PyObject* capsule, const char* name) noexcept
    int PyCapsule_IsValid_ "PyCapsule_IsValid"(PyObject* capsule, const char* name) noexcept
