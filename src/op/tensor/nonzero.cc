/*!
 * \file nonzero.cc
 * \brief Positions of the elements that are not zero.
 */
#include "op/tensor/nonzero.h"

#include "op/kernels/select/nonzero.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
NDArray AsMask(const DLTensor& tensor) { return AsType(tensor, kBool); }

NDArray AsMask(const NDArray& array) {
  const bool is_mask =
      IsBoolDType(array.dtype()) && IsContiguous(array.tensor()) && IsHost(array.ctx());
  return is_mask ? array : AsMask(array.tensor());
}

NDArray FlatNonzero(const NDArray& mask) {
  const auto* flags = mask.data_as<const uint8_t>();
  const int64_t count = CountNonzero(flags, mask.size());
  NDArray positions = NDArray::Empty(ShapeView(&count, 1), kInt64);
  WriteNonzero(flags, mask.size(), count, positions.data_as<int64_t>());
  return positions;
}

std::vector<NDArray> UnravelPositions(const NDArray& positions, ShapeView shape) {
  if (shape.ndim() == 1) return {positions};
  const int64_t count = positions.size();
  std::vector<NDArray> indices;
  int64_t* columns[kMaxNdim];
  for (int d = 0; d < shape.ndim(); ++d) {
    indices.push_back(NDArray::Empty(ShapeView(&count, 1), kInt64));
    columns[d] = indices.back().data_as<int64_t>();
  }
  if (shape.ndim() > 0) {
    UnravelAscending(positions.data_as<int64_t>(), count, shape.data(), shape.ndim(), columns);
  }
  return indices;
}

}  // namespace op
}  // namespace mxnet
