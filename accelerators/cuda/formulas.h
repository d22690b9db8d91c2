/*!
 * \file formulas.h
 * \brief The formulas of elementwise operators.
 */
#ifndef CUDAACC_FORMULAS_H_
#define CUDAACC_FORMULAS_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../sdk/operators/elementwise.h"
#include "host_device.h"

namespace cudaacc {

using mxacc::Formula;
// Each for float and double, which names of C are not.
using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::cbrt;
using std::ceil;
using std::copysign;
using std::cos;
using std::cosh;
using std::exp;
using std::exp2;
using std::expm1;
using std::fabs;
using std::floor;
using std::fmod;
using std::hypot;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::pow;
using std::rint;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

// Integers without a sign are not below 0, and formulas ask all the same.
#ifdef __CUDACC__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 186
#endif

template <typename C_>
struct Formulas {
  using C = C_;
  using W = uint64_t;
  using U = uint64_t;
  static constexpr uint64_t BITS = 64;
  static constexpr bool kOfBool = std::is_same_v<C, int64_t>;
  static constexpr bool kOfInt = std::is_integral_v<C>;
  static constexpr bool kOfFloat = std::is_floating_point_v<C>;

#define HELPER(name, ...) CUDAACC_BOTH static __VA_ARGS__
#define FORMULA(name, family, ...)
#include "../sdk/operators/formulas.inc"
#undef FORMULA
#undef HELPER

  /*! \brief Of the operands as elements of the type that the formula is computed in. */
  CUDAACC_BOTH static C Apply(Formula formula, C a, C b, C c) {
    (void)b, (void)c;
    switch (formula) {
#define HELPER(name, ...)
#define FORMULA(name, family, ...)                                 \
  case Formula::k_##name##_##family:                               \
    if constexpr (kOf##family) return static_cast<C>(__VA_ARGS__); \
    break;
#include "../sdk/operators/formulas.inc"
#undef FORMULA
#undef HELPER
    }
    return a;
  }
};

#ifdef __CUDACC__
#pragma nv_diagnostic pop
#endif

}  // namespace cudaacc

#endif  // CUDAACC_FORMULAS_H_
