/*!
 * \file tensors.h
 * \brief Arrays as accelerator libraries see them.
 */
#ifndef MXNET_SRC_ACC_DEVICE_TENSORS_H_
#define MXNET_SRC_ACC_DEVICE_TENSORS_H_

#include <mxnet/runtime/ndarray.h>
#include <mxnet_acc.h>

#include "acc/device/provider.h"
#include "acc/plugin/status.h"
#include "runtime/ndarray/ndarray.h"

namespace mxnet {
namespace acc {

/*! \brief Where an array's elements are: what mx_alloc gave, and the bytes from there. */
struct Place {
  void* data;
  uint64_t byte_offset;
};

/*! \brief Where they are on an accelerator: a handle with an offset, never a sum. */
inline Place DevicePlaceOf(const ArrayObject* array) {
  void* handle = RootOf(array)->visible.tensor.data;
  const auto distance =
      reinterpret_cast<intptr_t>(array->visible.tensor.data) - reinterpret_cast<intptr_t>(handle);
  return {handle, static_cast<uint64_t>(distance)};
}

inline Place PlaceOf(const void* array) {
  const auto* object = static_cast<const ArrayObject*>(array);
  const DLTensor& tensor = object->visible.tensor;
  if (tensor.device.device_type == kDLCPU) return {tensor.data, tensor.byte_offset};
  return DevicePlaceOf(object);
}

/*! \brief A geometry without elements; shape and strides are borrowed. */
MXTensor GeometryOf(const DLTensor& tensor);

/*! \brief An array with its elements. */
MXTensor TensorOf(const NDArray& array);

/*! \brief The memory of an array on an accelerator; ValueError where that is not of its device. */
DeviceMemory* MemoryOf(const NDArray& array);

/*! \brief What writing to all elements of an array on an accelerator writes to. */
Written AllOf(const NDArray& array);

/*! \brief Bytes from the first element of the memory to the lowest of a view, and its extent. */
struct Span {
  int64_t begin;
  int64_t size;
};
Span SpanOf(const DLTensor& tensor);

/*! \brief Whether two arrays of accelerators may have bytes in common. */
bool MayShare(const NDArray& a, const NDArray& b);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_TENSORS_H_
