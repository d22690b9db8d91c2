/*!
 * \file mxnet/runtime/tensor_check.h
 * \brief Looks at a tensor that others describe, once, before anything is computed from its layout.
 */
#ifndef MXNET_RUNTIME_TENSOR_CHECK_H_
#define MXNET_RUNTIME_TENSOR_CHECK_H_

#include <mxnet/runtime/extents.h>
#include <mxnet/runtime/ndarray.h>

#include <string>

namespace mxnet {
namespace runtime {

/*!
 * \brief Whether a tensor in memory of the CPU is row-major, has elements, and can be read.
 *
 * Most borrowed tensors are so, which this tells in a few instructions an axis; it is false for all
 * that CheckTensor rejects, and for many that it accepts.
 */
inline bool IsPlainTensor(const DLTensor& tensor) noexcept {
  if (static_cast<uint32_t>(tensor.ndim) > uint32_t{kMaxNdim} || tensor.strides == nullptr ||
      tensor.shape == nullptr || tensor.device.device_type != kDLCPU || tensor.byte_offset != 0) {
    return false;
  }
  int64_t size = 1;
  for (int i = tensor.ndim; i-- > 0;) {
    const int64_t extent = tensor.shape[i];
    if (extent <= 0 || tensor.strides[i] != size || __builtin_mul_overflow(size, extent, &size)) {
      return false;
    }
  }
  const DLDataType dtype = tensor.dtype;
  if ((dtype.bits & 7) != 0 || dtype.bits == 0 || dtype.lanes != 1) return false;
  const uint64_t begin = reinterpret_cast<uintptr_t>(tensor.data);
  uint64_t end;
  return begin != 0 && !__builtin_mul_overflow(size, int64_t{dtype.bits >> 3}, &size) &&
         !__builtin_add_overflow(begin, static_cast<uint64_t>(size), &end);
}

namespace details MXNET_HIDDEN {

enum class TensorFault { kNone, kNdim, kNoShape, kDataType, kExtent, kSize, kReach, kNoMemory };

/*!
 * \brief Whether the bytes from the lowest element to the end of the highest have addresses.
 *
 * A step of a stride has to be a number of bytes even along an axis that nobody steps along.
 */
inline bool HasReach(const DLTensor& tensor, int64_t bytes) noexcept {
  const int64_t item = ItemSize(tensor.dtype);
  int64_t below = 0;
  int64_t above = tensor.strides == nullptr || bytes == 0 ? bytes : item;
  for (int i = 0; tensor.strides != nullptr && i < tensor.ndim; ++i) {
    int64_t step;
    if (__builtin_mul_overflow(tensor.strides[i], item, &step)) return false;
    if (bytes == 0) continue;
    int64_t* side = step < 0 ? &below : &above;
    if (__builtin_mul_overflow(step, tensor.shape[i] - 1, &step)) return false;
    if (__builtin_add_overflow(*side, step, side)) return false;
  }
  uint64_t first;
  uint64_t end;
  return !__builtin_add_overflow(reinterpret_cast<uintptr_t>(tensor.data), tensor.byte_offset,
                                 &first) &&
         first >= uint64_t{0} - static_cast<uint64_t>(below) &&
         !__builtin_add_overflow(first, static_cast<uint64_t>(above), &end);
}

inline TensorFault FindFault(const DLTensor& tensor) noexcept {
  if (tensor.ndim < 0 || tensor.ndim > kMaxNdim) return TensorFault::kNdim;
  if (tensor.ndim > 0 && tensor.shape == nullptr) return TensorFault::kNoShape;
  const DLDataType dtype = tensor.dtype;
  if (dtype.bits == 0 || dtype.bits % 8 != 0 || dtype.lanes == 0) return TensorFault::kDataType;
  for (int64_t extent : TensorShape(tensor)) {
    if (extent < 0) return TensorFault::kExtent;
  }
  int64_t bytes;
  if (!TryBytes(TensorShape(tensor), dtype, &bytes)) return TensorFault::kSize;
  if (!HasReach(tensor, bytes)) return TensorFault::kReach;
  const bool has_memory = tensor.data != nullptr || tensor.device.device_type != kDLCPU;
  return bytes == 0 || has_memory ? TensorFault::kNone : TensorFault::kNoMemory;
}

[[gnu::cold]] inline std::string FaultText(const DLTensor& tensor, TensorFault fault) {
  if (fault == TensorFault::kNdim) {
    return "has " + std::to_string(tensor.ndim) + " axes, expected 0 to " +
           std::to_string(kMaxNdim);
  }
  if (fault == TensorFault::kNoShape) {
    return "has " + std::to_string(tensor.ndim) + " axes and no shape";
  }
  if (fault == TensorFault::kDataType) {
    return "has elements of " + DataTypeName(tensor.dtype) + ", expected whole bytes";
  }
  const std::string shape = "has shape " + TensorShape(tensor).str();
  if (fault == TensorFault::kExtent) return shape + ", expected extents that are not negative";
  if (fault == TensorFault::kNoMemory) return shape + " and no memory";
  if (fault == TensorFault::kSize) {
    return shape + " and data type " + DataTypeName(tensor.dtype) +
           ", which is more than 2**63 - 1 bytes";
  }
  const std::string strides =
      tensor.strides == nullptr
          ? ""
          : ", strides " + ShapeView(tensor.strides, static_cast<size_t>(tensor.ndim)).str();
  return shape + strides + " and offset " + std::to_string(tensor.byte_offset) +
         ", which reaches beyond the address space";
}

[[noreturn, gnu::cold, gnu::noinline]] inline void ThrowFault(const DLTensor& tensor,
                                                              TensorFault fault,
                                                              const std::string& name) {
  const char* kind = fault == TensorFault::kDataType ? "TypeError" : "ValueError";
  MXNET_THROW(kind) << name << " " << FaultText(tensor, fault);
}

}  // namespace details MXNET_HIDDEN

/*! \brief Whether CheckTensor accepts a tensor. */
inline bool IsSoundTensor(const DLTensor& tensor) noexcept {
  return details::FindFault(tensor) == details::TensorFault::kNone;
}

/*!
 * \brief Throws ValueError or TypeError where a tensor cannot be what it says; name is what the
 * message calls it.
 *
 * It has 0 to 64 axes, a shape, elements of whole bytes, extents that are not negative, sizes and
 * strides whose bytes fit 64 bits, and, on the CPU, memory where there are elements. Whether that
 * memory is large enough nobody can know.
 */
inline void CheckTensor(const DLTensor& tensor, const std::string& name) {
  const details::TensorFault fault = details::FindFault(tensor);
  if (fault != details::TensorFault::kNone) details::ThrowFault(tensor, fault, name);
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TENSOR_CHECK_H_
