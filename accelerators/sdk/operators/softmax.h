/*!
 * \file softmax.h
 * \brief softmax and log_softmax: of which type and along which axis.
 */
#ifndef MXACC_SDK_OPERATORS_SOFTMAX_H_
#define MXACC_SDK_OPERATORS_SOFTMAX_H_

#include <cstdint>
#include <optional>

#include "axes.h"
#include "request.h"

namespace mxacc {

struct Softmax {
  bool is_log;
  int input;          /*!< its position */
  DType dtype;        /*!< that is computed in, float32 or float64 */
  DType stored;       /*!< of the output */
  double temperature; /*!< what the elements are divided by first */

  Axes rows{2};     /*!< of the output and the input, without the axis */
  int64_t length;   /*!< of the axis */
  int64_t steps[2]; /*!< along it, in the output and the input */
  int64_t outer;    /*!< how many elements the axes before it have */
  int64_t inner;    /*!< and those behind it */
};

/*! \brief What an operator is, if it is one of these. */
std::optional<Softmax> FindSoftmax(const Request& request);

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_SOFTMAX_H_
