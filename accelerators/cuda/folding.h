/*!
 * \file folding.h
 * \brief Operators that fold many elements into each element of the output.
 */
#ifndef CUDAACC_FOLDING_H_
#define CUDAACC_FOLDING_H_

#include "../sdk/operators/reduction.h"
#include "work.h"

namespace cudaacc {

/*! \brief What is folded. */
struct Folding {
  FoldKind kind;
  DType element;
  DType stored;
  int64_t ddof;
  bool multiplies; /*!< the elements are products of those of two inputs */
  bool in_order;   /*!< places count in row-major order of the folded axes */
};

/*! \brief Work for the inputs at those places. */
std::unique_ptr<Work> MakeFold(const Request& request, const Folding& folding, const FoldAxes& axes,
                               int first, int second);

}  // namespace cudaacc

#endif  // CUDAACC_FOLDING_H_
