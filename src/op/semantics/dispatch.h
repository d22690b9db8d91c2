/*!
 * \file dispatch.h
 * \brief From the element type of an array to a C++ type.
 */
#ifndef MXNET_SRC_OP_SEMANTICS_DISPATCH_H_
#define MXNET_SRC_OP_SEMANTICS_DISPATCH_H_

#include <mxnet/runtime/data_type.h>

#include <complex>
#include <cstdint>
#include <type_traits>

#include "op/semantics/half.h"

namespace mxnet {
namespace op {

using namespace ::mxnet::runtime;  // NOLINT(build/namespaces): operators speak the runtime's terms
using runtime::operator==;
using runtime::operator!=;

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

/*! \brief Dense number of a data type, for tables. */
enum DTypeIndex : int {
  kIndexBool = 0,
  kIndexInt8,
  kIndexInt16,
  kIndexInt32,
  kIndexInt64,
  kIndexUInt8,
  kIndexUInt16,
  kIndexUInt32,
  kIndexUInt64,
  kIndexFloat16,
  kIndexBFloat16,
  kIndexFloat32,
  kIndexFloat64,
  kIndexComplex64,
  kIndexComplex128,
  kNumDTypes
};

constexpr DLDataType kDTypes[kNumDTypes] = {kBool,     kInt8,    kInt16,   kInt32,     kInt64,
                                            kUInt8,    kUInt16,  kUInt32,  kUInt64,    kFloat16,
                                            kBFloat16, kFloat32, kFloat64, kComplex64, kComplex128};

/*! \brief The DTypeIndex of a data type, -1 for one that operators do not know. */
inline int IndexOfDType(DLDataType dtype) noexcept {
  // Rows are type codes, columns log2 of the size in bytes.
  static constexpr int8_t kIndices[7][5] = {
      {kIndexInt8, kIndexInt16, kIndexInt32, kIndexInt64, -1},
      {kIndexUInt8, kIndexUInt16, kIndexUInt32, kIndexUInt64, -1},
      {-1, kIndexFloat16, kIndexFloat32, kIndexFloat64, -1},
      {-1, -1, -1, -1, -1},
      {-1, kIndexBFloat16, -1, -1, -1},
      {-1, -1, -1, kIndexComplex64, kIndexComplex128},
      {kIndexBool, -1, -1, -1, -1},
  };
  const unsigned bits = dtype.bits;
  if (dtype.code > kDLBool || dtype.lanes != 1 || bits < 8 || bits > 128 ||
      (bits & (bits - 1)) != 0) {
    return -1;
  }
  return kIndices[dtype.code][__builtin_ctz(bits) - 3];
}

[[noreturn]] inline void ThrowUnsupportedDType(DLDataType dtype) {
  MXNET_THROW("TypeError") << "data type " << DataTypeName(dtype) << " is not supported";
}

/*! \brief The DTypeIndex of a data type; TypeError for one that operators do not know. */
inline int CheckedIndexOfDType(DLDataType dtype) {
  const int index = IndexOfDType(dtype);
  if (index < 0) ThrowUnsupportedDType(dtype);
  return index;
}

template <typename T>
struct TypeTag {
  using type = T;
};

/*! \brief Calls f(TypeTag<T>{}) with the C++ type of a data type; TypeError if there is none. */
template <typename F>
decltype(auto) DispatchDType(DLDataType dtype, F&& f) {
  switch (IndexOfDType(dtype)) {
    case kIndexBool:
      return f(TypeTag<bool>{});
    case kIndexInt8:
      return f(TypeTag<int8_t>{});
    case kIndexInt16:
      return f(TypeTag<int16_t>{});
    case kIndexInt32:
      return f(TypeTag<int32_t>{});
    case kIndexInt64:
      return f(TypeTag<int64_t>{});
    case kIndexUInt8:
      return f(TypeTag<uint8_t>{});
    case kIndexUInt16:
      return f(TypeTag<uint16_t>{});
    case kIndexUInt32:
      return f(TypeTag<uint32_t>{});
    case kIndexUInt64:
      return f(TypeTag<uint64_t>{});
    case kIndexFloat16:
      return f(TypeTag<Half>{});
    case kIndexBFloat16:
      return f(TypeTag<BFloat16>{});
    case kIndexFloat32:
      return f(TypeTag<float>{});
    case kIndexFloat64:
      return f(TypeTag<double>{});
    case kIndexComplex64:
      return f(TypeTag<Complex64>{});
    case kIndexComplex128:
      return f(TypeTag<Complex128>{});
    default:
      ThrowUnsupportedDType(dtype);
  }
}

namespace internal {

template <typename T>
struct DTypeIndexOf;
#define MXNET_DTYPE_INDEX(T, Index) \
  template <>                       \
  struct DTypeIndexOf<T> : std::integral_constant<int, Index> {};
MXNET_DTYPE_INDEX(bool, kIndexBool)
MXNET_DTYPE_INDEX(int8_t, kIndexInt8)
MXNET_DTYPE_INDEX(int16_t, kIndexInt16)
MXNET_DTYPE_INDEX(int32_t, kIndexInt32)
MXNET_DTYPE_INDEX(int64_t, kIndexInt64)
MXNET_DTYPE_INDEX(uint8_t, kIndexUInt8)
MXNET_DTYPE_INDEX(uint16_t, kIndexUInt16)
MXNET_DTYPE_INDEX(uint32_t, kIndexUInt32)
MXNET_DTYPE_INDEX(uint64_t, kIndexUInt64)
MXNET_DTYPE_INDEX(Half, kIndexFloat16)
MXNET_DTYPE_INDEX(BFloat16, kIndexBFloat16)
MXNET_DTYPE_INDEX(float, kIndexFloat32)
MXNET_DTYPE_INDEX(double, kIndexFloat64)
MXNET_DTYPE_INDEX(Complex64, kIndexComplex64)
MXNET_DTYPE_INDEX(Complex128, kIndexComplex128)
#undef MXNET_DTYPE_INDEX

}  // namespace internal

/*! \brief The data type of a C++ element type. */
template <typename T>
constexpr DLDataType DTypeOf() noexcept {
  return kDTypes[internal::DTypeIndexOf<T>::value];
}

template <typename T>
constexpr bool kIsComplexType = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;
/*! \brief Half and BFloat16, which are stored in two bytes and computed with as float. */
template <typename T>
constexpr bool kIsHalfType = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <typename T>
constexpr bool kIsFloatType = std::is_floating_point_v<T> || kIsHalfType<T>;
/*! \brief Integers, bool not among them. */
template <typename T>
constexpr bool kIsIntType = std::is_integral_v<T> && !std::is_same_v<T, bool>;

inline bool IsBoolDType(DLDataType dtype) noexcept { return dtype.code == kDLBool; }
inline bool IsIntDType(DLDataType dtype) noexcept {
  return dtype.code == kDLInt || dtype.code == kDLUInt;
}
inline bool IsFloatDType(DLDataType dtype) noexcept {
  return dtype.code == kDLFloat || dtype.code == kDLBfloat;
}
inline bool IsComplexDType(DLDataType dtype) noexcept { return dtype.code == kDLComplex; }

/*! \brief Room for one element of any data type. */
struct alignas(16) ElementBuffer {
  char bytes[16];
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SEMANTICS_DISPATCH_H_
