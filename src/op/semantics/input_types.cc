/*!
 * \file input_types.cc
 * \brief Promotion, once for all operators.
 */
#include "op/semantics/input_types.h"

#include <mxnet/op/promotion.h>

#include <algorithm>

namespace mxnet {
namespace op {
namespace {

/*! \brief The type of all inputs; as for two of them, numbers do not widen tensors. */
DLDataType CommonOfAll(const InputType* inputs, int count) {
  if (count == 1) return inputs[0].dtype;
  if (count == 2) return CommonOf(inputs[0], inputs[1]);
  CommonOfMany common;
  for (int i = 0; i < count; ++i) common.Add(inputs[i]);
  return common.dtype();
}

bool AreOfOneType(const InputType* inputs, int count) {
  for (int i = 0; i < count; ++i) {
    if (inputs[i].kind != WeakKind::kNone || inputs[i].dtype != inputs[0].dtype) return false;
  }
  return true;
}

/*! \brief The smallest float that holds each. */
DLDataType FloatOfAll(const InputType* inputs, int count) {
  const DLDataType common = CommonOfAll(inputs, count);
  if (count != 2) return FloatOfDType(common);
  const bool with_number = inputs[0].kind != WeakKind::kNone || inputs[1].kind != WeakKind::kNone;
  return promotion::FloatOfBoth(inputs[0].dtype, inputs[1].dtype, with_number, common);
}

}  // namespace

void CommonOfMany::Add(const InputType& input) {
  if (IsTensor(input)) return tensors_.Add(input.dtype);
  const bool is_first = kind_ == WeakKind::kNone;
  numbers_ = is_first ? input.dtype : PromoteTypes(numbers_, input.dtype);
  kind_ = std::max({kind_, input.kind, input.numbers});
}

DLDataType CommonOfMany::dtype() const {
  if (tensors_.is_empty()) return numbers_;
  const DLDataType common = tensors_.dtype();
  return kind_ == WeakKind::kNone ? common : PromoteNumbers(common, numbers_, kind_);
}

DLDataType CommonOf(const InputType& a, const InputType& b) {
  const bool a_numbers = a.numbers != WeakKind::kNone;
  const bool b_numbers = b.numbers != WeakKind::kNone;
  const bool both_arrays = a.kind == WeakKind::kNone && b.kind == WeakKind::kNone;
  if (a_numbers == b_numbers || !both_arrays) return ResultType(a.dtype, a.kind, b.dtype, b.kind);
  const InputType& array = a_numbers ? b : a;
  const InputType& numbers = a_numbers ? a : b;
  return PromoteNumbers(array.dtype, numbers.dtype, numbers.numbers);
}

DLDataType TypeByRule(int32_t rule, const InputType* inputs, int count) {
  if (count == 0) return DLDataType{};
  if (rule == kMXNetTypesBool) return AreOfOneType(inputs, count) ? inputs[0].dtype : kBool;
  if (rule == kMXNetTypesFloat) return FloatOfAll(inputs, count);
  return promotion::TypeByRule(rule, CommonOfAll(inputs, count));
}

}  // namespace op
}  // namespace mxnet
