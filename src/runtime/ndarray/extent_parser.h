/*!
 * \file extent_parser.h
 * \brief Reads the texts of extents: "2*n*m + floor((n + 1)/(2))".
 */
#ifndef MXNET_SRC_RUNTIME_NDARRAY_EXTENT_PARSER_H_
#define MXNET_SRC_RUNTIME_NDARRAY_EXTENT_PARSER_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/runtime/error.h>

#include <string>
#include <utility>

namespace mxnet {
namespace runtime {

[[noreturn, gnu::cold]] inline void ThrowNoExtent(const std::string& text) {
  MXNET_THROW("ValueError") << "'" << text
                            << "' is no symbolic extent: expected a name of letters, "
                            << "digits and _, with no digit first, or what is computed of names, "
                            << "such as '2*n + 1'";
}

/*!
 * \brief Parses one text.
 *
 *   sum = ["-"] product {("+" | "-") product}
 *   product = factor {"*" factor}
 *   factor = number | name | "floor((" sum ")/(" sum "))" | "broadcast(" sum "," sum ")"
 *          | "min(" sum "," sum ")" | "max(" sum "," "0" ")"
 *
 * Algebra computes: Combined(MXNetExtentOperation, a, b), NotNegative(a), and AsPolynomial of a
 * number or a name.
 */
template <typename Algebra>
class ExtentParser {
 public:
  ExtentParser(const std::string& text, Algebra* algebra) : text_(text), algebra_(algebra) {}

  auto Parse() {
    auto sum = Sum();
    if (at_ != text_.size()) Throw();
    return sum;
  }

 private:
  // Texts of calls are shallow; the stack is not for everybody's parentheses.
  static constexpr int kMostDepth = 100;

  [[noreturn]] void Throw() const { ThrowNoExtent(text_); }

  auto Sum() {
    if (++depth_ > kMostDepth) Throw();
    auto sum = algebra_->AsPolynomial(int64_t{0});
    auto sign = Accept('-') ? kMXNetExtentSubtract : kMXNetExtentAdd;
    while (true) {
      sum = algebra_->Combined(sign, sum, Product());
      if (Accept('+')) {
        sign = kMXNetExtentAdd;
      } else if (Accept('-')) {
        sign = kMXNetExtentSubtract;
      } else {
        --depth_;
        return sum;
      }
    }
  }

  auto Product() -> decltype(std::declval<Algebra>().AsPolynomial(int64_t{0})) {
    auto product = Factor();
    while (Accept('*')) product = algebra_->Combined(kMXNetExtentMultiply, product, Factor());
    return product;
  }

  auto Factor() -> decltype(std::declval<Algebra>().AsPolynomial(int64_t{0})) {
    SkipSpaces();
    const std::string word = Word();
    if (word.empty()) Throw();
    if (IsDigit(word[0])) return algebra_->AsPolynomial(Number(word));
    if (!Accept('(')) return algebra_->AsPolynomial(word);
    if (word == "floor") return Quotient();
    auto first = Sum();
    Expect(',');
    if (word == "max") {
      Expect('0');
      Expect(')');
      return algebra_->NotNegative(first);
    }
    if (word != "min" && word != "broadcast") Throw();
    auto second = Sum();
    Expect(')');
    return algebra_->Combined(word == "min" ? kMXNetExtentMin : kMXNetExtentBroadcast, first,
                              second);
  }

  /*! \brief What follows "floor(". */
  auto Quotient() -> decltype(std::declval<Algebra>().AsPolynomial(int64_t{0})) {
    Expect('(');
    auto dividend = Sum();
    Expect(')');
    Expect('/');
    Expect('(');
    auto divisor = Sum();
    Expect(')');
    Expect(')');
    return algebra_->Combined(kMXNetExtentFloorDivide, dividend, divisor);
  }

  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  static bool IsOfWord(char c) {
    return IsDigit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  std::string Word() {
    const size_t start = at_;
    while (at_ < text_.size() && IsOfWord(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  int64_t Number(const std::string& word) const {
    int64_t number = 0;
    for (char c : word) {
      if (!IsDigit(c) || __builtin_mul_overflow(number, 10, &number) ||
          __builtin_add_overflow(number, c - '0', &number)) {
        Throw();
      }
    }
    return number;
  }

  void SkipSpaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool Accept(char c) {
    SkipSpaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void Expect(char c) {
    if (!Accept(c)) Throw();
  }

  const std::string& text_;
  Algebra* algebra_;
  size_t at_{0};
  int depth_{0};
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_NDARRAY_EXTENT_PARSER_H_
