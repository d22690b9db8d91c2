/*!
 * \file reduction.h
 * \brief Operators that fold the elements along axes: what they fold, of which types.
 */
#ifndef MXACC_SDK_OPERATORS_REDUCTION_H_
#define MXACC_SDK_OPERATORS_REDUCTION_H_

#include <optional>

#include "axes.h"
#include "request.h"

namespace mxacc {

/*! \brief The axes of a fold; a tensor that has not got one has the stride 0 there. */
struct FoldAxes {
  Axes kept{3};   /*!< of the output and two inputs */
  Axes folded{2}; /*!< of the inputs alone */
};

enum class FoldKind {
  kSum,
  kProduct,
  kMean,
  kVariance,
  kDeviation, /*!< the root of the variance */
  kLargest,
  kSmallest,
  kAny,
  kAll,
  kPlaceOfLargest, /*!< counted in row-major order of the folded axes */
  kPlaceOfSmallest
};

struct Reduction {
  FoldKind kind;
  int input;     /*!< its place */
  DType element; /*!< that the elements are converted to */
  DType total;   /*!< that is computed in; int64 and uint64 for integers that are added up */
  DType stored;  /*!< of the output */
  int64_t ddof;  /*!< taken off the number of elements of a variance */
  FoldAxes axes;

  bool finds_place() const {
    return kind == FoldKind::kPlaceOfLargest || kind == FoldKind::kPlaceOfSmallest;
  }
};

/*! \brief What an operator is, if it is one of these. */
std::optional<Reduction> FindReduction(const Request& request);

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_REDUCTION_H_
