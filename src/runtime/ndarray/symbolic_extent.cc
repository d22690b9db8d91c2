/*!
 * \file symbolic_extent.cc
 * \brief Extents that are not known yet: polynomials over symbols, each kept once.
 *
 * As every polynomial is kept in one order of its terms, two extents that are equal by arithmetic
 * are the same number, however each was computed.
 */
#include <mxnet/op/c_operator_api.h>
#include <mxnet/runtime/error.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/python_name.h"
#include "runtime/ndarray/extent_parser.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief A factor of a product: a name, or the text of a quotient, a broadcast axis and so on. */
using Atom = int;
/*! \brief Atoms in ascending order, one several times for a power. */
using Monomial = std::vector<Atom>;

/*! \brief Longer products come first, so that a text reads "2*n*m + n + 1". */
struct LongerFirst {
  bool operator()(const Monomial& a, const Monomial& b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};
/*! \brief Coefficients, none of them 0. */
using Polynomial = std::map<Monomial, int64_t, LongerFirst>;

/*! \brief All extents of the process. */
class Extents {
 public:
  static Extents& Global() {
    static auto* extents = new Extents();  // threads may ask while the process ends
    return *extents;
  }

  /*! \brief The extent of a name, or of a text that Text has given. */
  int64_t Symbol(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (IsIdentifier(text.c_str())) return Intern(AsPolynomial(text));
    const int64_t extent = Intern(ExtentParser<Extents>(text, this).Parse());
    if (extent >= 0) ThrowNoExtent(text);
    return extent;
  }

  /*! \brief A symbol of a name that none has. */
  int64_t New(const std::string& prefix) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string name;
    do {
      name = prefix + std::to_string(next_++);
    } while (atoms_.count(name) != 0);
    return Intern(AsPolynomial(name));
  }

  int64_t Combine(int32_t operation, int64_t a, int64_t b) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Intern(Combined(operation, Of(a), Of(b)));
  }

  const char* Text(int64_t extent) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Kept(TextOf(Of(extent)));
  }

 private:
  friend class ExtentParser<Extents>;

  /*! \brief The number of the first polynomial; -1 means "any extent" to callers. */
  static constexpr int64_t kFirst = -2;

  Polynomial Combined(int32_t operation, const Polynomial& a, const Polynomial& b) {
    switch (operation) {
      case kMXNetExtentAdd:
        return Sum(a, b, 1);
      case kMXNetExtentSubtract:
        return Sum(a, b, -1);
      case kMXNetExtentMultiply:
        return Product(a, b);
      case kMXNetExtentFloorDivide:
        return Quotient(a, b);
      case kMXNetExtentBroadcast:
        return Broadcast(a, b);
      case kMXNetExtentMin:
        return Min(a, b);
      case kMXNetExtentMonus:
        return b.empty() ? a : NotNegative(Sum(a, b, -1));
      default:
        MXNET_THROW("ValueError") << "MXNetExtentCombine: there is no operation " << operation;
    }
  }

  Polynomial Of(int64_t extent) const {
    if (extent >= 0) return AsPolynomial(extent);
    const auto index = static_cast<size_t>(kFirst - extent);
    if (extent > kFirst || index >= polynomials_.size()) {
      MXNET_THROW("ValueError") << extent << " is no extent, and no symbol of one";
    }
    return *polynomials_[index];
  }

  int64_t Intern(Polynomial polynomial) {
    if (polynomial.empty()) return 0;
    if (polynomial.size() == 1 && polynomial.begin()->first.empty()) {
      const int64_t known = polynomial.begin()->second;
      if (known < 0) MXNET_THROW("ValueError") << "an axis of " << known << " elements";
      return known;
    }
    const auto next = kFirst - static_cast<int64_t>(polynomials_.size());
    const auto [at, is_new] = numbers_.emplace(std::move(polynomial), next);
    if (is_new) polynomials_.push_back(&at->first);
    return at->second;
  }

  static Polynomial AsPolynomial(int64_t number) {
    return number == 0 ? Polynomial{} : Polynomial{{{}, number}};
  }

  /*! \brief The atom of a text, as often as it is asked for. */
  Polynomial AsPolynomial(const std::string& text) {
    const auto [at, is_new] = atoms_.emplace(text, static_cast<Atom>(names_.size()));
    if (is_new) names_.push_back(&at->first);
    return {{{at->second}, 1}};
  }

  /*! \brief The number that a polynomial is; -1 for one of symbols. */
  static int64_t NumberOf(const Polynomial& polynomial) {
    if (polynomial.empty()) return 0;
    const bool is_number = polynomial.size() == 1 && polynomial.begin()->first.empty();
    return is_number ? polynomial.begin()->second : -1;
  }

  [[noreturn]] static void ThrowTooLong() {
    MXNET_THROW("ValueError") << "an extent is longer than 2**63 - 1";
  }

  static int64_t Times(int64_t a, int64_t b) {
    int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) ThrowTooLong();
    return product;
  }

  static void Add(const Monomial& monomial, int64_t coefficient, Polynomial* to) {
    int64_t& sum = (*to)[monomial];
    if (__builtin_add_overflow(sum, coefficient, &sum)) ThrowTooLong();
    if (sum == 0) to->erase(monomial);
  }

  static Polynomial Sum(Polynomial a, const Polynomial& b, int64_t sign) {
    for (const auto& [monomial, coefficient] : b) Add(monomial, Times(sign, coefficient), &a);
    return a;
  }

  static Polynomial Product(const Polynomial& a, const Polynomial& b) {
    Polynomial product;
    for (const auto& [left, x] : a) {
      for (const auto& [right, y] : b) {
        Monomial both;
        std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
        Add(both, Times(x, y), &product);
      }
    }
    return product;
  }

  /*! \brief Whether a polynomial, or its negative, has no negative term; then it is not negative.
   */
  static bool IsNotNegative(const Polynomial& polynomial, int64_t sign = 1) {
    return std::all_of(polynomial.begin(), polynomial.end(),
                       [sign](const auto& term) { return (term.second > 0) == (sign > 0); });
  }

  /*! \brief Divides every term by the only term of b; false where there is a remainder. */
  static bool TryDivide(const Polynomial& a, const Polynomial& b, Polynomial* out) {
    // Extents are not negative, so a divisor that may be is not handled.
    if (b.size() != 1 || b.begin()->second <= 0) return false;
    const auto& [divisor, by] = *b.begin();
    for (const auto& [monomial, coefficient] : a) {
      const bool has_all =
          std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end());
      if (!has_all || coefficient % by != 0) return false;
      Monomial rest;
      std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                          std::back_inserter(rest));
      Add(rest, coefficient / by, out);
    }
    return true;
  }

  Polynomial Quotient(const Polynomial& a, const Polynomial& b) {
    if (b.empty()) MXNET_THROW("ValueError") << "an extent is divided by 0";
    if (a.empty()) return {};
    if (a == b) return AsPolynomial(1);
    Polynomial exact;
    if (TryDivide(a, b, &exact)) return exact;
    const int64_t by = NumberOf(b);
    if (by > 0) return QuotientBy(a, by);
    return AsPolynomial("floor((" + TextOf(a) + ")/(" + TextOf(b) + "))");
  }

  /*! \brief A quotient by a number, of which the floor has only what is less than that. */
  Polynomial QuotientBy(const Polynomial& a, int64_t by) {
    Polynomial whole;
    Polynomial rest;
    for (const auto& [monomial, coefficient] : a) {
      const bool is_below = coefficient % by < 0;
      const int64_t left = coefficient % by + (is_below ? by : 0);
      if (left != 0) rest[monomial] = left;
      if (coefficient != left) whole[monomial] = coefficient / by - (is_below ? 1 : 0);
    }
    // Of a number alone that is 0.
    if (NumberOf(rest) >= 0) return whole;
    return Sum(whole, AsPolynomial("floor((" + TextOf(rest) + ")/(" + std::to_string(by) + "))"),
               1);
  }

  Polynomial Broadcast(const Polynomial& a, const Polynomial& b) {
    const int64_t left = NumberOf(a);
    const int64_t right = NumberOf(b);
    if (a == b || right == 1) return a;
    if (left > 1 && right > 1) {
      MXNET_THROW("ValueError") << "axes of " << left << " and " << right
                                << " elements do not broadcast";
    }
    // A known extent other than 1 is the result: the other axis has the same, or 1.
    if (left == 1 || right >= 0) return b;
    if (left >= 0) return a;
    return OfTwo("broadcast", a, b);
  }

  Polynomial Min(const Polynomial& a, const Polynomial& b) {
    const Polynomial difference = Sum(a, b, -1);
    if (IsNotNegative(difference)) return b;
    if (IsNotNegative(difference, -1)) return a;
    return OfTwo("min", a, b);
  }

  Polynomial NotNegative(const Polynomial& a) {
    if (IsNotNegative(a)) return a;
    if (IsNotNegative(a, -1)) return {};
    return AsPolynomial("max(" + TextOf(a) + ", 0)");
  }

  /*! \brief An atom of two extents, the same whichever comes first: "min(n, 4)". */
  Polynomial OfTwo(const char* function, const Polynomial& a, const Polynomial& b) {
    int64_t first = Intern(a);
    int64_t second = Intern(b);
    // Numbers last, symbols as they came up.
    if (first >= 0 || (second < 0 && second > first)) std::swap(first, second);
    return AsPolynomial(std::string(function) + "(" + TextOf(Of(first)) + ", " +
                        TextOf(Of(second)) + ")");
  }

  std::string TextOf(const Polynomial& polynomial) const {
    std::string text;
    for (const auto& [monomial, coefficient] : polynomial) {
      const bool negative = coefficient < 0;
      text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
      const uint64_t size = negative ? -static_cast<uint64_t>(coefficient) : coefficient;
      std::string term = size == 1 && !monomial.empty() ? "" : std::to_string(size);
      for (Atom atom : monomial) {
        term += (term.empty() ? "" : "*") + *names_[static_cast<size_t>(atom)];
      }
      text += term;
    }
    return text.empty() ? "0" : text;
  }

  const char* Kept(std::string text) {
    return texts_.emplace(std::move(text), 0).first->first.c_str();
  }

  std::mutex mutex_;
  int64_t next_{0};
  std::map<std::string, Atom> atoms_;
  std::vector<const std::string*> names_;
  std::map<Polynomial, int64_t> numbers_;
  std::vector<const Polynomial*> polynomials_;
  std::map<std::string, int> texts_;
};

}  // namespace
}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::Extents;
using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;

namespace {

/*! \brief ValueError for a name that is no identifier: it could be the text of another extent. */
void RequireName(const char* name) {
  if (!mxnet::runtime::IsIdentifier(name)) mxnet::runtime::ThrowNoExtent(name);
}

}  // namespace

int MXNetExtentSymbol(const char* name, int64_t* out) {
  return Guard([&] {
    RequireNotNull(name, "MXNetExtentSymbol", "name");
    RequireNotNull(out, "MXNetExtentSymbol", "out");
    *out = Extents::Global().Symbol(name);
  });
}

int MXNetExtentNew(const char* prefix, int64_t* out) {
  return Guard([&] {
    RequireNotNull(prefix, "MXNetExtentNew", "prefix");
    RequireNotNull(out, "MXNetExtentNew", "out");
    RequireName(prefix);
    *out = Extents::Global().New(prefix);
  });
}

int MXNetExtentCombine(int32_t operation, int64_t a, int64_t b, int64_t* out) {
  return Guard([&] {
    RequireNotNull(out, "MXNetExtentCombine", "out");
    *out = Extents::Global().Combine(operation, a, b);
  });
}

int MXNetExtentText(int64_t extent, const char** out) {
  return Guard([&] {
    RequireNotNull(out, "MXNetExtentText", "out");
    *out = Extents::Global().Text(extent);
  });
}
