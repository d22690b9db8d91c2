/*!
 * \file input_types.h
 * \brief The types that inputs of an operator are converted to, by its MXNetTypeRule.
 */
#ifndef MXNET_SRC_OP_SEMANTICS_INPUT_TYPES_H_
#define MXNET_SRC_OP_SEMANTICS_INPUT_TYPES_H_

#include <mxnet/op/c_operator_api.h>

#include "op/semantics/promotion.h"

namespace mxnet {
namespace op {

/*! \brief What of an input decides on types. */
struct InputType {
  DLDataType dtype;
  WeakKind kind;    /*!< of a Python number; kNone for all else */
  WeakKind numbers; /*!< of a list of Python numbers; kNone for all else */
};

/*! \brief The type that an input has of itself. */
inline InputType TypeOf(const MXNetTensorSpec& spec) noexcept {
  const auto weak = static_cast<WeakKind>(spec.weak);
  const bool is_number = spec.ndim == 0;
  return {spec.given, is_number ? weak : WeakKind::kNone, is_number ? WeakKind::kNone : weak};
}

/*! \brief Whether an input is no Python number, and no list of some. */
inline bool IsTensor(const InputType& input) noexcept {
  return input.kind == WeakKind::kNone && input.numbers == WeakKind::kNone;
}

/*! \brief The type of many together; Python numbers, and lists of some, do not widen tensors. */
class CommonOfMany {
 public:
  void Add(const InputType& input);
  DLDataType dtype() const;

 private:
  CommonType tensors_;
  DLDataType numbers_{};
  WeakKind kind_{WeakKind::kNone};
};

/*! \brief The type of two inputs together; beside an array, a list is as PromoteNumbers has it. */
DLDataType CommonOf(const InputType& a, const InputType& b);

/*! \brief The type that each input is converted to; only of rules but kMXNetTypesAsGiven. */
DLDataType TypeByRule(int32_t rule, const InputType* inputs, int count);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SEMANTICS_INPUT_TYPES_H_
