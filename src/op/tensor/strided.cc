/*!
 * \file strided.cc
 * \brief Broadcasting and where tensors lie in memory.
 */
#include "op/tensor/strided.h"

#include <mxnet/op/extent.h>

#include <algorithm>
#include <string>

#include "op/tensor/axes.h"

namespace mxnet {
namespace op {
namespace {

[[noreturn]] void ThrowNoBroadcast(const ShapeView* shapes, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += " " + CompactShape(shapes[i]);
  MXNET_THROW("ValueError") << "operands could not be broadcast together with shapes" << text;
}

}  // namespace

void BroadcastShapes(const ShapeView* shapes, int count, DimBuffer* out) {
  out->ndim = 0;
  for (int i = 0; i < count; ++i) out->ndim = std::max(out->ndim, shapes[i].ndim());
  for (int d = 0; d < out->ndim; ++d) {
    int64_t extent = 1;
    for (int i = 0; i < count; ++i) {
      const int own = d - (out->ndim - shapes[i].ndim());
      if (own < 0 || shapes[i][own] == 1 || shapes[i][own] == extent) continue;
      const int64_t other = shapes[i][own];
      if (extent != 1 && AreDifferent(extent, other)) ThrowNoBroadcast(shapes, count);
      extent = BroadcastExtent(extent, other);
    }
    (*out)[d] = extent;
  }
}

void StridesOf(const DLTensor& tensor, int64_t* out) noexcept {
  if (tensor.strides == nullptr) return SetRowMajorStrides(TensorShape(tensor), out);
  std::copy_n(tensor.strides, tensor.ndim, out);
}

MemoryBounds::MemoryBounds(const DLTensor& tensor) noexcept
    : begin(static_cast<const char*>(TensorData(tensor))), end(begin) {
  const int64_t item = ItemSize(tensor.dtype);
  int64_t expected = item;
  int64_t below = 0;
  int64_t above = item;
  for (int d = tensor.ndim - 1; d >= 0; --d) {
    const int64_t extent = tensor.shape[d];
    if (extent == 0) return;
    const int64_t stride = tensor.strides == nullptr ? expected : tensor.strides[d] * item;
    (stride < 0 ? below : above) += (extent - 1) * stride;
    expected *= extent;
  }
  end = begin + above;
  begin += below;
}

bool MayOverlap(const DLTensor& a, const DLTensor& b) noexcept {
  return MemoryBounds(a).Overlap(MemoryBounds(b));
}

bool SameElements(const DLTensor& a, const DLTensor& b) noexcept {
  if (TensorData(a) != TensorData(b) || a.dtype != b.dtype || TensorShape(a) != TensorShape(b)) {
    return false;
  }
  int64_t a_expected = 1;
  for (int d = a.ndim - 1; d >= 0; --d) {
    const int64_t a_stride = a.strides == nullptr ? a_expected : a.strides[d];
    const int64_t b_stride = b.strides == nullptr ? a_expected : b.strides[d];
    if (a.shape[d] > 1 && a_stride != b_stride) return false;
    a_expected *= a.shape[d];
  }
  return true;
}

void CheckHost(Context ctx) {
  if (IsHost(ctx)) return;
  throw ElementsElsewhere("it reads or writes elements, which are on " + ContextName(ctx));
}

void CheckHost(const DLTensor& tensor) { CheckHost(tensor.device); }

}  // namespace op
}  // namespace mxnet
