/*!
 * \file mxnet/runtime/type_traits/tensor.h
 * \brief Arrays, and borrowed tensors.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_TENSOR_H_
#define MXNET_RUNTIME_TYPE_TRAITS_TENSOR_H_

#include <mxnet/runtime/type_traits/base.h>

#include <string>
#include <type_traits>
#include <utility>

namespace mxnet {
namespace runtime MXNET_HIDDEN {

template <>
struct TypeTraits<const DLTensor*> {
  [[gnu::cold]] static std::string Name() { return "ndarray"; }
  [[gnu::cold]] static std::string Annotation() { return "ffi.NDArray"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() { return "ArrayLike"; }
  static constexpr int32_t kRole = kMXNetRoleArray;
  static Match TryFrom(const MXNetValue& value, int type_code, const DLTensor** out) {
    if (type_code == kMXNetNDArrayHandle) {
      *out = &static_cast<const MXNetNDArrayObject*>(value.v_handle)->tensor;
    } else if (type_code == kMXNetBorrowedArray || type_code == kMXNetArrayHandle ||
               type_code == kMXNetReadOnlyArray) {
      *out = static_cast<const DLTensor*>(value.v_handle);
    } else {
      return Match::kWrongType;
    }
    return Match::kOk;
  }
};

template <>
struct TypeTraits<DLTensor*> {
  [[gnu::cold]] static std::string Name() { return "writable ndarray"; }
  [[gnu::cold]] static std::string Annotation() { return "ffi.NDArray"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() { return "ArrayLike"; }
  static constexpr int32_t kRole = kMXNetRoleArray;
  static Match TryFrom(const MXNetValue& value, int type_code, DLTensor** out) {
    if (type_code == kMXNetNDArrayHandle) {
      auto* array = static_cast<MXNetNDArrayObject*>(value.v_handle);
      *out = &array->tensor;
      return (array->flags & kMXNetNDArrayReadOnly) == 0 ? Match::kOk : ReadOnly();
    }
    *out = static_cast<DLTensor*>(value.v_handle);
    if (type_code == kMXNetBorrowedArray) {
      const auto* borrowed = static_cast<const MXNetBorrowedTensor*>(value.v_handle);
      return (borrowed->flags & kMXNetNDArrayReadOnly) == 0 ? Match::kOk : ReadOnly();
    }
    if (type_code == kMXNetReadOnlyArray) return ReadOnly();
    return type_code == kMXNetArrayHandle ? Match::kOk : Match::kWrongType;
  }

 private:
  static Match ReadOnly() {
    MXNET_THROW("ValueError") << "the array is read-only and would be written";
  }
};

template <>
struct TypeTraits<NDArray> {
  [[gnu::cold]] static std::string Name() { return "ndarray"; }
  [[gnu::cold]] static std::string Annotation() { return "ffi.NDArray"; }
  [[gnu::cold]] static std::string ArgumentAnnotation() { return "ArrayLike"; }
  static constexpr int32_t kRole = kMXNetRoleArray;
  static Match TryFrom(const MXNetValue& value, int type_code, NDArray* out) {
    if (type_code == kMXNetArrayHandle || type_code == kMXNetReadOnlyArray) {
      *out = details::CopyOfTensor(*static_cast<const DLTensor*>(value.v_handle));
      return Match::kOk;
    }
    if (type_code == kMXNetBorrowedArray) {
      *out = details::ShareBorrowed(value);
      return Match::kOk;
    }
    return details::TryShare(value, type_code, kMXNetObjectNDArray, out);
  }
  static void Store(NDArray value, MXNetAny* out) { details::StoreObject(std::move(value), out); }
};

namespace details MXNET_HIDDEN {

template <>
struct IsBorrowed<DLTensor*> : std::true_type {};
template <>
struct IsBorrowed<const DLTensor*> : std::true_type {};

}  // namespace details MXNET_HIDDEN

}  // namespace runtime MXNET_HIDDEN
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_TENSOR_H_
