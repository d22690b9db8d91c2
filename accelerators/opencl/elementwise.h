/*!
 * \file elementwise.h
 * \brief Kernels that compute each element of the output from one element of each operand.
 */
#ifndef OPENCL_ELEMENTWISE_H_
#define OPENCL_ELEMENTWISE_H_

#include <string>

#include "../sdk/operators/elementwise.h"

namespace opencl {

using namespace mxacc;

/*! \brief The expression of a, b and c, which are the operands, and C, W, U and BITS. */
std::string FormulaText(Formula formula);
/*! \brief Functions that it calls. */
std::string HelperText(Formula formula);
/*! \brief The macros C, W, U and BITS of what is computed in a type. */
std::string FormulaTypes(DType dtype);
/*! \brief A function of a and b that computes a formula in a type; it leaves no macros. */
std::string FormulaFunction(const std::string& name, Formula formula, DType dtype);

}  // namespace opencl

#endif  // OPENCL_ELEMENTWISE_H_
