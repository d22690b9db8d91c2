/*!
 * \file small_int.h
 * \brief Reads ints of one digit, which most are, without a call of the interpreter.
 */
#ifndef MXNET_FFI_CYTHON_SMALL_INT_H_
#define MXNET_FFI_CYTHON_SMALL_INT_H_

#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

/*! \brief Value of an exact int of one digit, which most are; 0 where it has more. */
static inline int MXNetSmallInt(PyObject* obj, int64_t* out) {
#if PY_VERSION_HEX >= 0x030C0000
  if (!PyUnstable_Long_IsCompact((PyLongObject*)obj)) return 0;
  *out = (int64_t)PyUnstable_Long_CompactValue((PyLongObject*)obj);
  return 1;
#else
  const Py_ssize_t size = Py_SIZE(obj);
  if (size == 1) {
    *out = (int64_t)((PyLongObject*)obj)->ob_digit[0];
  } else if (size == 0) {
    *out = 0;
  } else if (size == -1) {
    *out = -(int64_t)((PyLongObject*)obj)->ob_digit[0];
  } else {
    return 0;
  }
  return 1;
#endif
}

/*! \brief Whether all items are exact ints of one digit; their values go to out. */
static inline int MXNetSmallInts(PyObject** items, Py_ssize_t size, int64_t* out) {
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (Py_TYPE(items[i]) != &PyLong_Type || !MXNetSmallInt(items[i], &out[i])) return 0;
  }
  return 1;
}

#endif  // MXNET_FFI_CYTHON_SMALL_INT_H_
