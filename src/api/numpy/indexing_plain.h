/*!
 * \file indexing_plain.h
 * \brief Keys of one array of indices, which need not be brought into shape; what get and set
 * share.
 */
#ifndef MXNET_SRC_API_NUMPY_INDEXING_PLAIN_H_
#define MXNET_SRC_API_NUMPY_INDEXING_PLAIN_H_

#include "api/argument/operand.h"
#include "api/numpy/indexing_key.h"
#include "op/kernels/index/take.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {

constexpr char kKeyDoc[] =
    "Int, None, Ellipsis, slice, index array or mask, or a tuple of these. A slice arrives as "
    "('slice', start, stop, step), Ellipsis as '...'.";

inline DLTensor TensorOf(const SubarrayLayout& subarray, DLDataType dtype, Context ctx) {
  return DLTensor{subarray.data,
                  ctx,
                  subarray.axes.shape.ndim,
                  dtype,
                  const_cast<int64_t*>(subarray.axes.shape.data),
                  const_cast<int64_t*>(subarray.axes.strides.data),
                  0};
}

/*! \brief The tensor of an argument that is an array of ours on the host; NULL of any other. */
inline const DLTensor* HostTensor(const MXNetArgs& args, int i) {
  if (args.type_codes[i] != kMXNetNDArrayHandle) return nullptr;
  const auto& tensor = static_cast<const MXNetNDArrayObject*>(args.values[i].v_handle)->tensor;
  return IsHost(tensor.device) && IsAligned(tensor) ? &tensor : nullptr;
}

/*! \brief Whether a key is an array of int64, and the array that it indexes has one axis. */
inline bool IsPlainIndex(const DLTensor* array, const DLTensor* key) {
  return array != nullptr && key != nullptr && array->ndim == 1 && key->ndim > 0 &&
         key->dtype == kInt64;
}

/*! \brief The tensor, or a row-major copy of it that *copy keeps. */
inline const DLTensor* RowMajor(const DLTensor* tensor, NDArray* copy) {
  if (IsContiguous(*tensor)) return tensor;
  *copy = Contiguous(*tensor);
  return &copy->tensor();
}

/*! \brief Whether so many indices that lie apart are brought together once, not to be checked and
 * again to be used: fewer are read where they lie, and of more the copy would come from memory. */
inline bool AreGatheredOnce(int64_t size) { return size > 16 && size <= 4096; }

/*! \brief The indices of a key, checked; *copy keeps those that are not read where they lie. */
inline Indices PlainIndices(const DLTensor& array, const DLTensor& key, NDArray* copy) {
  const bool is_line = key.ndim == 1 && !AreGatheredOnce(key.shape[0]);
  const DLTensor& from = is_line ? key : *RowMajor(&key, copy);
  const Indices indices{static_cast<const int64_t*>(TensorData(from)), TensorSize(key),
                        is_line ? key.strides[0] : 1};
  const int64_t out = FindOutOfBounds(indices, array.shape[0]);
  if (out != indices.size) ThrowOutOfBounds(indices[out], 0, array.shape[0]);
  return indices;
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_NUMPY_INDEXING_PLAIN_H_
