/*!
 * \file reduction.h
 * \brief Operators that reduce the elements along axes: what they reduce, of which types.
 */
#ifndef MXACC_SDK_OPERATORS_REDUCTION_H_
#define MXACC_SDK_OPERATORS_REDUCTION_H_

#include <optional>

#include "axes.h"
#include "elementwise.h"
#include "request.h"

namespace mxacc {

/*! \brief The axes of a reduction; a tensor that has not got one has the stride 0 there. */
struct ReduceAxes {
  Axes kept{3};    /*!< of the output and two inputs */
  Axes reduced{2}; /*!< of the inputs alone */
};

enum class ReduceKind {
  kSum,
  kProduct,
  kMean,
  kVariance,
  kStd, /*!< the root of the variance */
  kMax,
  kMin,
  kAny,
  kAll,
  kArgmax, /*!< counted in row-major order of the reduced axes */
  kArgmin
};

struct Reduction {
  ReduceKind kind;
  int input;     /*!< its position */
  DType element; /*!< that the elements are converted to */
  DType total;   /*!< that is computed in; int64 and uint64 for integers that are added up */
  DType stored;  /*!< of the output */
  int64_t ddof;  /*!< taken off the number of elements of a variance */
  /*! \brief What combines two, or says which position is found; none for a variance. */
  std::optional<Formula> formula;
  ReduceAxes axes;

  bool finds_position() const { return kind == ReduceKind::kArgmax || kind == ReduceKind::kArgmin; }
};

/*! \brief What an operator is, if it is one of these. */
std::optional<Reduction> FindReduction(const Request& request);

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_REDUCTION_H_
