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

namespace {

NDArray PositionsOf(const uint8_t* flags, int64_t n) {
  const int64_t count = CountNonzero(flags, n);
  NDArray positions = NDArray::Empty(ShapeView(&count, 1), kInt64);
  WriteNonzero(flags, n, count, positions.data_as<int64_t>());
  return positions;
}

}  // namespace

NDArray FlatNonzero(const NDArray& mask) {
  return PositionsOf(mask.data_as<const uint8_t>(), mask.size());
}

NDArray LineNonzero(const NDArray& array) {
  constexpr int64_t kFew = 256;
  const DLTensor& line = array.tensor();
  const int64_t n = line.shape[0];
  if (n > kFew || !IsHost(array.ctx())) return FlatNonzero(AsMask(array));
  uint8_t flags[kFew];
  char* const data[2] = {reinterpret_cast<char*>(flags), static_cast<char*>(TensorData(line))};
  const int64_t step = line.strides == nullptr ? 1 : line.strides[0];
  const int64_t strides[2] = {1, step * ItemSize(line.dtype)};
  CastLoop(CheckedIndexOfDType(line.dtype), kIndexBool)(data, strides, n);
  return PositionsOf(flags, n);
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
