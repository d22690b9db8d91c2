#include "copies.h"

#include "../status.h"

namespace mxacc {

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
