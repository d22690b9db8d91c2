/*!
 * \file input.h
 * \brief Reads an input of the fuzzer piece by piece, and what every target shares.
 *
 * Choices are made by printable characters, so that seeds and words of the dictionary can be text.
 */
#ifndef MXNET_TESTS_FUZZ_INPUT_H_
#define MXNET_TESTS_FUZZ_INPUT_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace mxnet {
namespace fuzz {

/*! \brief Ends the process with an input that breaks a promise. */
#define FUZZ_CHECK(condition, ...)                                                 \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
      std::fprintf(stderr, "  " __VA_ARGS__);                                      \
      std::fprintf(stderr, "\n");                                                  \
      std::abort();                                                                \
    }                                                                              \
  } while (0)

class Input {
 public:
  Input(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  bool empty() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  /*! \brief 0 where nothing is left, as for all that follows. */
  uint8_t Byte() { return empty() ? 0 : *at_++; }

  /*! \brief 0 to limit - 1; digits mean themselves. */
  size_t Below(size_t limit) { return static_cast<uint8_t>(Byte() - '0') % limit; }

  template <typename T>
  T Raw() {
    T value{};
    const size_t size = left() < sizeof(T) ? left() : sizeof(T);
    if (size > 0) std::memcpy(static_cast<void*>(&value), at_, size);
    at_ += size;
    return value;
  }

  /*! \brief An integer: a digit is itself, capitals are limits, anything else starts raw bytes. */
  int64_t Int() {
    const uint8_t kind = Byte();
    if (kind >= '0' && kind <= '9') return kind - '0';
    static constexpr int64_t kLimits[] = {INT64_MIN,
                                          INT64_MIN + 1,
                                          INT32_MIN,
                                          -256,
                                          -129,
                                          -128,
                                          -2,
                                          -1,
                                          16,
                                          63,
                                          64,
                                          65,
                                          127,
                                          128,
                                          255,
                                          256,
                                          INT32_MAX,
                                          1LL << 31,
                                          1LL << 32,
                                          1LL << 53,
                                          1LL << 62,
                                          INT64_MAX / 2,
                                          INT64_MAX - 1,
                                          INT64_MAX};
    constexpr size_t kCount = sizeof(kLimits) / sizeof(kLimits[0]);
    if (kind >= 'A' && kind < 'A' + kCount) return kLimits[kind - 'A'];
    if (kind == 's') return Raw<int8_t>();
    return Raw<int64_t>();
  }

  /*! \brief A floating-point number: an integer's or any, a NaN only in its usual form. */
  double Float() {
    switch (Below(4)) {
      case 0:
        return static_cast<double>(Int());
      case 1:
        return static_cast<double>(Int()) / 4;
      case 2: {
        static const double kOdd[] = {-0.0,
                                      1e300 * 1e300,
                                      -1e300 * 1e300,
                                      __builtin_nan(""),
                                      9223372036854775808.0,
                                      18446744073709551616.0,
                                      1e-310};
        return kOdd[Below(sizeof(kOdd) / sizeof(kOdd[0]))];
      }
      default: {
        const double value = Raw<double>();
        return value == value ? value : __builtin_nan("");
      }
    }
  }

  /*! \brief Up to `"`, or 40 bytes in front of which a control character stands. */
  std::string Text() {
    if (!empty() && *at_ < 0x20) {
      size_t size = static_cast<size_t>(Byte()) * 2;
      if (size > left()) size = left();
      std::string text(reinterpret_cast<const char*>(at_), size);
      at_ += size;
      return text;
    }
    return Until('"');
  }

  /*! \brief What comes before a mark, or all. */
  std::string Until(char mark) {
    std::string text;
    while (!empty() && *at_ != static_cast<uint8_t>(mark)) text += static_cast<char>(*at_++);
    if (!empty()) ++at_;
    return text;
  }

  /*! \brief All that is left. */
  std::string_view Rest() {
    const std::string_view rest(reinterpret_cast<const char*>(at_), left());
    at_ = end_;
    return rest;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

}  // namespace fuzz
}  // namespace mxnet

#endif  // MXNET_TESTS_FUZZ_INPUT_H_
