/*!
 * \file movement.h
 * \brief Operators that copy elements as they are, of any type.
 */
#ifndef MXACC_SDK_OPERATORS_MOVEMENT_H_
#define MXACC_SDK_OPERATORS_MOVEMENT_H_

#include <optional>
#include <vector>

#include "axes.h"
#include "request.h"

namespace mxacc {

/*! \brief The copy of an input to its part of the output. */
struct Movement {
  Axes axes{2};  /*!< of the output and the input */
  int64_t first; /*!< of the output, in elements */
};

/*! \brief What an operator is, if it is one of these: a movement for each input. */
std::optional<std::vector<Movement>> FindMovements(const Request& request);

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_MOVEMENT_H_
