#include "request.h"

#include <algorithm>
#include <cstring>

#include "../status.h"

namespace mxacc {
namespace {

/*! \brief What is known of the operators. */
constexpr int32_t kOperatorSet = 1;

void CheckStorage(const MXTensor& tensor) {
  if (tensor.storage != kMXAccDense) Unsupported("sparse tensors");
  if (tensor.layout != nullptr) Unsupported(std::string("the layout ") + tensor.layout);
}

}  // namespace

Request::Request(const MXAccOperator& op) : op_(op) {
  if (op.operator_set != kOperatorSet) {
    Unsupported(name() + " of the operator set " + std::to_string(op.operator_set) + ", this is " +
                std::to_string(kOperatorSet));
  }
  if (op.num_out != 1) Unsupported(name() + " with several outputs");
  for (int32_t i = 0; i < op.num_in; ++i) CheckStorage(op.inputs[i]);
  CheckStorage(op.outputs[0]);
}

const MXAccDLTensor* Request::FindInput(const char* name) const {
  for (int32_t i = 0; i < op_.num_in; ++i) {
    if (op_.inputs[i].name != nullptr && std::strcmp(op_.inputs[i].name, name) == 0) {
      return &op_.inputs[i].tensor;
    }
  }
  return nullptr;
}

int Request::IndexOf(const MXAccDLTensor& input) const {
  int i = 0;
  while (&op_.inputs[i].tensor != &input) ++i;
  return i;
}

std::optional<AttributeValue> Request::Attribute(const char* key) const {
  std::optional<AttributeValue> value = FindAttribute(op_, key);
  if (value && value->kind == AttributeValue::Kind::kNull) return std::nullopt;
  return value;
}

bool Request::Flag(const char* key) const {
  const std::optional<AttributeValue> value = Attribute(key);
  return value && value->integer != 0;
}

bool Request::IsNull(const char* key) const {
  const std::optional<AttributeValue> value = FindAttribute(op_, key);
  return value && value->kind == AttributeValue::Kind::kNull;
}

void Request::CheckNames(std::initializer_list<const char*> names) const {
  const auto check = [&](const char* given) {
    const bool known = given != nullptr && std::any_of(names.begin(), names.end(), [&](auto name) {
                         return std::strcmp(given, name) == 0;
                       });
    if (!known) Unsupported(name() + " with '" + (given == nullptr ? "" : given) + "'");
  };
  for (int32_t i = 0; i < op_.num_in; ++i) check(op_.inputs[i].name);
  for (int32_t i = 0; i < op_.num_attrs; ++i) check(op_.attrs[i].name);
}

void Request::CheckOutput(DType dtype) const {
  if (DTypeOf(output().dtype) == dtype) return;
  Unsupported(name() + " into " + SpecText(output()) + ", of a result of " + NameOf(dtype));
}

}  // namespace mxacc
