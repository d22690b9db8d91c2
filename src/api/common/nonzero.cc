/*!
 * \file nonzero.cc
 * \brief Positions of the elements that are not zero.
 */
#include "api/common/nonzero.h"

#include <cstring>

#include "api/common/cast.h"

namespace mxnet {
namespace op {
namespace {

constexpr int64_t kGroup = 8;

/*! \brief Eight bools at a time; a foreign array's may be other than 0 and 1. */
uint64_t GroupAt(const uint8_t* mask) noexcept {
  uint64_t group;
  std::memcpy(&group, mask, sizeof(group));
  return group;
}

int64_t CountTrue(const uint8_t* mask, int64_t size) noexcept {
  int64_t count = 0;
  for (int64_t i = 0; i < size; ++i) count += mask[i] != 0;
  return count;
}

}  // namespace

NDArray AsMask(const DLTensor& tensor) { return AsType(tensor, kBool); }

NDArray FlatNonzero(const NDArray& mask) {
  const auto* flags = mask.data_as<const uint8_t>();
  const int64_t size = mask.size();
  const int64_t count = CountTrue(flags, size);
  NDArray positions = NDArray::Empty(ShapeView(&count, 1), kInt64);
  int64_t* out = positions.data_as<int64_t>();
  int64_t i = 0;
  for (; i + kGroup <= size; i += kGroup) {
    if (GroupAt(flags + i) == 0) continue;
    for (int64_t j = i; j < i + kGroup; ++j) {
      if (flags[j] != 0) *out++ = j;
    }
  }
  for (; i < size; ++i) {
    if (flags[i] != 0) *out++ = i;
  }
  return positions;
}

std::vector<NDArray> UnravelPositions(const NDArray& positions, ShapeView shape) {
  const int64_t count = positions.size();
  std::vector<NDArray> indices;
  for (int d = 0; d < shape.ndim(); ++d) {
    indices.push_back(NDArray::Empty(ShapeView(&count, 1), kInt64));
  }
  const int64_t* flat = positions.data_as<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = flat[i];
    for (int d = shape.ndim() - 1; d >= 0; --d) {
      const int64_t extent = shape[static_cast<size_t>(d)];
      indices[static_cast<size_t>(d)].data_as<int64_t>()[i] = rest % extent;
      rest /= extent;
    }
  }
  return indices;
}

}  // namespace op
}  // namespace mxnet
