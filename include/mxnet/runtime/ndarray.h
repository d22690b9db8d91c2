/*!
 * \file mxnet/runtime/ndarray.h
 * \brief NDArray: a strided array on a context.
 */
#ifndef MXNET_RUNTIME_NDARRAY_H_
#define MXNET_RUNTIME_NDARRAY_H_

#include <mxnet/runtime/container/shape.h>
#include <mxnet/runtime/data_type.h>

#include <cstring>

namespace mxnet {
namespace runtime {

/*! \brief Address of the first element of any tensor. */
inline void* TensorData(const DLTensor& tensor) noexcept {
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

inline ShapeView TensorShape(const DLTensor& tensor) noexcept {
  return {tensor.shape, static_cast<size_t>(tensor.ndim)};
}

/*! \brief Number of elements. */
inline int64_t TensorSize(const DLTensor& tensor) noexcept {
  int64_t size = 1;
  for (int i = 0; i < tensor.ndim; ++i) size *= tensor.shape[i];
  return size;
}

/*!
 * \brief Writes strides, in elements, of a row-major array; an extent of 0 counts as 1.
 *
 * Where there are no elements, strides may be beyond 64 bits, and mean nothing whatever they are.
 */
inline void SetRowMajorStrides(ShapeView shape, int64_t* strides) noexcept {
  uint64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= shape[i] == 0 ? 1 : static_cast<uint64_t>(shape[i]);
  }
}

/*! \brief Whether the elements lie in row-major order without gaps. */
inline bool IsContiguous(const DLTensor& tensor) noexcept {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    // Without elements there is no gap, whatever the strides: those of NumPy are all 0.
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return TensorSize(tensor) == 0;
    expected *= tensor.shape[i];
  }
  return true;
}

/*! \brief Shares an array; views of one array share its memory. */
class NDArray : public ObjectRef {
 public:
  NDArray() = default;
  explicit NDArray(ObjectRef ref) : ObjectRef(std::move(ref)) {}

  /*! \brief Uninitialized, row-major. Throws ValueError or MemoryError. */
  static NDArray Empty(ShapeView shape, DLDataType dtype, Context ctx = Context{kDLCPU, 0}) {
    return Create(shape, dtype, ctx, kMXNetCreateUninitialized);
  }

  /*! \brief Filled with zeros, row-major. Throws ValueError or MemoryError. */
  static NDArray Zeros(ShapeView shape, DLDataType dtype, Context ctx = Context{kDLCPU, 0}) {
    return Create(shape, dtype, ctx, kMXNetCreateZeroed);
  }

  /*! \brief A view with its own layout; see MXNetNDArrayView for what the caller vouches for. */
  NDArray View(void* data, ShapeView shape, ShapeView strides, DLDataType dtype) const {
    MXNetNDArrayHandle handle;
    MXNET_CHECK_CALL(
        MXNetNDArrayView(get(), data, shape.data(), strides.data(), shape.ndim(), dtype, &handle));
    return NDArray(ObjectRef::Steal(handle));
  }

  /*! \brief The tensor; a ValueError, as from all that looks at it, where there is no array. */
  const DLTensor& tensor() const { return object().tensor; }
  const DLTensor* operator->() const { return &tensor(); }
  void* data() const { return tensor().data; }
  template <typename T>
  T* data_as() const {
    return static_cast<T*>(tensor().data);
  }
  ShapeView shape() const { return TensorShape(tensor()); }
  ShapeView strides() const { return {tensor().strides, static_cast<size_t>(tensor().ndim)}; }
  int ndim() const { return tensor().ndim; }
  int64_t size() const { return TensorSize(tensor()); }
  DLDataType dtype() const { return tensor().dtype; }
  Context ctx() const { return tensor().device; }
  bool read_only() const { return (object().flags & kMXNetNDArrayReadOnly) != 0; }

 private:
  const MXNetNDArrayObject& object() const {
    if (__builtin_expect(!defined(), 0)) ThrowUndefined();
    return *as<MXNetNDArrayObject>();
  }
  /*! \brief Apart from object, so that it stays small enough to be inlined. */
  [[noreturn, gnu::cold, gnu::noinline]] static void ThrowUndefined() {
    MXNET_THROW("ValueError") << "an NDArray that refers to no array is looked at";
  }
  static NDArray Create(ShapeView shape, DLDataType dtype, Context ctx, int options) {
    MXNetNDArrayHandle handle;
    MXNET_CHECK_CALL(MXNetNDArrayCreate(shape.data(), shape.ndim(), dtype, ctx, options, &handle));
    return NDArray(ObjectRef::Steal(handle));
  }
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_NDARRAY_H_
