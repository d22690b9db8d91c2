/*!
 * \file python_compat.h
 * \brief The few things of CPython and DLPack that Cython's own declarations do not reach.
 */
#ifndef MXNET_FFI_CYTHON_PYTHON_COMPAT_H_
#define MXNET_FFI_CYTHON_PYTHON_COMPAT_H_

#include <Python.h>
#include <frameobject.h>
#include <mxnet/runtime/container/map.h>
#include <mxnet/runtime/container/string.h>
#include <mxnet/runtime/entrance.h>
#include <mxnet/runtime/error.h>
#include <mxnet/runtime/object.h>
#include <mxnet/runtime/tensor_check.h>

#include <new>
#include <string_view>

#include "free_threading.h"
#include "small_int.h"
#include "type_cache.h"

/*! \brief UTF-8 of an exact or derived str; NULL with an exception for lone surrogates. */
static inline const char* MXNetUtf8(PyObject* obj, size_t* size) {
  if (PyUnicode_IS_COMPACT_ASCII(obj)) {
    *size = (size_t)PyUnicode_GET_LENGTH(obj);
    return (const char*)PyUnicode_1BYTE_DATA(obj);
  }
  Py_ssize_t length = 0;
  const char* data = PyUnicode_AsUTF8AndSize(obj, &length);
  *size = (size_t)length;
  return data;
}

/*! \brief Whether all bytes are ASCII. */
static inline int MXNetIsAscii(const char* data, size_t size) {
  const uint64_t high = 0x8080808080808080u;
  uint64_t word = 0;
  if (size < sizeof(word)) {
    for (size_t i = 0; i < size; ++i) word |= (unsigned char)data[i];
    return (word & 0x80) == 0;
  }
  // The last word may lie over the one before it.
  memcpy(&word, data + size - sizeof(word), sizeof(word));
  for (size_t i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
    uint64_t next;
    memcpy(&next, data + i, sizeof(next));
    word |= next;
  }
  return (word & high) == 0;
}

/*!
 * \brief A new str of UTF-8. Most texts are ASCII, which needs no decoder; those of at most one
 *        character exist already.
 */
static inline PyObject* MXNetNewText(const char* data, size_t size) {
  if (size < 2 || !MXNetIsAscii(data, size)) {
    return PyUnicode_DecodeUTF8(data, (Py_ssize_t)size, NULL);
  }
  PyObject* text = PyUnicode_New((Py_ssize_t)size, 127);
  if (text != NULL) memcpy(PyUnicode_1BYTE_DATA(text), data, size);
  return text;
}

/*!
 * \brief The one among values that is an ASCII str with this text, as a new reference; NULL where
 *        there is none.
 *
 * A text that comes back from a call is often one that was given: to compare takes less time than
 * to make it again. Elements of values may be NULL.
 */
static inline PyObject* MXNetFindText(PyObject** values, Py_ssize_t count, const char* data,
                                      size_t size) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* value = values[i];
    if (value != NULL && PyUnicode_CheckExact(value) && PyUnicode_IS_COMPACT_ASCII(value) &&
        (size_t)PyUnicode_GET_LENGTH(value) == size &&
        memcmp(PyUnicode_1BYTE_DATA(value), data, size) == 0) {
      Py_INCREF(value);
      return value;
    }
  }
  return NULL;
}

/*! \brief A String object of UTF-8; -1 with MemoryError set. */
static inline int MXNetNewString(const char* data, size_t size, void** out) {
  try {
    *out = mxnet::runtime::String(std::string_view(data, size)).Detach();
    return 0;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return -1;
  }
}

/*! \brief Makes the last error that a callback failed without an exception. */
static inline void MXNetSetNothingSaid(void) {
  mxnet::runtime::details::SetLastError("SystemError", "a callback failed without an exception");
}

/*! \brief CheckTensor: 0, or -1 after it made what is wrong the last error. */
static inline int MXNetCheckTensor(const DLTensor* tensor, const char* name) {
  try {
    mxnet::runtime::CheckTensor(*tensor, name);
    return 0;
  } catch (const mxnet::runtime::Error& error) {
    return error.SetLast();
  } catch (const std::bad_alloc&) {
    return mxnet::runtime::details::SetOutOfMemory();
  }
}

/*! \brief Whether a type was made while the program runs, so that it may change, or go. */
static inline int MXNetIsHeapType(const PyTypeObject* type) {
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
}

/*! \brief Whether instances of a type have the buffer protocol. */
static inline int MXNetHasBuffer(const PyTypeObject* type) {
  return type->tp_as_buffer != NULL && type->tp_as_buffer->bf_getbuffer != NULL;
}

/*!
 * \brief Makes instances of type callable through vectorcall.
 *
 * Cython writes no vectorcall slot. Called once, at import, before any instance is called.
 */
static inline void MXNetEnableVectorcall(PyTypeObject* type, Py_ssize_t offset) {
  type->tp_vectorcall_offset = offset;
  type->tp_call = PyVectorcall_Call;
  type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
  PyType_Modified(type);
}

/*! \brief A code object that stands for a C++ function in tracebacks. */
static inline PyObject* MXNetNewCode(const char* file, const char* function, int line) {
  return (PyObject*)PyCode_NewEmpty(file, function, line);
}

/*! \brief Adds the entry of a C++ function to the traceback of the current exception. */
static inline int MXNetAddTraceback(PyObject* code, PyObject* globals) {
  PyFrameObject* frame = PyFrame_New(PyThreadState_Get(), (PyCodeObject*)code, globals, NULL);
  if (frame == NULL) return -1;
  const int status = PyTraceBack_Here(frame);
  Py_DECREF(frame);
  return status;
}

/*! \brief Whether the interpreter is going away, so that no Python code may run any more. */
static inline int MXNetIsFinalizing(void) {
  if (!Py_IsInitialized()) return 1;
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

/*!
 * \brief Whether the calling thread holds the GIL, as it does in most callbacks: to take it again
 *        costs as much as a short callback itself.
 *
 * The thread state that is current belongs to the thread that holds the GIL. The one of this thread
 * differs from it also where a subinterpreter is running, which holds a state of its own.
 */
static inline int MXNetHoldsGil(void) {
#if PY_VERSION_HEX >= 0x030D0000
  PyThreadState* current = PyThreadState_GetUnchecked();
#else
  PyThreadState* current = _PyThreadState_UncheckedGet();
#endif
  return current != NULL && current == PyGILState_GetThisThreadState();
}

/*!
 * \brief PyObject_Vectorcall, without its way round for functions written in Python: those are of
 *        the interpreter's own making, so what they return need not be checked.
 */
static inline PyObject* MXNetVectorcall(PyObject* callable, PyObject** args, size_t nargsf) {
  if (Py_TYPE(callable) == &PyFunction_Type) {
    return PyVectorcall_Function(callable)(callable, args, nargsf, NULL);
  }
  return PyObject_Vectorcall(callable, args, nargsf, NULL);
}

/*! \brief What calls the Python callable that is its resource; it is called with the GIL held. */
typedef MXNetPackedCFunc MXNetCallbackBody;
static MXNetCallbackBody MXNetCallback = NULL;

static inline void MXNetSetCallback(MXNetCallbackBody body) { MXNetCallback = body; }

/*!
 * \brief Runs body() with the GIL, which the thread does not hold. False, without a run, for a
 *        thread of C++ that goes on while the interpreter ends: to enter it would crash.
 */
template <typename F>
static inline bool MXNetInPython(F&& body) {
  PyGILState_STATE state;
  const auto enter = [&] { state = PyGILState_Ensure(); };
  const auto stay = [&] {
    body();
    PyGILState_Release(state);
  };
  if (PyGILState_GetThisThreadState() != NULL) {
    enter();
    stay();
    return true;
  }
  return !MXNetIsFinalizing() && mxnet::runtime::Entrance::Global()->Visit(enter, stay);
}

/*! \brief Has MXNetInPython let in nobody; called without the GIL, which those that enter wait for.
 */
static inline void MXNetCloseEntrance(void) { mxnet::runtime::Entrance::Global()->Close(); }

/*! \brief The body of functions made of Python callables, from any thread. */
static int MXNetEnterPython(void* resource, const MXNetValue* values, const int* codes, int count,
                            MXNetValue* ret, int* ret_code) {
  if (MXNetHoldsGil()) return MXNetCallback(resource, values, codes, count, ret, ret_code);
  int status = 0;
  const auto call = [&] { status = MXNetCallback(resource, values, codes, count, ret, ret_code); };
  if (MXNetInPython(call)) return status;
  return mxnet::runtime::Error("RuntimeError", "the Python interpreter is shutting down").SetLast();
}

/*! \brief Finalizer of whatever holds a Python object; runs on any thread. */
static inline void MXNetReleasePython(void* value) {
  if (MXNetHoldsGil()) {
    Py_DECREF((PyObject*)value);
    return;
  }
  // At the end of the process nobody may take the GIL; the object goes with the process.
  if (!MXNetIsFinalizing()) MXNetInPython([value] { Py_DECREF((PyObject*)value); });
}

/*! \brief Keeps the Python object that a borrowed tensor belongs to; runs on any thread. */
static inline void MXNetRetainPython(void* value) {
  if (MXNetHoldsGil()) {
    Py_INCREF((PyObject*)value);
    return;
  }
  if (!MXNetIsFinalizing()) MXNetInPython([value] { Py_INCREF((PyObject*)value); });
}

static const MXNetOwnerFunctions MXNetPythonOwnerFunctions = {&MXNetRetainPython,
                                                              &MXNetReleasePython};

/*! \brief An object of the runtime that carries a Python value unchanged; NULL without memory. */
static inline void* MXNetNewOpaque(PyObject* value) {
  MXNetOpaqueObject* opaque = (MXNetOpaqueObject*)PyMem_RawMalloc(sizeof(MXNetOpaqueObject));
  if (opaque == NULL) return NULL;
  opaque->header.ref_count = 1;
  opaque->header.type_index = kMXNetObjectOpaque;
  opaque->header.peer = NULL;
  opaque->header.deleter = [](MXNetObject* self) {
    MXNetOpaqueObject* object = reinterpret_cast<MXNetOpaqueObject*>(self);
    object->finalizer(object->value);
    PyMem_RawFree(object);
  };
  Py_INCREF(value);
  opaque->value = value;
  opaque->finalizer = &MXNetReleasePython;
  return opaque;
}

/*! \brief The layout of ObjectBase. */
typedef struct {
  PyObject_HEAD void* handle;
  PyObject* weak_references;
} MXNetWrapper;

/*!
 * \brief The layout of NDArray, as core.pxd declares it; mx.np.ndarray adds nothing to that.
 *
 * `memory_owner` is an array that keeps the memory of a view that does not do so itself: references
 * of Python are counted without the locked instructions that objects of several threads need. NULL
 * for other arrays.
 */
typedef struct {
  MXNetWrapper wrapper;
  PyObject* memory_owner;
} MXNetArrayWrapper;

/*!
 * \brief A new instance by the native part of type; a __new__ written in Python, which could give
 *        anything, is passed over.
 */
static inline PyObject* MXNetNativeNew(PyTypeObject* type, PyObject* args) {
  const PyTypeObject* native = type;
  while ((native->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) native = native->tp_base;
  return native->tp_new(type, args, NULL);
}

/*!
 * \brief What stands for an object, its wrapper or what it was made of, as a new reference; NULL
 *        where there is none.
 *
 * A wrapper that is on its way out (what its attributes refer to may run code while they go) has no
 * references, and is replaced by the next. Its memory is there as long as peer refers to it.
 */
static inline PyObject* MXNetFindPeer(MXNetObject* object) {
#if MXNET_FREE_THREADED
  if (__atomic_load_n(&object->peer, __ATOMIC_RELAXED) == NULL) return NULL;
  MXNetPeerLock lock(object);
  PyObject* peer = (PyObject*)object->peer;
  return peer != NULL && PyUnstable_TryIncRef(peer) ? peer : NULL;
#else
  PyObject* peer = (PyObject*)object->peer;
  if (peer == NULL || Py_REFCNT(peer) <= 0) return NULL;
  Py_INCREF(peer);
  return peer;
#endif
}

/*! \brief The same, for the reference on the object, which is used up if there is one. */
static inline PyObject* MXNetTakePeer(void* handle) {
  PyObject* peer = MXNetFindPeer((MXNetObject*)handle);
  if (peer != NULL) mxnet::runtime::details::Release((MXNetObject*)handle);
  return peer;
}

/*! \brief Has peer of an object refer to a wrapper; under the lock where there is one. */
static inline void MXNetStorePeer(MXNetObject* object, PyObject* wrapper) {
#if MXNET_FREE_THREADED
  __atomic_store_n(&object->peer, (void*)wrapper, __ATOMIC_RELAXED);
#else
  object->peer = wrapper;
#endif
}

/*! \brief Makes wrapper the one that stands for the object whose reference it takes over. */
static inline void MXNetSetPeer(void* handle, PyObject* wrapper) {
  ((MXNetWrapper*)wrapper)->handle = handle;
  MXNetAllowFinding(wrapper);
  MXNetPeerLock lock(handle);
  MXNetStorePeer((MXNetObject*)handle, wrapper);
}

/*!
 * \brief The one wrapper of the object that wrapper holds: wrapper, or another that another thread
 *        was faster to make, for which wrapper is given up.
 */
static inline PyObject* MXNetOfferPeer(PyObject* wrapper) {
  MXNetObject* object = (MXNetObject*)((MXNetWrapper*)wrapper)->handle;
  PyObject* peer;
#if MXNET_FREE_THREADED
  MXNetAllowFinding(wrapper);
  {
    MXNetPeerLock lock(object);
    peer = (PyObject*)object->peer;
    if (peer == NULL || !PyUnstable_TryIncRef(peer)) {
      MXNetStorePeer(object, wrapper);
      return wrapper;
    }
  }
#else
  peer = MXNetFindPeer(object);
  if (peer == NULL) {
    MXNetStorePeer(object, wrapper);
    return wrapper;
  }
#endif
  Py_DECREF(wrapper);
  return peer;
}

/*! \brief The end of a wrapper: gives up the reference it holds, which may be none. */
static inline void MXNetDropHandle(void* handle, PyObject* wrapper) {
  MXNetObject* object = (MXNetObject*)handle;
  if (object == NULL) return;
  {
    MXNetPeerLock lock(object);
    if (object->peer == wrapper) MXNetStorePeer(object, NULL);
  }
  mxnet::runtime::details::Release(object);
}

/*!
 * \brief Memory of array wrappers that are gone, for the next ones; guarded by the GIL, and empty
 *        without one.
 *
 * Arrays are what operators return, so making and dropping their wrappers is part of every call.
 * Cython's own deallocation saves and restores the current exception, which costs as much again.
 */
static struct {
  PyTypeObject* type;
  int count;
  PyObject* wrappers[64];
} MXNetFreeArrays;

static inline void MXNetDeallocArray(PyObject* self) {
  MXNetWrapper* wrapper = (MXNetWrapper*)self;
  PyObject* memory_owner = ((MXNetArrayWrapper*)self)->memory_owner;
  if (wrapper->weak_references != NULL) PyObject_ClearWeakRefs(self);
  // Whoever else has the view has it keep its base from now on.
  if (memory_owner != NULL &&
      __atomic_load_n(&((MXNetObject*)wrapper->handle)->ref_count, __ATOMIC_ACQUIRE) != 1) {
    MXNetNDArrayKeepBase(wrapper->handle);
  }
  MXNetDropHandle(wrapper->handle, self);
  Py_XDECREF(memory_owner);
  if (Py_TYPE(self) == MXNetFreeArrays.type && MXNetFreeArrays.count < 64) {
    MXNetFreeArrays.wrappers[MXNetFreeArrays.count++] = self;
  } else {
    Py_TYPE(self)->tp_free(self);
  }
}

/*!
 * \brief Makes type the class that MXNetNewArray gives instances of.
 *
 * Only an extension type with the layout of NDArray gets the short cut; a class made in Python
 * keeps its own way of ending.
 */
static inline void MXNetSetArrayType(PyTypeObject* type) {
  while (MXNetFreeArrays.count > 0)
    PyObject_Free(MXNetFreeArrays.wrappers[--MXNetFreeArrays.count]);
  MXNetFreeArrays.type = NULL;
  if ((type->tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_HAVE_GC)) != 0 ||
      type->tp_basicsize != (Py_ssize_t)sizeof(MXNetArrayWrapper)) {
    return;
  }
  type->tp_dealloc = &MXNetDeallocArray;
  if (!MXNET_FREE_THREADED) MXNetFreeArrays.type = type;
}

/*! \brief Memory of a wrapper that is gone, for a new one; NULL where there is none. */
static inline PyObject* MXNetReuseArray(PyTypeObject* type) {
  if (type != MXNetFreeArrays.type || MXNetFreeArrays.count == 0) return NULL;
  PyObject* self = MXNetFreeArrays.wrappers[--MXNetFreeArrays.count];
#if defined(Py_REF_DEBUG) || defined(Py_TRACE_REFS) || defined(Py_GIL_DISABLED)
  PyObject_Init(self, type);
#else
  Py_SET_REFCNT(self, 1);  // it has its type still
#endif
  ((MXNetWrapper*)self)->weak_references = NULL;
  ((MXNetArrayWrapper*)self)->memory_owner = NULL;
  return self;
}

/*! \brief A new one from the heap; apart, so that the compiler puts the rest into its callers. */
[[gnu::noinline]] static PyObject* MXNetAllocArray(PyTypeObject* type, void* handle) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == NULL) {
    MXNetObjectFree(handle);
    return NULL;
  }
  ((MXNetWrapper*)self)->handle = handle;
  return MXNetOfferPeer(self);
}

/*!
 * \brief The instance of type that owns handle: the one there is, or a new one; on failure the
 *        handle is released.
 */
static inline PyObject* MXNetNewArray(PyTypeObject* type, void* handle) {
  PyObject* self = MXNetTakePeer(handle);
  if (self != NULL) return self;
  self = MXNetReuseArray(type);
  if (self == NULL) return MXNetAllocArray(type, handle);
  ((MXNetWrapper*)self)->handle = handle;
  // Nothing since it was looked for lets another thread run.
  MXNetStorePeer((MXNetObject*)handle, self);
  return self;
}

/*!
 * \brief A view of an array, as MXNetNDArrayView makes it, in a wrapper; NULL on failure, with an
 *        exception set only where memory for the Python object has run out.
 */
static inline PyObject* MXNetNewView(PyTypeObject* type, PyObject* array, void* data,
                                     const int64_t* shape, const int64_t* strides, int ndim,
                                     DLDataType dtype) {
  void* base = ((MXNetWrapper*)array)->handle;
  void* made = NULL;
  // Wrappers of this class hold their array until they end; those of derived classes may not.
  PyObject* self = Py_TYPE(array) == type ? MXNetReuseArray(type) : NULL;
  if (self == NULL) {
    if (MXNetNDArrayView(base, data, shape, strides, ndim, dtype, &made) != 0) return NULL;
    return MXNetNewArray(type, made);
  }
  PyObject* owner = ((MXNetArrayWrapper*)array)->memory_owner;
  if (owner == NULL) owner = array;
  if (MXNetNDArrayViewBorrowed(base, data, shape, strides, ndim, dtype, &made) != 0) {
    ((MXNetWrapper*)self)->handle = NULL;
    Py_DECREF(self);
    return NULL;
  }
  Py_INCREF(owner);
  ((MXNetArrayWrapper*)self)->memory_owner = owner;
  ((MXNetWrapper*)self)->handle = made;
  MXNetStorePeer((MXNetObject*)made, self);
  return self;
}

/*! \brief Number of the entry of a Map or Dict with this key, -1 where there is none. */
static inline int64_t MXNetFindEntry(void* map, const MXNetAny* key) {
  return mxnet::runtime::details::FindEntry(*(const MXNetMapObject*)map, *key);
}

/*! \brief Lets Cython see a result of plain C as a new reference, NULL as an exception. */
static inline PyObject* MXNetPass(PyObject* obj) { return obj; }

/*! \brief The part of DLPack's exchange table that is read here; DLPack 1.2 defines it. */
typedef struct {
  DLPackVersion version;
  void* prev_api;
  void* managed_tensor_allocator;
  void* managed_tensor_from_py_object_no_sync;
  int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned* tensor, void** out);
  int (*dltensor_from_py_object_no_sync)(void* py_object, DLTensor* out);
} MXNetDLPackExchange;

#endif /* MXNET_FFI_CYTHON_PYTHON_COMPAT_H_ */
