/*!
 * \file input_types.h
 * \brief The types that inputs of an operator are converted to, by its MXNetTypeRule.
 */
#ifndef MXNET_SRC_API_CALL_INPUT_TYPES_H_
#define MXNET_SRC_API_CALL_INPUT_TYPES_H_

#include <mxnet/op/c_operator_api.h>

#include "api/common/promotion.h"

namespace mxnet {
namespace op {

/*! \brief What of an input decides on types. */
struct InputType {
  DLDataType dtype;
  WeakKind kind;    /*!< of a Python number; kNone for all else */
  WeakKind numbers; /*!< of a list of Python numbers; kNone for all else */
};

/*! \brief The type of two inputs together; beside an array, a list is as PromoteNumbers has it. */
DLDataType CommonOf(const InputType& a, const InputType& b);

/*! \brief The type that each input is converted to; only of rules but kMXNetTypesAsGiven. */
DLDataType TypeByRule(int32_t rule, const InputType* inputs, int count);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_INPUT_TYPES_H_
