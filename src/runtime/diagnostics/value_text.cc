/*!
 * \file value_text.cc
 * \brief Makes short texts of values.
 */
#include "runtime/diagnostics/value_text.h"

#include <mxnet/runtime/any.h>
#include <mxnet/runtime/data_type.h>

#include <cstdio>

#include "runtime/core/function.h"

namespace mxnet {
namespace runtime {
namespace {

constexpr size_t kMaxText = 32;
constexpr size_t kMaxItems = 8;
constexpr size_t kMaxArguments = 240;
constexpr char kEllipsis[] = "...";

/*! \brief Bytes of the UTF-8 sequence that text begins with, 0 where it begins with none. */
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 && first < 0xf5   ? 4
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xc2 && first < 0xe0 ? 2
                                                        : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond Unicode.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

template <typename... Args>
void AppendFormat(std::string* out, const char* format, Args... args) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, args...);
  *out += buffer;
}

void AppendQuoted(const MXNetByteArray& text, std::string* out) {
  *out += '\'';
  AppendText(std::string_view(text.data, text.size), kMaxText, out);
  *out += '\'';
}

/*! \brief `open`, the first items, `close`. */
template <typename AppendItem>
void AppendRun(size_t size, const char* open, const char* close, const AppendItem& append_item,
               std::string* out) {
  *out += open;
  for (size_t i = 0; i < size && i < kMaxItems; ++i) {
    if (i > 0) *out += ", ";
    append_item(i);
  }
  if (size > kMaxItems) *out += ", ...";
  *out += close;
}

void AppendInts(const MXNetIntArray& ints, bool is_list, std::string* out) {
  const char* close = is_list ? "]" : ints.size == 1 ? ",)" : ")";
  AppendRun(
      ints.size, is_list ? "[" : "(", close,
      [&](size_t i) { *out += std::to_string(ints.data[i]); }, out);
}

void AppendTensor(const DLTensor& tensor, std::string* out) {
  *out += DataTypeName(tensor.dtype);
  AppendRun(
      static_cast<size_t>(tensor.ndim), "[", "]",
      [&](size_t i) { *out += std::to_string(tensor.shape[i]); }, out);
  if (tensor.device.device_type != kDLCPU) *out += " on " + ContextName(tensor.device);
}

void AppendCount(const char* what, size_t size, std::string* out) {
  *out += what;
  *out += " of " + std::to_string(size);
}

void AppendObject(const MXNetValue& value, int type_code, std::string* out) {
  switch (ObjectTypeOf(value, type_code)) {
    case kMXNetObjectFunction:
      *out += "function ";
      AppendText(static_cast<const FunctionObject*>(value.v_handle)->info->view().name, kMaxText,
                 out);
      return;
    case kMXNetObjectNDArray:
      return AppendTensor(static_cast<const MXNetNDArrayObject*>(value.v_handle)->tensor, out);
    case kMXNetObjectString:
      return AppendQuoted(static_cast<const MXNetBytesObject*>(value.v_handle)->bytes, out);
    case kMXNetObjectBytes:
      return AppendCount("bytes", static_cast<const MXNetBytesObject*>(value.v_handle)->bytes.size,
                         out);
    case kMXNetObjectShape:
      return AppendInts(static_cast<const MXNetShapeObject*>(value.v_handle)->ints, false, out);
    case kMXNetObjectTuple:
    case kMXNetObjectArray:
      return AppendCount(TypeNameOf(value, type_code).c_str(),
                         static_cast<const MXNetSeqObject*>(value.v_handle)->items.size, out);
    case kMXNetObjectMap:
      return AppendCount("Map", static_cast<const MXNetMapObject*>(value.v_handle)->items.size / 2,
                         out);
    default:
      AppendText(TypeNameOf(value, type_code), kMaxText, out);
  }
}

}  // namespace

void AppendText(std::string_view text, size_t limit, std::string* out) {
  const size_t end = out->size() + limit;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const bool shown = length > 0 && first >= 0x20 && first != 0x7f;
    if (out->size() + (shown ? length : 4) > end) {
      *out += kEllipsis;
      return;
    }
    if (shown) {
      out->append(text.substr(0, length));
      text.remove_prefix(length);
    } else {
      AppendFormat(out, "\\x%02x", first);
      text.remove_prefix(1);
    }
  }
}

void AppendValue(const MXNetValue& value, int type_code, std::string* out) {
  switch (type_code) {
    case kMXNetInt:
      *out += std::to_string(value.v_int64);
      return;
    case kMXNetUInt:
      *out += std::to_string(value.v_uint64);
      return;
    case kMXNetFloat:
      return AppendFormat(out, "%.6g", value.v_float64);
    case kMXNetBool:
      *out += value.v_int64 != 0 ? "True" : "False";
      return;
    case kMXNetComplex:
      return AppendFormat(out, "(%.6g%+.6gj)", value.v_complex[0], value.v_complex[1]);
    case kMXNetHandle:
      return AppendFormat(out, "handle %p", value.v_handle);
    case kMXNetNull:
      *out += "None";
      return;
    case kMXNetMissing:
      *out += "default";
      return;
    case kMXNetEnum:
      AppendText(TypeNameOf(value, type_code), kMaxText, out);
      *out += "(" + std::to_string(value.v_enum.value) + ")";
      return;
    case kMXNetKeyword:
      AppendText(std::string_view(value.v_str.data, value.v_str.size), kMaxText, out);
      *out += '=';
      return;
    case kMXNetType:
      *out += DataTypeName(value.v_type);
      return;
    case kMXNetContext:
      *out += ContextName(value.v_ctx);
      return;
    case kMXNetArrayHandle:
    case kMXNetReadOnlyArray:
    case kMXNetBorrowedArray:
      return AppendTensor(*static_cast<const DLTensor*>(value.v_handle), out);
    case kMXNetStr:
      return AppendQuoted(value.v_str, out);
    case kMXNetBytes:
      return AppendCount("bytes", value.v_str.size, out);
    case kMXNetIntTuple:
    case kMXNetIntList:
      return AppendInts(value.v_ints, type_code == kMXNetIntList, out);
    case kMXNetTuple:
      return AppendCount("tuple", value.v_seq.size, out);
    case kMXNetList:
      return AppendCount("list", value.v_seq.size, out);
    case kMXNetDict:
      return AppendCount("dict", value.v_seq.size / 2, out);
    default:
      return AppendObject(value, type_code, out);
  }
}

std::string ArgumentsText(const MXNetValue* values, const int* type_codes, int num_args) {
  std::string text;
  for (int i = 0; i < num_args; ++i) {
    if (i > 0) text += ", ";
    if (text.size() > kMaxArguments) return text + kEllipsis;
    AppendValue(values[i], type_codes[i], &text);
  }
  return text;
}

}  // namespace runtime
}  // namespace mxnet
