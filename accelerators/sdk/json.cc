#include "json.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "status.h"

namespace mxacc {
namespace {

using Kind = JsonValue::Kind;

constexpr int kMaxDepth = 32;

JsonValue ValueOf(Kind kind, int64_t integer = 0) {
  JsonValue value;
  value.kind = kind;
  value.integer = integer;
  return value;
}

JsonValue FloatOf(double real) {
  JsonValue value = ValueOf(Kind::kFloat);
  value.real = real;
  return value;
}

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
    return;
  }
  const int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  *out += static_cast<char>(kLead[tail] | code >> (6 * tail));
  for (int i = tail - 1; i >= 0; --i) *out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
}

/*! \brief One text, from left to right. */
class Reader {
 public:
  explicit Reader(const char* text) : text_(text), next_(text) {}

  JsonValue ReadAll() {
    JsonValue value = ReadValue(0);
    SkipSpace();
    if (*next_ != '\0') Refuse();
    return value;
  }

 private:
  [[noreturn]] void Refuse() const {
    throw Failure(kMXAccBadArgument, std::string("no JSON value: ") + text_);
  }

  void SkipSpace() { next_ += std::strspn(next_, " \t\r\n"); }

  bool Take(const char* word) {
    const size_t size = std::strlen(word);
    if (std::strncmp(next_, word, size) != 0) return false;
    next_ += size;
    return true;
  }

  JsonValue ReadValue(int depth) {
    SkipSpace();
    if (Take("null")) return ValueOf(Kind::kNull);
    if (Take("true")) return ValueOf(Kind::kBool, 1);
    if (Take("false")) return ValueOf(Kind::kBool, 0);
    if (Take("NaN")) return FloatOf(std::nan(""));
    if (Take("Infinity")) return FloatOf(HUGE_VAL);
    if (Take("-Infinity")) return FloatOf(-HUGE_VAL);
    if (Take("\"")) return ReadText();
    if (Take("[")) return ReadArray(depth);
    if (*next_ == '{') throw Failure(kMXAccUnsupported, "attributes that are objects");
    return ReadNumber();
  }

  JsonValue ReadNumber() {
    const size_t size = std::strspn(next_, "+-.0123456789eE");
    const std::string number(next_, size);
    if (size == 0) Refuse();
    next_ += size;
    char* end = nullptr;
    errno = 0;
    JsonValue value = ValueOf(Kind::kInt);
    if (number.find_first_of(".eE") != std::string::npos) {
      value = FloatOf(std::strtod(number.c_str(), &end));
      errno = 0;
    } else {
      value.integer = std::strtoll(number.c_str(), &end, 10);
      if (errno == ERANGE && number[0] != '-') {
        errno = 0;
        value.kind = Kind::kUInt;
        value.integer = static_cast<int64_t>(std::strtoull(number.c_str(), &end, 10));
      }
    }
    if (errno == ERANGE) throw Failure(kMXAccUnsupported, "integers of more than 64 bits");
    if (*end != '\0') Refuse();
    return value;
  }

  uint32_t ReadHex() {
    const std::string digits(next_, strnlen(next_, 4));
    char* end = nullptr;
    const unsigned long code = std::strtoul(digits.c_str(), &end, 16);
    if (digits.size() != 4 || *end != '\0') Refuse();
    next_ += 4;
    return static_cast<uint32_t>(code);
  }

  void ReadEscape(std::string* out) {
    static constexpr char kNames[] = "\"\\/bfnrt";
    static constexpr char kMeant[] = "\"\\/\b\f\n\r\t";
    const char escape = *next_;
    if (escape == '\0') Refuse();
    ++next_;
    if (escape == 'u') {
      uint32_t code = ReadHex();
      if (code >> 10 == 0xD800 >> 10 && Take("\\u")) {
        code = 0x10000 + ((code & 0x3FF) << 10) + (ReadHex() & 0x3FF);
      }
      AppendUtf8(code, out);
    } else if (const char* found = std::strchr(kNames, escape)) {
      *out += kMeant[found - kNames];
    } else {
      Refuse();
    }
  }

  JsonValue ReadText() {
    JsonValue value = ValueOf(Kind::kText);
    while (!Take("\"")) {
      if (*next_ == '\0') Refuse();
      if (Take("\\")) {
        ReadEscape(&value.text);
      } else {
        value.text += *next_++;
      }
    }
    return value;
  }

  JsonValue ReadArray(int depth) {
    if (depth >= kMaxDepth) throw Failure(kMXAccUnsupported, "attributes that are nested deeply");
    JsonValue value = ValueOf(Kind::kArray);
    SkipSpace();
    if (Take("]")) return value;
    do {
      value.items.push_back(ReadValue(depth + 1));
      SkipSpace();
    } while (Take(","));
    if (!Take("]")) Refuse();
    return value;
  }

  const char* text_;
  const char* next_;
};

}  // namespace

JsonValue ReadJson(const char* text) { return Reader(text).ReadAll(); }

std::optional<JsonValue> FindAttribute(const MXAccOperator& op, const char* key) {
  for (int32_t i = 0; i < op.num_attrs; ++i) {
    if (std::strcmp(op.attr_keys[i], key) == 0) return ReadJson(op.attr_vals[i]);
  }
  return std::nullopt;
}

}  // namespace mxacc
