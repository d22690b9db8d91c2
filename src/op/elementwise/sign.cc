/*!
 * \file sign.cc
 * \brief Unary operators that keep the element type: negative, absolute, square, relu and others.
 */
#include <cmath>

#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {
namespace {

struct Negative : formulas::negative {
  using formulas::negative::Apply;
  /*! \brief By parts, of which compilers make vectors. */
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    return {-x.real(), -x.imag()};
  }
};

struct Absolute : formulas::absolute {
  using formulas::absolute::Apply;
  template <typename Part>
  static Part Apply(std::complex<Part> x) {
    return std::hypot(x.real(), x.imag());
  }
};

struct Sign : formulas::sign {
  using formulas::sign::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    const Part length = std::hypot(x.real(), x.imag());
    if (length == 0) return 0;
    // Both parts infinite leave no direction.
    if (std::isinf(length)) return InfiniteSign(x);
    return {x.real() / length, x.imag() / length};
  }

 private:
  template <typename Part>
  static std::complex<Part> InfiniteSign(std::complex<Part> x) {
    const Part re = std::isinf(x.real()) ? std::copysign(Part(1), x.real()) : Part(0);
    const Part im = std::isinf(x.imag()) ? std::copysign(Part(1), x.imag()) : Part(0);
    const Part nan = std::numeric_limits<Part>::quiet_NaN();
    if (re != 0 && im != 0) return {nan, nan};
    return {re, im};
  }
};

struct Square : formulas::square {
  using formulas::square::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    return {x.real() * x.real() - x.imag() * x.imag(), x.real() * x.imag() + x.imag() * x.real()};
  }
};

struct Reciprocal : formulas::reciprocal {
  using formulas::reciprocal::Apply;
  /*! \brief Scales by the larger part, so that |x|**2 need not be representable. */
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    if (std::fabs(x.imag()) <= std::fabs(x.real())) {
      const Part ratio = x.imag() / x.real();
      const Part length = x.real() + x.imag() * ratio;
      return {1 / length, -ratio / length};
    }
    const Part ratio = x.real() / x.imag();
    const Part length = x.real() * ratio + x.imag();
    return {ratio / length, -1 / length};
  }
};

struct Conjugate : formulas::conjugate {
  using formulas::conjugate::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    return {x.real(), -x.imag()};
  }
};

const UnaryOp kNegative = UnaryOf<Negative, ComplexTypes>("; use invert or logical_not for bool");
const UnaryOp kPositive = UnaryKeepingIntegers<formulas::positive, ComplexTypes>();
const UnaryOp kAbsolute = UnaryOf<Absolute, ComplexTypes>();
const UnaryOp kSign = UnaryOf<Sign, ComplexTypes>();
const UnaryOp kSquare = UnaryOf<Square, ComplexTypes>();
const UnaryOp kReciprocal = UnaryOf<Reciprocal, ComplexTypes>();
const UnaryOp kConjugate = UnaryKeepingIntegers<Conjugate, ComplexTypes>();
const UnaryOp kRelu = UnaryOf<formulas::relu>();

MXNET_REGISTER_UNARY("negative", "-x. Integers wrap; bool has no negative.", kNegative);
MXNET_REGISTER_UNARY("positive", "+x, a copy. bool has no sign.", kPositive);
MXNET_REGISTER_UNARY("absolute", "Absolute value; of a complex number its length, a real number.",
                     kAbsolute);
MXNET_REGISTER_UNARY("sign", "-1, 0 or 1 by the sign of x, NaN for NaN; of a complex x, x/abs(x).",
                     kSign);
MXNET_REGISTER_UNARY("square", "x*x.", kSquare);
MXNET_REGISTER_UNARY("reciprocal", "1/x, of integers towards zero; of the integer 0 it is 0.",
                     kReciprocal);
MXNET_REGISTER_UNARY("conjugate", "Complex conjugate; real numbers stay as they are.", kConjugate);
MXNET_REGISTER_UNARY_EXTENSION("relu", "x where it is positive, else 0; NaN stays NaN.", kRelu);

}  // namespace
}  // namespace op
}  // namespace mxnet
