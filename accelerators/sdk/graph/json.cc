#include "json.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "../status.h"

namespace mxacc {
namespace {

constexpr int kMostDepth = 256;

class Reader {
 public:
  explicit Reader(const char* text) : begin_(text), at_(text) {}

  Json ReadAll() {
    Json value = ReadValue(0);
    SkipSpace();
    if (*at_ != '\0') Reject("nothing more");
    return value;
  }

 private:
  [[noreturn]] void Reject(const char* expected) const {
    throw Failure(kMXAccBadArgument, "the graph is no JSON: expected " + std::string(expected) +
                                         " at byte " + std::to_string(at_ - begin_));
  }
  void SkipSpace() {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r') ++at_;
  }
  bool Take(char wanted) {
    SkipSpace();
    if (*at_ != wanted) return false;
    ++at_;
    return true;
  }
  bool TakeWord(const char* word) {
    const size_t size = std::strlen(word);
    if (std::strncmp(at_, word, size) != 0) return false;
    at_ += size;
    return true;
  }

  Json ReadValue(int depth) {
    if (depth > kMostDepth) Reject("less depth");
    SkipSpace();
    Json value;
    if (*at_ == '{') {
      ReadObject(depth, &value);
    } else if (*at_ == '[') {
      ReadArray(depth, &value);
    } else if (*at_ == '"') {
      value.kind = Json::Kind::kText;
      value.text = ReadText();
    } else if (TakeWord("true")) {
      value.kind = Json::Kind::kBool;
      value.integer = 1;
    } else if (TakeWord("false")) {
      value.kind = Json::Kind::kBool;
    } else if (!TakeWord("null")) {
      ReadNumber(&value);
    }
    return value;
  }
  void ReadObject(int depth, Json* value) {
    value->kind = Json::Kind::kObject;
    ++at_;
    if (Take('}')) return;
    do {
      SkipSpace();
      if (*at_ != '"') Reject("a key");
      value->keys.push_back(ReadText());
      if (!Take(':')) Reject("a colon");
      value->items.push_back(ReadValue(depth + 1));
    } while (Take(','));
    if (!Take('}')) Reject("a comma or the end of an object");
  }
  void ReadArray(int depth, Json* value) {
    value->kind = Json::Kind::kArray;
    ++at_;
    if (Take(']')) return;
    do {
      value->items.push_back(ReadValue(depth + 1));
    } while (Take(','));
    if (!Take(']')) Reject("a comma or the end of an array");
  }
  void ReadNumber(Json* value) {
    const double infinity = std::numeric_limits<double>::infinity();
    value->kind = Json::Kind::kFloat;
    if (TakeWord("NaN")) {
      value->real = std::numeric_limits<double>::quiet_NaN();
    } else if (TakeWord("-Infinity")) {
      value->real = -infinity;
    } else if (TakeWord("Infinity")) {
      value->real = infinity;
    } else {
      char* end = nullptr;
      value->real = std::strtod(at_, &end);
      if (end == at_) Reject("a value");
      const std::string digits(at_, static_cast<size_t>(end - at_));
      if (digits.find_first_of(".eE") == std::string::npos) {
        value->kind = Json::Kind::kInt;
        value->integer = std::strtoll(digits.c_str(), nullptr, 10);
      }
      at_ = end;
    }
  }
  std::string ReadText() {
    std::string text;
    for (++at_; *at_ != '"'; ++at_) {
      if (*at_ == '\0') Reject("the end of a text");
      if (*at_ != '\\') {
        text += *at_;
        continue;
      }
      ++at_;
      if (*at_ == 'u') {
        AppendCode(&text);
      } else {
        static constexpr char kFrom[] = "nrtbf";
        static constexpr char kTo[] = "\n\r\t\b\f";
        const char* found = *at_ == '\0' ? nullptr : std::strchr(kFrom, *at_);
        if (*at_ == '\0') Reject("the end of a text");
        text += found == nullptr ? *at_ : kTo[found - kFrom];
      }
    }
    ++at_;
    return text;
  }
  uint32_t ReadHex() {
    char digits[5] = {};
    for (char& digit : digits) {
      if (&digit == digits + 4) break;
      digit = *++at_;
      if (digit == '\0') Reject("four digits");
    }
    return static_cast<uint32_t>(std::strtoul(digits, nullptr, 16));
  }
  void AppendCode(std::string* text) {
    uint32_t code = ReadHex();
    if (code >= 0xD800 && code < 0xDC00 && at_[1] == '\\' && at_[2] == 'u') {
      at_ += 2;
      code = 0x10000 + ((code - 0xD800) << 10) + (ReadHex() - 0xDC00);
    }
    const auto add = [text](uint32_t byte) { *text += static_cast<char>(byte); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
      add(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        add(0xE0 | code >> 12);
      } else {
        add(0xF0 | code >> 18);
        add(0x80 | (code >> 12 & 0x3F));
      }
      add(0x80 | (code >> 6 & 0x3F));
    }
    add(0x80 | (code & 0x3F));
  }

  const char* begin_;
  const char* at_;
};

}  // namespace

const Json* Json::Find(const char* key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

const Json& Json::At(const char* key, Kind wanted) const {
  const Json* found = Find(key);
  if (found == nullptr || found->kind != wanted) {
    throw Failure(kMXAccBadArgument,
                  "the graph has no '" + std::string(key) + "', or not of the right kind");
  }
  return *found;
}

Json ReadJson(const char* text) { return Reader(text == nullptr ? "" : text).ReadAll(); }

}  // namespace mxacc
