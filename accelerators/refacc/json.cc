#include "json.h"

#include <mxnet_acc.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "status.h"

namespace refacc {
namespace {

constexpr int kMaxDepth = 32;

MXNetAny AnyOf(int type_code, int64_t value = 0) {
  MXNetAny any{};
  any.type_code = type_code;
  any.value.v_int64 = value;
  return any;
}

MXNetAny FloatOf(double value) {
  MXNetAny any = AnyOf(kMXNetFloat);
  any.value.v_float64 = value;
  return any;
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

}  // namespace

/*! \brief One text, from left to right. */
class JsonValues::Reader {
 public:
  Reader(JsonValues* values, const char* text) : values_(values), text_(text), next_(text) {}

  MXNetAny ReadAll() {
    const MXNetAny value = ReadValue(0);
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

  MXNetAny ReadValue(int depth) {
    SkipSpace();
    if (Take("null")) return AnyOf(kMXNetNull);
    if (Take("true")) return AnyOf(kMXNetBool, 1);
    if (Take("false")) return AnyOf(kMXNetBool, 0);
    if (Take("NaN")) return FloatOf(std::nan(""));
    if (Take("Infinity")) return FloatOf(HUGE_VAL);
    if (Take("-Infinity")) return FloatOf(-HUGE_VAL);
    if (Take("\"")) return ReadText();
    if (Take("[")) return ReadArray(depth);
    if (*next_ == '{') throw Failure(kMXAccUnsupported, "attributes that are objects");
    return ReadNumber();
  }

  MXNetAny ReadNumber() {
    const size_t size = std::strspn(next_, "+-.0123456789eE");
    const std::string number(next_, size);
    if (size == 0) Refuse();
    next_ += size;
    char* end = nullptr;
    errno = 0;
    MXNetAny value = AnyOf(kMXNetInt);
    if (number.find_first_of(".eE") != std::string::npos) {
      value = FloatOf(std::strtod(number.c_str(), &end));
      errno = 0;
    } else {
      value.value.v_int64 = std::strtoll(number.c_str(), &end, 10);
      if (errno == ERANGE && number[0] != '-') {
        errno = 0;
        value.type_code = kMXNetUInt;
        value.value.v_uint64 = std::strtoull(number.c_str(), &end, 10);
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

  MXNetAny ReadText() {
    std::string& text = values_->texts_.emplace_back();
    while (!Take("\"")) {
      if (*next_ == '\0') Refuse();
      if (Take("\\")) {
        ReadEscape(&text);
      } else {
        text += *next_++;
      }
    }
    MXNetAny any = AnyOf(kMXNetStr);
    any.value.v_str = MXNetByteArray{text.data(), text.size()};
    return any;
  }

  MXNetAny ReadArray(int depth) {
    if (depth >= kMaxDepth) throw Failure(kMXAccUnsupported, "attributes that are nested deeply");
    std::vector<MXNetAny> items;
    SkipSpace();
    if (!Take("]")) {
      do {
        items.push_back(ReadValue(depth + 1));
        SkipSpace();
      } while (Take(","));
      if (!Take("]")) Refuse();
    }
    return Keep(std::move(items));
  }

  MXNetAny Keep(std::vector<MXNetAny> items) {
    const bool ints = std::all_of(items.begin(), items.end(),
                                  [](const MXNetAny& item) { return item.type_code == kMXNetInt; });
    MXNetAny any = AnyOf(ints ? kMXNetIntTuple : kMXNetTuple);
    if (ints) {
      std::vector<int64_t>& run = values_->runs_.emplace_back();
      run.reserve(items.size() + 1);  // so that data is not NULL
      for (const MXNetAny& item : items) run.push_back(item.value.v_int64);
      any.value.v_ints = MXNetIntArray{run.data(), run.size()};
    } else {
      const std::vector<MXNetAny>& kept = values_->tuples_.emplace_back(std::move(items));
      any.value.v_seq = MXNetAnyArray{kept.data(), kept.size()};
    }
    return any;
  }

  JsonValues* values_;
  const char* text_;
  const char* next_;
};

MXNetAny JsonValues::Read(const char* text) { return Reader(this, text).ReadAll(); }

}  // namespace refacc
