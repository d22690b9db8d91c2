#include "attribute.h"

#include <cstring>

#include "status.h"

namespace mxacc {
namespace {

using Kind = AttributeValue::Kind;

Kind KindOf(int32_t kind) {
  switch (kind) {
    case kMXAccNoValue:
      return Kind::kNull;
    case kMXAccBoolean:
      return Kind::kBool;
    case kMXAccInteger:
      return Kind::kInt;
    case kMXAccUnsigned:
      return Kind::kUInt;
    case kMXAccNumber:
      return Kind::kFloat;
    case kMXAccText:
    case kMXAccType:
      return Kind::kText;
    case kMXAccList:
      return Kind::kArray;
    default:
      throw Failure(kMXAccUnsupported, "attributes of kind " + std::to_string(kind));
  }
}

}  // namespace

AttributeValue ReadAttribute(const MXAccAttribute& attribute) {
  AttributeValue value;
  value.kind = KindOf(attribute.kind);
  value.integer = attribute.integer;
  value.real = attribute.number;
  if (value.kind == Kind::kText) value.text = attribute.text;
  if (value.kind != Kind::kArray) return value;
  for (int64_t i = 0; i < attribute.size; ++i) {
    value.items.push_back(ReadAttribute(attribute.items[i]));
  }
  return value;
}

std::optional<AttributeValue> FindAttribute(const MXAccOperator& op, const char* key) {
  for (int32_t i = 0; i < op.num_attrs; ++i) {
    if (std::strcmp(op.attrs[i].name, key) == 0) return ReadAttribute(op.attrs[i]);
  }
  return std::nullopt;
}

}  // namespace mxacc
