/*!
 * \file reduce.h
 * \brief Kernels that reduce many elements into each element of the output.
 */
#ifndef OPENCL_REDUCE_H_
#define OPENCL_REDUCE_H_

#include <mutex>

#include "../sdk/operators/reduction.h"
#include "elementwise.h"
#include "work.h"

namespace opencl {

/*! \brief What is reduced, and how; the texts are expressions in OpenCL C. */
struct Reducer {
  std::string formulas;    /*!< functions that the others call */
  std::string definitions; /*!< of the type ACC and what the others use */
  std::string start;       /*!< the ACC of no elements */
  std::string combine; /*!< of the ACC acc, the element x, and its position among those reduced */
  std::string merge;   /*!< of the ACCs acc and other, which has positions behind or between */
  std::string result;  /*!< of the ACC acc, and count, how many elements there were */
  DType element;       /*!< that the elements are converted to; C */
  DType total;         /*!< of result */
  DType stored;        /*!< that total is converted to */
  bool multiplies;     /*!< whether the elements are products of those of two inputs */
};

/*!
 * \brief Work for the inputs at those positions. in_order says whether positions count in row-major
 * order of the reduced axes.
 */
std::unique_ptr<Work> MakeReduceWork(const Request& request, const Reducer& reducer,
                                     const ReduceAxes& axes, bool in_order,
                                     const std::vector<int>& inputs);

/*! \brief What combines elements by a formula of two, in a type; the result is an expression of
 * acc.
 */
Reducer FormulaReducer(Formula formula, DType computed, const std::string& start,
                       const std::string& result);

/*! \brief The sum of products of elements of that type. */
Reducer DotReducer(DType dtype);

}  // namespace opencl

#endif  // OPENCL_REDUCE_H_
