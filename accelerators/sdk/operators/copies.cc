#include "copies.h"

#include "../status.h"

namespace mxacc {

RowMajor::RowMajor(const MXAccDLTensor& like)
    : strides(static_cast<size_t>(like.ndim) + 1), tensor(like) {
  tensor.data = nullptr;
  tensor.byte_offset = 0;
  tensor.strides = strides.data();
  int64_t step = 1;
  for (int32_t i = like.ndim - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = step;
    step *= like.shape[i];
  }
  size = static_cast<size_t>(step * ItemSize(like.dtype));
}

Bytes::Bytes(int32_t dev_id, void* data, uint64_t byte_offset, size_t size)
    : shape{static_cast<int64_t>(size)},
      strides{1},
      tensor{data, {0, dev_id}, 1, {kMXAccUInt, 8, 1}, shape, strides, byte_offset} {}

void CheckCopies(const MXTensor* targets, const MXTensor* sources, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (SameSpec(targets[i].tensor, sources[i].tensor)) continue;
    throw Failure(kMXAccBadArgument, "a copy of " + SpecText(sources[i].tensor) + " to " +
                                         SpecText(targets[i].tensor));
  }
}

char* HostAddress(const MXAccDLTensor& tensor) {
  if (tensor.device.device_type != kMXAccHost || tensor.data == nullptr) {
    throw Failure(kMXAccBadArgument, "a tensor that is not of the host where one of it belongs");
  }
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

Axes CopyAxes(const MXAccDLTensor& target, const MXAccDLTensor& source) {
  Axes axes(2);
  for (int32_t i = 0; i < target.ndim; ++i) {
    axes.Add(target.shape[i], {target.strides[i], source.strides[i]});
  }
  return axes;
}

}  // namespace mxacc
