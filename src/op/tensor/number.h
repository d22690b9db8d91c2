/*!
 * \file number.h
 * \brief Python numbers: their kind, and what elements they become.
 */
#ifndef MXNET_SRC_OP_TENSOR_NUMBER_H_
#define MXNET_SRC_OP_TENSOR_NUMBER_H_

#include <mxnet/runtime/type_traits.h>

#include <cmath>
#include <string>

#include "op/semantics/promotion.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace internal {

[[noreturn, gnu::cold]] inline void ThrowNumberOutOfBounds(const std::string& number,
                                                           DLDataType dtype) {
  MXNET_THROW("OverflowError") << "Python integer " << number << " out of bounds for "
                               << DataTypeName(dtype);
}

template <typename T>
T IntegerAs(int64_t value) {
  const T out = static_cast<T>(value);
  if (static_cast<int64_t>(out) != value || (std::is_unsigned_v<T> && value < 0)) {
    ThrowNumberOutOfBounds(std::to_string(value), DTypeOf<T>());
  }
  return out;
}

template <typename T>
T FloatAsInteger(double value) {
  if (std::isnan(value)) MXNET_THROW("ValueError") << "cannot convert float NaN to integer";
  if (std::isinf(value)) MXNET_THROW("OverflowError") << "cannot convert float infinity to integer";
  if (std::is_same_v<T, uint64_t> && value >= 0x1p63 && value < 0x1p64) {
    return static_cast<T>(value);
  }
  if (!(value >= -0x1p63 && value < 0x1p63)) {
    MXNET_THROW("OverflowError") << "Python float " << value << " out of bounds for "
                                 << DataTypeName(DTypeOf<T>());
  }
  return IntegerAs<T>(static_cast<int64_t>(value));
}

}  // namespace internal

/*! \brief The kind of a Python number, bools included; kNone for any other value. */
inline WeakKind KindOfNumber(int type_code) noexcept {
  switch (type_code) {
    case kMXNetBool:
      return WeakKind::kBool;
    case kMXNetInt:
    case kMXNetUInt:
      return WeakKind::kInt;
    case kMXNetFloat:
      return WeakKind::kFloat;
    case kMXNetComplex:
      return WeakKind::kComplex;
    default:
      return WeakKind::kNone;
  }
}

inline bool IsNumber(int type_code) noexcept { return KindOfNumber(type_code) != WeakKind::kNone; }

/*! \brief The type that one Python number has on its own. */
inline DLDataType DTypeOfNumber(int type_code) {
  return type_code == kMXNetUInt ? kUInt64 : DefaultDType(KindOfNumber(type_code));
}

/*!
 * \brief A Python number as an element, as NumPy's assignment has it.
 *
 * OverflowError for an int that does not fit, ValueError for NaN to an integer type, TypeError for
 * a complex number to a real type and for what is no number.
 */
template <typename T>
T NumberAs(const MXNetValue& value, int type_code) {
  switch (type_code) {
    case kMXNetBool:
    case kMXNetInt:
      if constexpr (kIsIntType<T>) return internal::IntegerAs<T>(value.v_int64);
      return CastValue<T>(value.v_int64);
    case kMXNetUInt:
      if constexpr (kIsIntType<T> && !std::is_same_v<T, uint64_t>) {
        internal::ThrowNumberOutOfBounds(std::to_string(value.v_uint64), DTypeOf<T>());
      }
      return CastValue<T>(value.v_uint64);
    case kMXNetFloat:
      if constexpr (kIsIntType<T>) return internal::FloatAsInteger<T>(value.v_float64);
      return CastValue<T>(value.v_float64);
    case kMXNetComplex:
      if constexpr (kIsComplexType<T> || std::is_same_v<T, bool>) {
        return CastValue<T>(Complex128(value.v_complex[0], value.v_complex[1]));
      }
      [[fallthrough]];
    default:
      MXNET_THROW("TypeError") << "an element of type " << DataTypeName(DTypeOf<T>())
                               << " must be a real number, not " << TypeNameOf(value, type_code);
  }
}

/*! \brief Writes a Python number as one element of dtype; errors of NumberAs. */
void StoreNumber(const MXNetValue& value, int type_code, DLDataType dtype, void* out);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_TENSOR_NUMBER_H_
