/*!
 * \file arrays.h
 * \brief Arrays on accelerators: their memory, and the tensors that libraries get for them.
 */
#ifndef MXNET_SRC_ACC_DEVICE_ARRAYS_H_
#define MXNET_SRC_ACC_DEVICE_ARRAYS_H_

#include <mxnet/runtime/ndarray.h>
#include <mxnet_acc.h>

#include "acc/device/device.h"
#include "acc/plugin/status.h"
#include "runtime/core/devices.h"
#include "runtime/ndarray/ndarray.h"

namespace mxnet {
namespace acc {

inline constexpr Context kHost{kDLCPU, 0};

/*! \brief The release of arrays on accelerators, whose owner is a DeviceMemory. */
void ReleaseMemory(void* owner, size_t);

/*! \brief Memory of an accelerator in the form of the runtime. */
inline DeviceBlock BlockOf(DeviceMemory* memory) { return {memory->data, memory, &ReleaseMemory}; }

/*!
 * \brief The accelerator's memory that an array or view is in; NULL where it is in other
 * memory.
 */
inline DeviceMemory* MemoryOf(const ArrayObject* array) {
  const ArrayObject* root = RootOf(array);
  return root->release == &ReleaseMemory ? static_cast<DeviceMemory*>(root->owner) : nullptr;
}

/*!
 * \brief The device whose memory an array has; NULL where it has other memory, or where the device
 * is not there any more, as in a child of fork. As long as the array lives the device stays loaded.
 */
Device* DeviceOf(const ArrayObject* array);

/*! \brief Where an array's elements are: what mx_alloc gave, and the bytes from there. */
struct Location {
  void* data;
  uint64_t byte_offset;
};

/*! \brief The location of an array on an accelerator: a handle and an offset, which are never
 * added. */
inline Location DeviceLocationOf(const ArrayObject* array) {
  void* handle = RootOf(array)->visible.tensor.data;
  const auto distance =
      reinterpret_cast<intptr_t>(array->visible.tensor.data) - reinterpret_cast<intptr_t>(handle);
  return {handle, static_cast<uint64_t>(distance)};
}

inline Location LocationOf(const void* array) {
  const auto* object = static_cast<const ArrayObject*>(array);
  const DLTensor& tensor = object->visible.tensor;
  if (tensor.device.device_type == kDLCPU) return {tensor.data, tensor.byte_offset};
  return DeviceLocationOf(object);
}

/*! \brief A tensor without elements; shape and strides are borrowed. */
MXTensor WithoutElements(const DLTensor& tensor);

/*! \brief An array with its elements. */
MXTensor TensorOf(const NDArray& array);

/*! \brief The memory of an array on an accelerator; ValueError where that is not of its device. */
DeviceMemory* MemoryOf(const NDArray& array);

/*! \brief The part of the memory that writing all elements of an array changes. */
Written AllOf(const NDArray& array);

/*! \brief The bytes that a view spans, as an offset into the memory and a count. */
struct Span {
  int64_t begin;
  int64_t size;
};
Span SpanOf(const DLTensor& tensor);

/*! \brief Whether two arrays of accelerators may have bytes in common. */
bool MayShare(const NDArray& a, const NDArray& b);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_ARRAYS_H_
