/*!
 * \file type_cache.h
 * \brief Remembers what a type was found to mean, until the type changes.
 *
 * Under the GIL there is one table of each kind, whose entries keep their types alive, as a freed
 * type's address could be given to another. Without it each thread has its own, and no references,
 * which nobody could give up when the thread ends: there an entry is known to be of the same type
 * by the version, which no other type ever gets.
 */
#ifndef MXNET_FFI_CYTHON_TYPE_CACHE_H_
#define MXNET_FFI_CYTHON_TYPE_CACHE_H_

#include "free_threading.h"

enum { kMXNetTypeCacheSize = 256 };

#if MXNET_FREE_THREADED
/*! \brief Version of a type, and how often converters were registered before that. */
typedef uint64_t MXNetTypeStamp;
static std::atomic<uint32_t> MXNetConverterCount;
#else
typedef unsigned int MXNetTypeStamp;
#endif

typedef struct {
  PyTypeObject* cls;
  void* extra;
  int handler;
  MXNetTypeStamp stamp;
} MXNetHandlerEntry;

typedef struct {
  PyObject* cls;
  MXNetTypeStamp stamp;
  DLDataType dtype;
} MXNetDTypeEntry;

static MXNET_PER_THREAD MXNetHandlerEntry MXNetHandlers[kMXNetTypeCacheSize];
static MXNET_PER_THREAD MXNetDTypeEntry MXNetDTypes[kMXNetTypeCacheSize];

/*! \brief Number that changes with what a type means; 0 where it has none at the moment. */
static inline MXNetTypeStamp MXNetStampOf(const PyTypeObject* type) {
#if MXNET_FREE_THREADED
  const unsigned int version = __atomic_load_n(&type->tp_version_tag, __ATOMIC_ACQUIRE);
  if (version == 0) return 0;
  return (MXNetTypeStamp)MXNetConverterCount.load() << 32 | version;
#else
#if PY_VERSION_HEX < 0x030C0000
  // The number outlives its validity.
  if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) == 0) return 0;
#endif
  return type->tp_version_tag;
#endif
}

/*! \brief Whether an entry is of this class, which is kept alive or known by its version. */
static inline int MXNetIsOfClass(const MXNetDTypeEntry* entry, PyObject* cls) {
#if MXNET_FREE_THREADED
  return entry->cls == cls && entry->stamp != 0 && entry->stamp == MXNetStampOf((PyTypeObject*)cls);
#else
  return entry->cls == cls;
#endif
}

static inline void MXNetKeepType(PyObject* cls) {
#if MXNET_FREE_THREADED
  (void)cls;
#else
  Py_INCREF(cls);
#endif
}

static inline void MXNetUnkeepType(PyObject* cls) {
#if MXNET_FREE_THREADED
  (void)cls;
#else
  Py_XDECREF(cls);
#endif
}

/*! \brief Has every type looked at anew: which converter is the nearest has changed. */
static inline void MXNetForgetHandlers(void) {
#if MXNET_FREE_THREADED
  ++MXNetConverterCount;
#else
  for (int i = 0; i < kMXNetTypeCacheSize; ++i) {
    PyTypeObject* cls = MXNetHandlers[i].cls;
    MXNetHandlers[i].cls = NULL;
    Py_XDECREF(cls);
  }
#endif
}

#endif /* MXNET_FFI_CYTHON_TYPE_CACHE_H_ */
