/*!
 * \file mxnet/runtime/type_traits/number.h
 * \brief Integers, floating point and complex numbers, and bool.
 */
#ifndef MXNET_RUNTIME_TYPE_TRAITS_NUMBER_H_
#define MXNET_RUNTIME_TYPE_TRAITS_NUMBER_H_

#include <mxnet/runtime/type_traits/base.h>

#include <string>
#include <type_traits>
#include <utility>

namespace mxnet {
namespace runtime MXNET_HIDDEN {

template <>
struct TypeTraits<bool> {
  [[gnu::cold]] static std::string Name() { return "bool"; }
  [[gnu::cold]] static std::string Annotation() { return "bool"; }
  static Match TryFrom(const MXNetValue& value, int type_code, bool* out) {
    if (type_code != kMXNetBool) return Match::kWrongType;
    *out = value.v_int64 != 0;
    return Match::kOk;
  }
  static void Store(bool value, MXNetAny* out) {
    out->type_code = kMXNetBool;
    out->value.v_int64 = value ? 1 : 0;
  }
};

template <typename T>
struct TypeTraits<T, std::enable_if_t<std::is_integral_v<T>>> {
  [[gnu::cold]] static std::string Name() {
    if (std::is_same_v<T, int64_t>) return "int";
    return (std::is_signed_v<T> ? "int (int" : "int (uint") + std::to_string(sizeof(T) * 8) + ")";
  }
  [[gnu::cold]] static std::string Annotation() { return "int"; }
  static Match TryFrom(const MXNetValue& value, int type_code, T* out) {
    if (type_code == kMXNetInt || type_code == kMXNetBool || type_code == kMXNetEnum) {
      *out = static_cast<T>(value.v_int64);
      const bool same_sign = std::is_signed_v<T> || value.v_int64 >= 0;
      return static_cast<int64_t>(*out) == value.v_int64 && same_sign ? Match::kOk
                                                                      : Match::kOutOfRange;
    }
    if (type_code != kMXNetUInt) return Match::kWrongType;
    *out = static_cast<T>(value.v_uint64);
    return std::is_same_v<T, uint64_t> ? Match::kOk : Match::kOutOfRange;
  }
  static void Store(T value, MXNetAny* out) {
    const bool large = std::is_unsigned_v<T> && static_cast<uint64_t>(value) > INT64_MAX;
    out->type_code = large ? kMXNetUInt : kMXNetInt;
    out->value.v_int64 = static_cast<int64_t>(value);
  }
};

template <typename T>
struct TypeTraits<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  [[gnu::cold]] static std::string Name() { return "float"; }
  [[gnu::cold]] static std::string Annotation() { return "float"; }
  static Match TryFrom(const MXNetValue& value, int type_code, T* out) {
    if (type_code == kMXNetFloat) {
      if (IsTooLarge(value.v_float64)) return Match::kOutOfRange;
      *out = static_cast<T>(value.v_float64);
    } else if (type_code == kMXNetInt || type_code == kMXNetBool || type_code == kMXNetEnum) {
      *out = static_cast<T>(value.v_int64);
    } else if (type_code == kMXNetUInt) {
      *out = static_cast<T>(value.v_uint64);
    } else {
      return Match::kWrongType;
    }
    return Match::kOk;
  }
  static void Store(T value, MXNetAny* out) {
    out->type_code = kMXNetFloat;
    out->value.v_float64 = static_cast<double>(value);
  }

 private:
  /*! \brief Whether a finite number would become an infinite one: never a double. */
  static bool IsTooLarge(double value) {
    if constexpr (sizeof(T) >= sizeof(double)) {
      return false;
    } else {
      // From half a unit beyond the largest float on, numbers are rounded to infinity.
      constexpr double kBound = 0x1.ffffffp127;
      const double magnitude = value < 0 ? -value : value;
      return magnitude >= kBound && magnitude <= 0x1.fffffffffffffp1023;
    }
  }
};

/*!
 * \brief std::complex<double>, told by what it has: <complex> takes longer to read than all of
 * these headers, and whoever uses it has included it.
 */
template <template <typename> class Complex>
struct TypeTraits<
    Complex<double>,
    std::enable_if_t<std::is_same_v<decltype(std::declval<Complex<double>>().real()), double>>> {
  [[gnu::cold]] static std::string Name() { return "complex"; }
  [[gnu::cold]] static std::string Annotation() { return "complex"; }
  static Match TryFrom(const MXNetValue& value, int type_code, Complex<double>* out) {
    if (type_code == kMXNetComplex) {
      *out = {value.v_complex[0], value.v_complex[1]};
      return Match::kOk;
    }
    double real = 0;
    Match match = TypeTraits<double>::TryFrom(value, type_code, &real);
    *out = real;
    return match;
  }
  static void Store(Complex<double> value, MXNetAny* out) {
    out->type_code = kMXNetComplex;
    out->value.v_complex[0] = value.real();
    out->value.v_complex[1] = value.imag();
  }
};

}  // namespace runtime MXNET_HIDDEN
}  // namespace mxnet

#endif  // MXNET_RUNTIME_TYPE_TRAITS_NUMBER_H_
