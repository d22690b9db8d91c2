/*!
 * \file fold.h
 * \brief Kernels that fold many elements into each element of the output.
 */
#ifndef OPENCL_FOLD_H_
#define OPENCL_FOLD_H_

#include <mutex>

#include "../sdk/operators/reduction.h"
#include "work.h"

namespace opencl {

/*! \brief What is folded, and how; the texts are expressions in OpenCL C. */
struct Fold {
  std::string definitions; /*!< of the type ACC and what the others use */
  std::string start;       /*!< the ACC of no elements */
  std::string combine;     /*!< of the ACC acc, the element x, and its place among those folded */
  std::string merge;       /*!< of the ACCs acc and other, which has places behind or between */
  std::string result;      /*!< of the ACC acc, and count, how many elements there were */
  DType element;           /*!< that the elements are converted to; C, and W where it is no float */
  DType total;             /*!< of result */
  DType stored;            /*!< that total is converted to */
  bool multiplies;         /*!< whether the elements are products of those of two inputs */
};

/*!
 * \brief Work for the inputs at those places. in_order says whether places count in row-major order
 * of the folded axes.
 */
std::unique_ptr<Work> MakeFold(const Request& request, const Fold& fold, const FoldAxes& axes,
                               bool in_order, const std::vector<int>& inputs);

/*! \brief The sum of products of elements of that type. */
Fold DotFold(DType dtype);

}  // namespace opencl

#endif  // OPENCL_FOLD_H_
