/*!
 * \file reduction.h
 * \brief Operators that reduce many elements into each element of the output.
 */
#ifndef CUDAACC_REDUCTION_H_
#define CUDAACC_REDUCTION_H_

#include "../sdk/operators/reduction.h"
#include "work.h"

namespace cudaacc {

/*! \brief What is reduced. */
struct ReduceOptions {
  ReduceKind kind;
  DType element;
  DType stored;
  int64_t ddof;
  bool multiplies; /*!< the elements are products of those of two inputs */
  bool in_order;   /*!< positions count in row-major order of the reduced axes */
};

/*! \brief Work for the inputs at those positions. */
std::unique_ptr<Work> MakeReduceWork(const Request& request, const ReduceOptions& options,
                                     const ReduceAxes& axes, int first, int second);

}  // namespace cudaacc

#endif  // CUDAACC_REDUCTION_H_
