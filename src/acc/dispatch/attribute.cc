/*!
 * \file attribute.cc
 * \brief Attributes with their types, and as JSON.
 */
#include "acc/dispatch/attribute.h"

#include <mxnet/runtime/type_traits/plain.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace mxnet {
namespace acc {
namespace {

std::string NumberText(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  char text[40];
  for (int digits = 15; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, number);
    if (std::strtod(text, nullptr) == number) break;
  }
  const std::string shortest = text;
  // Without a point or an exponent it would be an int.
  return shortest.find_first_of(".e") == std::string::npos ? shortest + ".0" : shortest;
}

std::string QuotedText(const char* data, size_t size) {
  std::string text = "\"";
  for (size_t i = 0; i < size; ++i) {
    const auto c = static_cast<unsigned char>(data[i]);
    if (c < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      text += escaped;
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += data[i];
    }
  }
  return text + "\"";
}

void SetInteger(int64_t value, MXAccAttribute* out) {
  out->kind = kMXAccInteger;
  out->integer = value;
  out->number = static_cast<double>(value);
}

/*! \brief The value as JSON; the items of a list have theirs. */
std::string JsonOf(const MXAccAttribute& attribute) {
  switch (attribute.kind) {
    case kMXAccBoolean:
      return attribute.integer != 0 ? "true" : "false";
    case kMXAccInteger:
      return std::to_string(attribute.integer);
    case kMXAccUnsigned:
      return std::to_string(static_cast<uint64_t>(attribute.integer));
    case kMXAccNumber:
      return NumberText(attribute.number);
    case kMXAccText:
    case kMXAccType:
      return QuotedText(attribute.text, static_cast<size_t>(attribute.size));
    case kMXAccList:
      break;
    default:
      return "null";
  }
  std::string text = "[";
  for (int64_t i = 0; i < attribute.size; ++i) {
    if (i > 0) text += ", ";
    text += attribute.items[i].json;
  }
  return text + "]";
}

}  // namespace

void AttributeStorage::SetText(std::string text, MXAccAttribute* out) {
  out->size = static_cast<int64_t>(text.size());
  out->text = texts_.emplace_back(std::move(text)).c_str();
}

void AttributeStorage::MakeInts(const MXNetIntArray& ints, MXAccAttribute* out) {
  std::vector<MXNetAny> items(ints.size);
  for (size_t i = 0; i < ints.size; ++i) {
    items[i].type_code = kMXNetInt;
    items[i].value.v_int64 = ints.data[i];
  }
  MakeList({items.data(), items.size()}, out);
}

bool AttributeStorage::MakeList(const MXNetAnyArray& items, MXAccAttribute* out) {
  std::vector<MXAccAttribute> made(items.size);
  bool all_ints = true;
  for (size_t i = 0; i < items.size; ++i) {
    if (!Make(nullptr, items.data[i].value, items.data[i].type_code, &made[i])) return false;
    all_ints = all_ints && made[i].kind == kMXAccInteger;
  }
  out->kind = kMXAccList;
  out->size = static_cast<int64_t>(items.size);
  if (all_ints) {
    std::vector<int64_t>& integers = integers_.emplace_back();
    integers.reserve(items.size + 1);  // so that it is not NULL
    for (const MXAccAttribute& item : made) integers.push_back(item.integer);
    out->integers = integers.data();
  }
  out->items = lists_.emplace_back(std::move(made)).data();
  return true;
}

bool AttributeStorage::Make(const char* name, const MXNetValue& value, int type_code,
                            MXAccAttribute* out) {
  *out = MXAccAttribute{};
  out->struct_size = sizeof(*out);
  out->name = name;
  const MXNetAnyArray* items = ItemsOf(value, type_code);
  std::string_view text;
  if (type_code == kMXNetBool) {
    out->kind = kMXAccBoolean;
    out->integer = value.v_int64 != 0 ? 1 : 0;
  } else if (type_code == kMXNetInt) {
    SetInteger(value.v_int64, out);
  } else if (type_code == kMXNetUInt) {
    out->kind = kMXAccUnsigned;
    out->integer = value.v_int64;
    out->number = static_cast<double>(value.v_uint64);
  } else if (type_code == kMXNetFloat) {
    out->kind = kMXAccNumber;
    out->number = value.v_float64;
  } else if (type_code == kMXNetType) {
    out->kind = kMXAccType;
    out->dtype = {value.v_type.code, value.v_type.bits, value.v_type.lanes};
    SetText(DataTypeName(value.v_type), out);
  } else if (details::TextOf(value, type_code, &text)) {
    out->kind = kMXAccText;
    SetText(std::string(text), out);
  } else if (type_code == kMXNetIntTuple || type_code == kMXNetIntList) {
    MakeInts(value.v_ints, out);
  } else if (ObjectTypeOf(value, type_code) == kMXNetObjectShape) {
    MakeInts(static_cast<const MXNetShapeObject*>(value.v_handle)->ints, out);
  } else if (type_code != kMXNetNull) {
    if (items == nullptr || type_code == kMXNetDict || !MakeList(*items, out)) return false;
  }
  out->json = texts_.emplace_back(JsonOf(*out)).c_str();
  return true;
}

}  // namespace acc
}  // namespace mxnet
