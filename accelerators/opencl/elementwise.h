/*!
 * \file elementwise.h
 * \brief Kernels that compute each element of the output from one element of each operand.
 */
#ifndef OPENCL_ELEMENTWISE_H_
#define OPENCL_ELEMENTWISE_H_

#include <mutex>
#include <optional>

#include "executor.h"
#include "scalar.h"

namespace opencl {

/*! \brief An input that broadcasts to the output, or a number. */
struct Operand {
  const MXAccGeometry* input; /*!< NULL for a number */
  JsonValue number;
  DType dtype; /*!< of the input */
};

/*! \brief The parameter of that name; kMXAccUnsupported where it is neither. */
Operand FindOperand(const Request& request, const char* name);

/*! \brief The expression of a kernel, and what it is of. */
struct Formula {
  std::string text;          /*!< of a, b and c, which are the operands, and C, W, U and BITS */
  std::string helper;        /*!< functions that it calls */
  std::vector<DType> dtypes; /*!< that the operands are converted to; C and so on are of the last */
  DType result;
};

/*! \brief Work for a formula over at most three operands. */
std::unique_ptr<Work> MakeFormula(const Request& request, const std::vector<Operand>& operands,
                                  const Formula& formula);

/*! \brief Operators that make arrays of one number, of their arguments; NULL for others. */
std::unique_ptr<Work> MakeFill(const Request& request);

}  // namespace opencl

#endif  // OPENCL_ELEMENTWISE_H_
