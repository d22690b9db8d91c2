/*!
 * \file numpy_compat.h
 * \brief Reads NumPy arrays and dtypes through NumPy's headers, without importing NumPy.
 */
#ifndef MXNET_FFI_CYTHON_NUMPY_COMPAT_H_
#define MXNET_FFI_CYTHON_NUMPY_COMPAT_H_

#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NO_IMPORT_ARRAY
#include <mxnet/runtime/c_runtime_api.h>
#include <numpy/ndarraytypes.h>

enum { kMXNetNumpyOk = 0, kMXNetNumpyForeign = 1, kMXNetNumpySwapped = 2, kMXNetNumpyStrides = 3 };

/*! \brief Element type of a numpy.dtype. */
static inline int MXNetNumpyDType(PyObject* descr, DLDataType* out) {
  static const DLDataType kTypes[] = {
      {kDLBool, 8, 1},
      {kDLInt, 8, 1},
      {kDLUInt, 8, 1},
      {kDLInt, 16, 1},
      {kDLUInt, 16, 1},
      {kDLInt, 32, 1},
      {kDLUInt, 32, 1},
      {kDLInt, 8 * sizeof(long), 1},
      {kDLUInt, 8 * sizeof(long), 1},
      {kDLInt, 64, 1},
      {kDLUInt, 64, 1},
      {kDLFloat, 32, 1},
      {kDLFloat, 64, 1},
      {0, 0, 0},
      {kDLComplex, 64, 1},
      {kDLComplex, 128, 1},
  };
  PyArray_Descr* dtype = (PyArray_Descr*)descr;
  const int num = dtype->type_num;
  if (num == NPY_HALF) {
    *out = DLDataType{kDLFloat, 16, 1};
  } else if (num >= 0 && num <= NPY_CDOUBLE && num != NPY_LONGDOUBLE) {
    *out = kTypes[num];
  } else {
    return kMXNetNumpyForeign;
  }
  return PyArray_ISNBO(dtype->byteorder) ? kMXNetNumpyOk : kMXNetNumpySwapped;
}

static inline PyObject* MXNetNumpyDescr(PyObject* array) {
  return (PyObject*)PyArray_DESCR((PyArrayObject*)array);
}

static inline int MXNetNumpyNdim(PyObject* array) { return PyArray_NDIM((PyArrayObject*)array); }

static inline int MXNetNumpyReadOnly(PyObject* array) {
  return !PyArray_CHKFLAGS((PyArrayObject*)array, NPY_ARRAY_WRITEABLE);
}

/*! \brief Describes an array of a known element type in place; dims has room for twice ndim.
 *
 * The extents are copied: an assignment to `shape` frees those of the array, and code that does so
 * may run before the call is over.
 */
static inline int MXNetNumpyTensor(PyObject* obj, DLDataType dtype, int64_t* dims, DLTensor* out) {
  PyArrayObject* array = (PyArrayObject*)obj;
  const int ndim = PyArray_NDIM(array);
  const npy_intp* extents = PyArray_DIMS(array);
  const npy_intp* bytes = PyArray_STRIDES(array);
  int64_t* strides = dims + ndim;
  // Item sizes are powers of two, by which a shift divides in a tenth of the time.
  const int shift = __builtin_ctz(dtype.bits / 8);
  for (int i = 0; i < ndim; ++i) {
    strides[i] = bytes[i] >> shift;
    if (strides[i] * ((int64_t)1 << shift) != bytes[i]) return kMXNetNumpyStrides;
    dims[i] = extents[i];
  }
  out->data = PyArray_DATA(array);
  out->device = DLDevice{kDLCPU, 0};
  out->ndim = ndim;
  out->dtype = dtype;
  out->shape = dims;
  out->strides = strides;
  out->byte_offset = 0;
  return kMXNetNumpyOk;
}

#endif /* MXNET_FFI_CYTHON_NUMPY_COMPAT_H_ */
