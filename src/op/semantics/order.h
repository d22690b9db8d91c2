/*!
 * \file order.h
 * \brief NaN and order of numbers; complex numbers by real, then imaginary part.
 */
#ifndef MXNET_SRC_OP_SEMANTICS_ORDER_H_
#define MXNET_SRC_OP_SEMANTICS_ORDER_H_

#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

template <typename T>
inline bool IsNan(T value) noexcept {
  if constexpr (kIsComplexType<T>) {
    return value.real() != value.real() || value.imag() != value.imag();
  } else {
    return value != value;
  }
}

template <typename T>
inline bool LessValue(T a, T b) noexcept {
  if constexpr (kIsComplexType<T>) {
    const bool imag_known = a.imag() == a.imag() && b.imag() == b.imag();
    return (a.real() < b.real() && imag_known) || (a.real() == b.real() && a.imag() < b.imag());
  } else {
    return a < b;
  }
}

template <typename T>
inline bool LessEqualValue(T a, T b) noexcept {
  if constexpr (kIsComplexType<T>) {
    const bool imag_known = a.imag() == a.imag() && b.imag() == b.imag();
    return (a.real() < b.real() && imag_known) || (a.real() == b.real() && a.imag() <= b.imag());
  } else {
    return a <= b;
  }
}

template <typename T>
inline bool GreaterValue(T a, T b) noexcept {
  return LessValue(b, a);
}

template <typename T>
inline bool GreaterEqualValue(T a, T b) noexcept {
  return LessEqualValue(b, a);
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SEMANTICS_ORDER_H_
