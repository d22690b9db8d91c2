#include "wire.h"

#include <mxnet_acc.h>

#include "../sdk/status.h"

namespace ovacc {
namespace {

constexpr uint32_t kNumber = 0;
constexpr uint32_t kEightBytes = 1;
constexpr uint32_t kBytes = 2;
constexpr uint32_t kFourBytes = 5;

[[noreturn]] void Damaged() {
  throw mxacc::Failure(kMXAccBadArgument, "the graph's ONNX model is damaged");
}

void AppendNumber(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

}  // namespace

uint64_t FieldReader::TakeNumber() {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<uint8_t>(Take(1)[0]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  Damaged();
}

std::string_view FieldReader::Take(uint64_t size) {
  if (size > rest_.size()) Damaged();
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

bool FieldReader::Next(Field* field) {
  if (rest_.empty()) return false;
  const std::string_view begin = rest_;
  const uint64_t tag = TakeNumber();
  field->number = static_cast<uint32_t>(tag >> 3);
  field->payload = {};
  switch (tag & 7) {
    case kNumber:
      TakeNumber();
      break;
    case kEightBytes:
      Take(8);
      break;
    case kBytes:
      field->payload = Take(TakeNumber());
      break;
    case kFourBytes:
      Take(4);
      break;
    default:
      Damaged();
  }
  field->whole = begin.substr(0, begin.size() - rest_.size());
  return true;
}

void WriteNumber(uint32_t number, uint64_t value, std::string* out) {
  AppendNumber(number << 3 | kNumber, out);
  AppendNumber(value, out);
}

void WriteLength(uint32_t number, size_t size, std::string* out) {
  AppendNumber(number << 3 | kBytes, out);
  AppendNumber(size, out);
}

void WriteBytes(uint32_t number, std::string_view payload, std::string* out) {
  WriteLength(number, payload.size(), out);
  out->append(payload);
}

}  // namespace ovacc
