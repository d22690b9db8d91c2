/*!
 * \file arguments.h
 * \brief What quick ways ask of the arguments of a call.
 */
#ifndef MXNET_SRC_API_QUICK_ARGUMENTS_H_
#define MXNET_SRC_API_QUICK_ARGUMENTS_H_

#include <mxnet/op/attributes.h>
#include <mxnet/runtime/packed_func.h>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief The array that an argument is known to be, and whether nobody may write to it. */
inline const DLTensor& ArrayArg(const MXNetArgs& args, int i) {
  return static_cast<const MXNetNDArrayObject*>(args.values[i].v_handle)->tensor;
}

inline bool IsReadOnly(const MXNetArgs& args, int i) {
  const auto* array = static_cast<const MXNetNDArrayObject*>(args.values[i].v_handle);
  return (array->flags & kMXNetNDArrayReadOnly) != 0;
}

/*! \brief The array of the host that an argument is, of a known type; NULL for all else. */
inline const DLTensor* HostArray(const MXNetArgs& args, int i) {
  if (args.type_codes[i] != kMXNetNDArrayHandle) return nullptr;
  const DLTensor& array = ArrayArg(args, i);
  const bool is_ready = array.device.device_type == kDLCPU && IndexOfDType(array.dtype) >= 0;
  return is_ready && IsAligned(array) ? &array : nullptr;
}

/*! \brief An attribute among the arguments, as calls that are not quick read it. */
template <typename T>
[[gnu::always_inline]] inline T ReadAttribute(const MXNetArgs& args, int i) {
  return AttributeTraits<T>::Read(args[i], args.func, i);
}

/*!
 * \brief Where a result is written that shares memory with no input: a new array where argument i
 * is None, or `out` where that is an array of the host that fits as it is; else none.
 */
inline NDArray QuickOutput(const MXNetArgs& args, int i, ShapeView shape, const DLTensor& a,
                           const DLTensor& b) {
  if (args.type_codes[i] == kMXNetNull) return NDArray::Empty(shape, a.dtype, a.device);
  const DLTensor* out = HostArray(args, i);
  if (out == nullptr || out->dtype != a.dtype || TensorShape(*out) != shape) return NDArray();
  NDArray array = args[i].As<NDArray>();
  const bool is_fit = !array.read_only() && IsContiguous(*out);
  return is_fit && !MayOverlap(a, *out) && !MayOverlap(b, *out) ? array : NDArray();
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_QUICK_ARGUMENTS_H_
