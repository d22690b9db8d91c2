/*!
 * \file formula.h
 * \brief Elementwise operators and reductions as mxnet/op/formulas.inc describes them.
 */
#ifndef MXNET_SRC_OP_SEMANTICS_FORMULA_H_
#define MXNET_SRC_OP_SEMANTICS_FORMULA_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/op/formulas.h>

#include <complex>
#include <string_view>
#include <type_traits>

#include "op/semantics/order.h"
#include "op/semantics/promotion.h"

namespace mxnet {
namespace op {

/*! \brief The type of an elementwise result, by the one that is computed in. */
enum class ResultRule {
  kSame,
  kBool,
  kReal /*!< the component type of a complex type */
};

inline DLDataType ResultDType(ResultRule rule, DLDataType dtype) {
  if (rule == ResultRule::kSame) return dtype;
  return rule == ResultRule::kBool ? kBool : RealOfDType(dtype);
}

enum class FormulaFamily { kBool, kInt, kFloat };

/*! \brief Whether there is a formula of that name for a family. */
constexpr bool HasFormula(std::string_view name, FormulaFamily family) {
  constexpr struct {
    std::string_view name;
    FormulaFamily family;
  } kFormulas[] = {
#define MXNET_FORMULA(name, family, ...) {#name, FormulaFamily::k##family},
#include <mxnet/op/formulas.inc>
  };
  for (const auto& formula : kFormulas) {
    if (formula.family == family && formula.name == name) return true;
  }
  return false;
}

/*! \brief The family of what is computed in C. */
template <typename C>
constexpr FormulaFamily kFamilyOf = std::is_same_v<C, bool> ? FormulaFamily::kBool
                                    : std::is_integral_v<C> ? FormulaFamily::kInt
                                                            : FormulaFamily::kFloat;

/*!
 * \brief A struct for each operator, by its name.
 *
 * Apply gives one element of the result; of complex numbers it does what the formula of floats
 * means in C++. An operator of which that is another has an Apply of its own besides.
 */
namespace formulas {

#define MXNET_ELEMENTWISE(name, operands, rule, result)                                \
  struct name {                                                                        \
    static constexpr MXNetTypeRule kRule = kMXNetTypes##rule;                          \
    static constexpr ResultRule kResult = ResultRule::k##result;                       \
    /*! \brief Whether the operator is there for a type that is computed with as C. */ \
    template <typename C>                                                              \
    static constexpr bool kHas = HasFormula(#name, kFamilyOf<C>);                      \
                                                                                       \
    template <typename C, typename... Cs>                                              \
    static MXNET_FORMULA_INLINE auto Apply(C a, Cs... others) {                        \
      using R = std::conditional_t<kResult == ResultRule::kBool, bool, C>;             \
      if constexpr (kFamilyOf<C> == FormulaFamily::kBool) {                            \
        return static_cast<R>(Formulas<C>::name##_Bool(a, others...));                 \
      } else if constexpr (kFamilyOf<C> == FormulaFamily::kInt) {                      \
        return static_cast<R>(Formulas<C>::name##_Int(a, others...));                  \
      } else {                                                                         \
        return static_cast<R>(Formulas<C>::name##_Float(a, others...));                \
      }                                                                                \
    }                                                                                  \
    /*! \brief The result for bools that are 0 or 1 in words of some width. */         \
    template <typename Word, typename... Words>                                        \
    static MXNET_FORMULA_INLINE Word OfTruths(Word a, Words... others) {               \
      return static_cast<Word>(Formulas<Word>::name##_Bool(a, others...));             \
    }                                                                                  \
  };
#include <mxnet/op/formulas.inc>

/*! \brief The formula of that name for what is computed in C, as a bool. */
#define MXNET_TELLS_WHICH(name)                                   \
  struct name {                                                   \
    template <typename C>                                         \
    static MXNET_FORMULA_INLINE bool Apply(C a, C b) {            \
      if constexpr (kFamilyOf<C> == FormulaFamily::kBool) {       \
        return Formulas<C>::name##_Bool(a, b);                    \
      } else if constexpr (kFamilyOf<C> == FormulaFamily::kInt) { \
        return Formulas<C>::name##_Int(a, b);                     \
      } else {                                                    \
        return Formulas<C>::name##_Float(a, b);                   \
      }                                                           \
    }                                                             \
  };
MXNET_TELLS_WHICH(is_larger)
MXNET_TELLS_WHICH(is_smaller)
#undef MXNET_TELLS_WHICH

}  // namespace formulas

/*! \brief An operator that has another meaning for complex numbers than its formula of floats: a
 * specialization has that besides. */
template <typename Op>
struct WithComplex : Op {};

template <>
struct WithComplex<formulas::multiply> : formulas::multiply {
  using formulas::multiply::Apply;
  /*! \brief std::complex's own product checks for NaN, which NumPy's does not and costs a call. */
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> a, std::complex<Part> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};

template <>
struct WithComplex<formulas::maximum> : formulas::maximum {
  using formulas::maximum::Apply;
  template <typename Part>
  static std::complex<Part> Apply(const std::complex<Part>& a, const std::complex<Part>& b) {
    return IsNan(a) || GreaterEqualValue(a, b) ? a : b;
  }
};

template <>
struct WithComplex<formulas::minimum> : formulas::minimum {
  using formulas::minimum::Apply;
  template <typename Part>
  static std::complex<Part> Apply(const std::complex<Part>& a, const std::complex<Part>& b) {
    return IsNan(a) || LessEqualValue(a, b) ? a : b;
  }
};

template <>
struct WithComplex<formulas::is_larger> : formulas::is_larger {
  using formulas::is_larger::Apply;
  template <typename Part>
  static bool Apply(std::complex<Part> a, std::complex<Part> b) {
    return !IsNan(a) && (IsNan(b) || GreaterValue(b, a));
  }
};

template <>
struct WithComplex<formulas::is_smaller> : formulas::is_smaller {
  using formulas::is_smaller::Apply;
  template <typename Part>
  static bool Apply(std::complex<Part> a, std::complex<Part> b) {
    return !IsNan(a) && (IsNan(b) || LessValue(b, a));
  }
};

/*! \brief What combines two elements, or the results of some, by the name of a reduction. */
namespace reductions {

#define MXNET_REDUCTION(name, formula) using name = WithComplex<formulas::formula>;
#include <mxnet/op/formulas.inc>

}  // namespace reductions

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SEMANTICS_FORMULA_H_
