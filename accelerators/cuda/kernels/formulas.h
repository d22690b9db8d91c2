/*!
 * \file formulas.h
 * \brief The formulas of elementwise operators and reductions.
 */
#ifndef CUDAACC_FORMULAS_H_
#define CUDAACC_FORMULAS_H_

#include <type_traits>

#include "../../sdk/operators/elementwise.h"
#include "host_device.h"

// Integers without a sign are not below 0, and formulas ask all the same.
#ifdef __CUDACC__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 186
#endif
#include <mxnet/op/formulas.h>

namespace cudaacc {

using mxacc::Formula;

template <typename C>
struct Formulas {
  static constexpr bool kOfBool = std::is_same_v<C, int64_t>;
  static constexpr bool kOfInt = std::is_integral_v<C>;
  static constexpr bool kOfFloat = std::is_floating_point_v<C>;

  /*! \brief Of the operands as elements of the type that the formula is computed in. */
  CUDAACC_BOTH static C Apply(Formula formula, C a, C b, C c) {
    switch (formula) {
#define MXNET_FORMULA(name, family, ...)                                       \
  case Formula::k_##name##_##family:                                           \
    if constexpr (kOf##family) {                                               \
      return static_cast<C>(mxnet::op::Formulas<C>::name##_##family(a, b, c)); \
    }                                                                          \
    break;
#include <mxnet/op/formulas.inc>
    }
    return a;
  }
};

/*! \brief The formulas of reductions, by the name of the reduction. */
template <typename C>
struct Reductions {
#define MXNET_REDUCTION(name, formula)                                      \
  CUDAACC_BOTH static C name(C a, C b) {                                    \
    if constexpr (std::is_integral_v<C>) {                                  \
      return static_cast<C>(mxnet::op::Formulas<C>::formula##_Int(a, b));   \
    } else {                                                                \
      return static_cast<C>(mxnet::op::Formulas<C>::formula##_Float(a, b)); \
    }                                                                       \
  }
#include <mxnet/op/formulas.inc>
};

}  // namespace cudaacc

#ifdef __CUDACC__
#pragma nv_diagnostic pop
#endif

#endif  // CUDAACC_FORMULAS_H_
