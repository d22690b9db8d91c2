/*!
 * \file json.h
 * \brief Whether a text is JSON.
 */
#ifndef MXNET_TESTS_FUZZ_JSON_H_
#define MXNET_TESTS_FUZZ_JSON_H_

#include <cctype>
#include <string_view>

namespace mxnet {
namespace fuzz {

class Json {
 public:
  static bool IsValid(std::string_view text) {
    Json json(text);
    return json.Value() && (json.Space(), json.text_.empty());
  }

 private:
  explicit Json(std::string_view text) : text_(text) {}

  void Space() {
    while (!text_.empty() && std::string_view(" \n\r\t").find(text_[0]) != text_.npos) Skip();
  }
  void Skip() { text_.remove_prefix(1); }
  bool Take(char mark) {
    Space();
    if (text_.empty() || text_[0] != mark) return false;
    Skip();
    return true;
  }

  bool Value() {
    Space();
    if (text_.empty()) return false;
    if (text_[0] == '"') return String();
    if (Take('[')) return Items(']', [this] { return Value(); });
    if (Take('{')) return Items('}', [this] { return String() && Take(':') && Value(); });
    return Number();
  }

  template <typename Item>
  bool Items(char close, const Item& item) {
    if (Take(close)) return true;
    do {
      if (!item()) return false;
    } while (Take(','));
    return Take(close);
  }

  bool String() {
    if (!Take('"')) return false;
    while (!text_.empty() && text_[0] != '"') {
      if (static_cast<unsigned char>(text_[0]) < 0x20) return false;
      if (text_[0] == '\\') {
        Skip();
        if (text_.empty() || std::string_view("\"\\/bfnrt").find(text_[0]) == text_.npos) {
          return false;
        }
      }
      Skip();
    }
    return Take('"');
  }

  bool Number() {
    if (text_[0] == '-') Skip();
    if (!Digits()) return false;
    if (text_.empty() || text_[0] != '.') return true;
    Skip();
    return Digits();
  }
  bool Digits() {
    bool any = false;
    for (; !text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])) != 0; Skip()) {
      any = true;
    }
    return any;
  }

  std::string_view text_;
};

}  // namespace fuzz
}  // namespace mxnet

#endif  // MXNET_TESTS_FUZZ_JSON_H_
