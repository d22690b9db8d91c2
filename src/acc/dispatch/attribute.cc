/*!
 * \file attribute.cc
 * \brief Attributes as JSON.
 */
#include "acc/dispatch/attribute.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

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

template <typename AppendItem>
bool AppendList(size_t size, const AppendItem& append_item, std::string* out) {
  *out += '[';
  for (size_t i = 0; i < size; ++i) {
    if (i > 0) *out += ", ";
    if (!append_item(i)) return false;
  }
  *out += ']';
  return true;
}

bool AppendInts(const int64_t* ints, size_t size, std::string* out) {
  const auto append = [&](size_t i) {
    *out += std::to_string(ints[i]);
    return true;
  };
  return AppendList(size, append, out);
}

}  // namespace

bool AppendAttribute(const MXNetValue& value, int type_code, std::string* out) {
  switch (type_code) {
    case kMXNetNull:
      *out += "null";
      return true;
    case kMXNetBool:
      *out += value.v_int64 != 0 ? "true" : "false";
      return true;
    case kMXNetInt:
      *out += std::to_string(value.v_int64);
      return true;
    case kMXNetUInt:
      *out += std::to_string(value.v_uint64);
      return true;
    case kMXNetFloat:
      *out += NumberText(value.v_float64);
      return true;
    case kMXNetType:
      *out += '"' + DataTypeName(value.v_type) + '"';
      return true;
    case kMXNetStr:
      *out += QuotedText(value.v_str.data, value.v_str.size);
      return true;
    case kMXNetIntTuple:
    case kMXNetIntList:
      return AppendInts(value.v_ints.data, value.v_ints.size, out);
    default:
      break;
  }
  if (ObjectTypeOf(value, type_code) == kMXNetObjectShape) {
    const MXNetIntArray ints = static_cast<const MXNetShapeObject*>(value.v_handle)->ints;
    return AppendInts(ints.data, ints.size, out);
  }
  const MXNetAnyArray* items = ItemsOf(value, type_code);
  if (items == nullptr || type_code == kMXNetDict) return false;
  const auto append = [&](size_t i) {
    return AppendAttribute(items->data[i].value, items->data[i].type_code, out);
  };
  return AppendList(items->size, append, out);
}

}  // namespace acc
}  // namespace mxnet
