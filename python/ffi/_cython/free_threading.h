/*!
 * \file free_threading.h
 * \brief What the GIL guarantees elsewhere, for builds of CPython without one.
 *
 * On ordinary builds nothing is left of it. So it is on free-threaded builds before 3.14, which
 * lack the means to look at an object that may be on its way out: importing the module turns the
 * GIL on there.
 */
#ifndef MXNET_FFI_CYTHON_FREE_THREADING_H_
#define MXNET_FFI_CYTHON_FREE_THREADING_H_

#include <Python.h>
#include <mxnet/runtime/c_runtime_api.h>

#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030E0000
#define MXNET_FREE_THREADED 1
#else
#define MXNET_FREE_THREADED 0
#endif

/*! \brief For Cython, as a constant that the compiler sees. */
enum { kMXNetFreeThreaded = MXNET_FREE_THREADED };

#if MXNET_FREE_THREADED

#include <atomic>

/*! \brief A global variable that is set while others read it. */
template <typename T>
using MXNetShared = std::atomic<T>;

/*! \brief For tables of what a thread has found out, which hold no references. */
#define MXNET_PER_THREAD thread_local

/*! \brief Held while the wrapper that an object knows of is looked up or replaced. */
class MXNetPeerLock {
 public:
  explicit MXNetPeerLock(const void* handle) : mutex_(&Of(handle)) { PyMutex_Lock(mutex_); }
  ~MXNetPeerLock() { PyMutex_Unlock(mutex_); }
  MXNetPeerLock(const MXNetPeerLock&) = delete;
  MXNetPeerLock& operator=(const MXNetPeerLock&) = delete;

 private:
  struct alignas(64) Stripe {
    PyMutex mutex;
  };

  static PyMutex& Of(const void* handle) {
    static Stripe stripes[64];
    return stripes[(reinterpret_cast<uintptr_t>(handle) >> 5) % 64].mutex;
  }

  PyMutex* const mutex_;
};

/*! \brief Has it found out of another thread whether obj is on its way out. */
static inline void MXNetAllowFinding(PyObject* obj) { PyUnstable_EnableTryIncRef(obj); }

/*! \brief Guards the small tables of the module; no Python code runs while it is held. */
static PyMutex MXNetTables;
static inline void MXNetLockTables(void) { PyMutex_Lock(&MXNetTables); }
static inline void MXNetUnlockTables(void) { PyMutex_Unlock(&MXNetTables); }

/*! \brief Keeps other threads from what also begins one for obj, as the GIL would. */
typedef PyCriticalSection MXNetSection;
static inline void MXNetBeginSection(MXNetSection* section, PyObject* obj) {
  PyCriticalSection_Begin(section, obj);
}
static inline void MXNetEndSection(MXNetSection* section) { PyCriticalSection_End(section); }

#else

template <typename T>
using MXNetShared = T;

#define MXNET_PER_THREAD

struct MXNetPeerLock {
  explicit MXNetPeerLock(const void*) {}
};

static inline void MXNetAllowFinding(PyObject*) {}

static inline void MXNetLockTables(void) {}
static inline void MXNetUnlockTables(void) {}

typedef struct {
} MXNetSection;
static inline void MXNetBeginSection(MXNetSection*, PyObject*) {}
static inline void MXNetEndSection(MXNetSection*) {}

#endif

/*! \brief The value of a key as a new reference, None where there is none; NULL with an error. */
static inline PyObject* MXNetDictGet(PyObject* dict, PyObject* key) {
#if MXNET_FREE_THREADED
  PyObject* found;
  if (PyDict_GetItemRef(dict, key, &found) < 0) return NULL;
  return found != NULL ? found : Py_None;
#else
  PyObject* found = PyDict_GetItemWithError(dict, key);
  if (found == NULL) {
    if (PyErr_Occurred()) return NULL;
    found = Py_None;
  }
  Py_INCREF(found);
  return found;
#endif
}

#endif /* MXNET_FFI_CYTHON_FREE_THREADING_H_ */
