/*!
 * \file formula.h
 * \brief Elementwise operators as mxnet/op/formulas.inc describes them.
 */
#ifndef MXNET_SRC_OP_SEMANTICS_FORMULA_H_
#define MXNET_SRC_OP_SEMANTICS_FORMULA_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/op/formulas.h>

#include <string_view>
#include <type_traits>

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
  };
#include <mxnet/op/formulas.inc>

}  // namespace formulas

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SEMANTICS_FORMULA_H_
