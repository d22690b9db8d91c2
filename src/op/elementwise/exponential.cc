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

struct Exp {
  static constexpr char kFunction[] = "exp";

  template <typename T>
  static T Apply(T x) {
    return std::exp(x);
  }
};

struct Exp2 {
  static constexpr char kFunction[] = "exp2";

  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplexType<T>) {
      return std::exp(x * static_cast<typename T::value_type>(0.693147180559945309417));
    } else {
      return std::exp2(x);
    }
  }
};

struct Expm1 {
  static constexpr char kFunction[] = "expm1";

  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplexType<T>) {
      // cos(y) - 1 is -2*sin(y/2)**2, without the cancellation.
      const auto half = std::sin(x.imag() / 2);
      return T(std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half,
               std::exp(x.real()) * std::sin(x.imag()));
    } else {
      return std::expm1(x);
    }
  }
};

struct Log {
  static constexpr char kFunction[] = "log";

  template <typename T>
  static T Apply(T x) {
    return std::log(x);
  }
};

struct Log2 {
  static constexpr char kFunction[] = "log2";

  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplexType<T>) {
      return std::log(x) * static_cast<typename T::value_type>(1.442695040888963407360);
    } else {
      return std::log2(x);
    }
  }
};

struct Log10 {
  static constexpr char kFunction[] = "log10";

  template <typename T>
  static T Apply(T x) {
    return std::log10(x);
  }
};

struct Log1p {
  static constexpr char kFunction[] = "log1p";

  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplexType<T>) {
      const auto re = x.real() + 1;
      return T(std::log(std::hypot(re, x.imag())), std::atan2(x.imag(), re));
    } else {
      return std::log1p(x);
    }
  }
};

struct Sqrt {
  template <typename T>
  static T Apply(T x) {
    return std::sqrt(x);
  }
};

struct Cbrt {
  static constexpr char kFunction[] = "cbrt";

  /*! \brief With a correction, after which it is exact where that is possible. */
  template <typename T>
  static T Apply(T x) {
    using Wide = std::conditional_t<sizeof(T) == sizeof(float), double, long double>;
    const T root = std::cbrt(x);
    if (root == 0 || !std::isfinite(root)) return root;
    const Wide y = root;
    return static_cast<T>(y - (y * y * y - x) / (3 * y * y));
  }
};

struct Sigmoid {
  template <typename T>
  static T Apply(T x) {
    return T(1) / (T(1) + std::exp(-x));
  }
};

struct Softsign {
  template <typename T>
  static T Apply(T x) {
    return x / (T(1) + std::fabs(x));
  }
};

template <typename Op>
UnaryOp Analytic() {
  return {MathUnaryLoops<Op, ComplexTypes>(), kMXNetTypesFloat};
}

template <typename Op>
UnaryOp Real() {
  return {UnaryLoops<Op, FloatTypes>(), kMXNetTypesFloat};
}

const UnaryOp kExp = Analytic<Exp>();
const UnaryOp kExp2 = Analytic<Exp2>();
const UnaryOp kExpm1 = Analytic<Expm1>();
const UnaryOp kLog = Analytic<Log>();
const UnaryOp kLog2 = Analytic<Log2>();
const UnaryOp kLog10 = Analytic<Log10>();
const UnaryOp kLog1p = Analytic<Log1p>();
const UnaryOp kSqrt{UnaryLoops<Sqrt, FloatTypes, ComplexTypes>(), kMXNetTypesFloat};
const UnaryOp kCbrt{MathUnaryLoops<Cbrt>(), kMXNetTypesFloat};
const UnaryOp kSigmoid = Real<Sigmoid>();
const UnaryOp kSoftsign = Real<Softsign>();

MXNET_REGISTER_UNARY("exp", "e**x." MXNET_FLOAT_DOC, kExp);
MXNET_REGISTER_UNARY("exp2", "2**x." MXNET_FLOAT_DOC, kExp2);
MXNET_REGISTER_UNARY("expm1", "e**x - 1, exact near 0." MXNET_FLOAT_DOC, kExpm1);
MXNET_REGISTER_UNARY("log", "Natural logarithm; NaN below 0." MXNET_FLOAT_DOC, kLog);
MXNET_REGISTER_UNARY("log2", "Logarithm to base 2; NaN below 0." MXNET_FLOAT_DOC, kLog2);
MXNET_REGISTER_UNARY("log10", "Logarithm to base 10; NaN below 0." MXNET_FLOAT_DOC, kLog10);
MXNET_REGISTER_UNARY("log1p", "log(1 + x), exact near 0." MXNET_FLOAT_DOC, kLog1p);
MXNET_REGISTER_UNARY("sqrt", "Square root; NaN below 0." MXNET_FLOAT_DOC, kSqrt);
MXNET_REGISTER_UNARY("cbrt", "Cube root of a real number." MXNET_FLOAT_DOC, kCbrt);
MXNET_REGISTER_UNARY("sigmoid", "1 / (1 + exp(-x)) of a real number." MXNET_FLOAT_DOC, kSigmoid);
MXNET_REGISTER_UNARY("softsign", "x / (1 + abs(x)) of a real number." MXNET_FLOAT_DOC, kSoftsign);

}  // namespace
}  // namespace op
}  // namespace mxnet
