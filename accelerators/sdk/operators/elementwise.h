/*!
 * \file elementwise.h
 * \brief Operators that compute each element of the output from one element of each operand.
 */
#ifndef MXACC_SDK_OPERATORS_ELEMENTWISE_H_
#define MXACC_SDK_OPERATORS_ELEMENTWISE_H_

#include <optional>
#include <string>
#include <vector>

#include "axes.h"
#include "number.h"
#include "request.h"

namespace mxacc {

/*! \brief An input that broadcasts to the output, or a number. */
struct Operand {
  const MXAccDLTensor* input; /*!< NULL for a number */
  AttributeValue number;
  DType dtype; /*!< of the input */
};

/*! \brief The formulas of mxnet/op/formulas.inc. */
enum class Formula {
#define MXNET_FORMULA(name, family, ...) k_##name##_##family,
#include <mxnet/op/formulas.inc>
};

/*! \brief An operator on its operands, at most three. */
struct Elementwise {
  std::vector<Operand> operands; /*!< none where the output may be anything */
  Formula formula{};
  std::vector<DType> dtypes; /*!< that the operands are converted to; the last is computed in */
  DType result{};
};

constexpr int kMaxOperands = 3;

/*! \brief The formula of that name for elements of a type; kMXAccUnsupported where there is none.
 */
Formula FormulaOf(const std::string& name, DType dtype);

/*! \brief What an operator is, if it is one of these. */
std::optional<Elementwise> FindElementwise(const Request& request);

/*! \brief The axes of the output, which is the first tensor, and of the inputs among the operands.
 */
Axes BroadcastAxes(const Request& request, const std::vector<Operand>& operands);

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_ELEMENTWISE_H_
