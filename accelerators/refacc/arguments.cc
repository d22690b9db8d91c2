#include "arguments.h"

#include <algorithm>
#include <utility>

namespace refacc {
namespace {

MXNetAny AnyOf(int type_code, int64_t value = 0) {
  MXNetAny any{};
  any.type_code = type_code;
  any.value.v_int64 = value;
  return any;
}

}  // namespace

MXNetAny AttributeArguments::Make(const AttributeValue& value) {
  switch (value.kind) {
    case AttributeValue::Kind::kNull:
      return AnyOf(kMXNetNull);
    case AttributeValue::Kind::kBool:
      return AnyOf(kMXNetBool, value.integer);
    case AttributeValue::Kind::kInt:
      return AnyOf(kMXNetInt, value.integer);
    case AttributeValue::Kind::kUInt:
      return AnyOf(kMXNetUInt, value.integer);
    case AttributeValue::Kind::kArray:
      return MakeTuple(value.items);
    case AttributeValue::Kind::kFloat:
    case AttributeValue::Kind::kText:
      break;
  }
  if (value.kind == AttributeValue::Kind::kFloat) {
    MXNetAny any = AnyOf(kMXNetFloat);
    any.value.v_float64 = value.real;
    return any;
  }
  const std::string& text = texts_.emplace_back(value.text);
  MXNetAny any = AnyOf(kMXNetStr);
  any.value.v_str = MXNetByteArray{text.data(), text.size()};
  return any;
}

MXNetAny AttributeArguments::MakeTuple(const std::vector<AttributeValue>& items) {
  std::vector<MXNetAny> made;
  for (const AttributeValue& item : items) made.push_back(Make(item));
  const bool ints = std::all_of(made.begin(), made.end(),
                                [](const MXNetAny& item) { return item.type_code == kMXNetInt; });
  MXNetAny any = AnyOf(ints ? kMXNetIntTuple : kMXNetTuple);
  if (ints) {
    std::vector<int64_t>& run = runs_.emplace_back();
    run.reserve(made.size() + 1);  // so that data is not NULL
    for (const MXNetAny& item : made) run.push_back(item.value.v_int64);
    any.value.v_ints = MXNetIntArray{run.data(), run.size()};
  } else {
    const std::vector<MXNetAny>& kept = tuples_.emplace_back(std::move(made));
    any.value.v_seq = MXNetAnyArray{kept.data(), kept.size()};
  }
  return any;
}

}  // namespace refacc
