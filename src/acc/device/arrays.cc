/*!
 * \file arrays.cc
 * \brief Memory of arrays, and from arrays to MXTensor.
 */
#include "acc/device/arrays.h"

#include "acc/device/table.h"

namespace mxnet {
namespace acc {

void ReleaseMemory(void* owner, size_t) {
  auto* memory = static_cast<DeviceMemory*>(owner);
  if (memory->device->slot()->is_parents.load(std::memory_order_relaxed)) return;
  memory->device->Free(memory);
}

Device* DeviceOf(const ArrayObject* array) {
  const ArrayObject* root = RootOf(array);
  if (root->release != &ReleaseMemory) return nullptr;
  Device* device = static_cast<const DeviceMemory*>(root->owner)->device;
  return device->slot()->accelerator.load(std::memory_order_acquire) == nullptr ? nullptr : device;
}

MXTensor WithoutElements(const DLTensor& tensor) {
  MXTensor out{};
  out.struct_size = sizeof(out);
  MXAccDLTensor& dl_tensor = out.tensor;
  dl_tensor.device = MXAccDevice{tensor.device.device_type, tensor.device.device_id};
  dl_tensor.ndim = tensor.ndim;
  dl_tensor.dtype = MXAccDataType{tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes};
  dl_tensor.shape = tensor.shape;
  dl_tensor.strides = tensor.strides;
  return out;
}

MXTensor TensorOf(const NDArray& array) {
  MXTensor out = WithoutElements(array.tensor());
  const Location location = LocationOf(array.get());
  out.tensor.data = location.data;
  out.tensor.byte_offset = location.byte_offset;
  return out;
}

DeviceMemory* MemoryOf(const NDArray& array) {
  DeviceMemory* memory = MemoryOf(reinterpret_cast<const ArrayObject*>(array.get()));
  if (memory == nullptr) {
    MXNET_THROW("ValueError") << "expected memory of " << ContextName(array.ctx())
                              << ", got an array over memory of somebody else's";
  }
  return memory;
}

Written AllOf(const NDArray& array) {
  const ArrayObject* root = RootOf(reinterpret_cast<const ArrayObject*>(array.get()));
  const auto bytes = static_cast<size_t>(array.size() * ItemSize(array.dtype()));
  // A contiguous view that has as many bytes as the memory covers all of it.
  return {MemoryOf(array), bytes != root->owner_size || !IsContiguous(array.tensor())};
}

Span SpanOf(const DLTensor& tensor) {
  const int64_t item = ItemSize(tensor.dtype);
  int64_t low = 0;
  int64_t high = 0;
  for (int i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return {0, 0};
    const int64_t reach = (tensor.shape[i] - 1) * tensor.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  return {low * item, (high - low + 1) * item};
}

bool MayShare(const NDArray& a, const NDArray& b) {
  const Location first = LocationOf(a.get());
  const Location second = LocationOf(b.get());
  if (first.data != second.data || a.ctx() != b.ctx()) return false;
  const Span first_span = SpanOf(a.tensor());
  const Span second_span = SpanOf(b.tensor());
  const int64_t first_begin = static_cast<int64_t>(first.byte_offset) + first_span.begin;
  const int64_t second_begin = static_cast<int64_t>(second.byte_offset) + second_span.begin;
  return first_begin < second_begin + second_span.size &&
         second_begin < first_begin + first_span.size;
}

}  // namespace acc
}  // namespace mxnet
