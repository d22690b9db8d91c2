/*!
 * \file exponential.cc
 * \brief Exponentials, logarithms, roots and the activations made of them.
 */
#include <cmath>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/math_loops.h"

namespace mxnet {
namespace op {
namespace {

struct Erf : formulas::erf {
  static constexpr char kFunction[] = "erf";
};

struct Exp : formulas::exp {
  static constexpr char kFunction[] = "exp";
};

struct Exp2 : formulas::exp2 {
  static constexpr char kFunction[] = "exp2";

  using formulas::exp2::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    return std::exp(x * static_cast<Part>(0.693147180559945309417));
  }
};

struct Expm1 : formulas::expm1 {
  static constexpr char kFunction[] = "expm1";

  using formulas::expm1::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    // cos(y) - 1 is -2*sin(y/2)**2, without the cancellation.
    const Part half = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half,
            std::exp(x.real()) * std::sin(x.imag())};
  }
};

struct Log : formulas::log {
  static constexpr char kFunction[] = "log";
};

struct Log2 : formulas::log2 {
  static constexpr char kFunction[] = "log2";

  using formulas::log2::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    return std::log(x) * static_cast<Part>(1.442695040888963407360);
  }
};

struct Log10 : formulas::log10 {
  static constexpr char kFunction[] = "log10";
};

struct Log1p : formulas::log1p {
  static constexpr char kFunction[] = "log1p";

  using formulas::log1p::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    const Part re = x.real() + 1;
    return {std::log(std::hypot(re, x.imag())), std::atan2(x.imag(), re)};
  }
};

struct Cbrt : formulas::cbrt {
  static constexpr char kFunction[] = "cbrt";

  /*! \brief With a correction, after which it is exact where that is possible. */
  template <typename T>
  static T Apply(T x) {
    using Wide = std::conditional_t<sizeof(T) == sizeof(float), double, long double>;
    const T root = formulas::cbrt::Apply(x);
    if (root == 0 || !std::isfinite(root)) return root;
    const Wide y = root;
    return static_cast<T>(y - (y * y * y - x) / (3 * y * y));
  }
};

struct Sigmoid : formulas::sigmoid {
  static constexpr char kFunction[] = "sigmoid";
};

template <typename Op, typename... Lists>
UnaryOp MathOf() {
  return {MathUnaryLoops<Op, Lists...>(), Op::kRule, Op::kResult};
}

const UnaryOp kErf = MathOf<Erf>();
const UnaryOp kExp = MathOf<Exp, ComplexTypes>();
const UnaryOp kExp2 = MathOf<Exp2, ComplexTypes>();
const UnaryOp kExpm1 = MathOf<Expm1, ComplexTypes>();
const UnaryOp kLog = MathOf<Log, ComplexTypes>();
const UnaryOp kLog2 = MathOf<Log2, ComplexTypes>();
const UnaryOp kLog10 = MathOf<Log10, ComplexTypes>();
const UnaryOp kLog1p = MathOf<Log1p, ComplexTypes>();
const UnaryOp kSqrt = UnaryOf<formulas::sqrt, ComplexTypes>();
const UnaryOp kCbrt = MathOf<Cbrt>();
const UnaryOp kSigmoid = MathOf<Sigmoid>();
const UnaryOp kSoftsign = UnaryOf<formulas::softsign>();

MXNET_REGISTER_UNARY_EXTENSION("erf", "The error function of a real number." MXNET_FLOAT_DOC, kErf);
MXNET_REGISTER_UNARY("exp", "e**x." MXNET_FLOAT_DOC, kExp);
MXNET_REGISTER_UNARY("exp2", "2**x." MXNET_FLOAT_DOC, kExp2);
MXNET_REGISTER_UNARY("expm1", "e**x - 1, exact near 0." MXNET_FLOAT_DOC, kExpm1);
MXNET_REGISTER_UNARY("log", "Natural logarithm; NaN below 0." MXNET_FLOAT_DOC, kLog);
MXNET_REGISTER_UNARY("log2", "Logarithm to base 2; NaN below 0." MXNET_FLOAT_DOC, kLog2);
MXNET_REGISTER_UNARY("log10", "Logarithm to base 10; NaN below 0." MXNET_FLOAT_DOC, kLog10);
MXNET_REGISTER_UNARY("log1p", "log(1 + x), exact near 0." MXNET_FLOAT_DOC, kLog1p);
MXNET_REGISTER_UNARY("sqrt", "Square root; NaN below 0." MXNET_FLOAT_DOC, kSqrt);
MXNET_REGISTER_UNARY("cbrt", "Cube root of a real number." MXNET_FLOAT_DOC, kCbrt);
MXNET_REGISTER_UNARY_EXTENSION("sigmoid", "1 / (1 + exp(-x)) of a real number." MXNET_FLOAT_DOC,
                               kSigmoid);
MXNET_REGISTER_UNARY_EXTENSION("softsign", "x / (1 + abs(x)) of a real number." MXNET_FLOAT_DOC,
                               kSoftsign);

}  // namespace
}  // namespace op
}  // namespace mxnet
