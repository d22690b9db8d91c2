/*!
 * \file trigonometry.cc
 * \brief Trigonometric and hyperbolic functions and their inverses.
 */
#include <cmath>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/math_loops.h"

namespace mxnet {
namespace op {
namespace {

struct Sin {
  static constexpr char kFunction[] = "sin";

  template <typename T>
  static T Apply(T x) {
    return std::sin(x);
  }
};

struct Cos {
  static constexpr char kFunction[] = "cos";

  template <typename T>
  static T Apply(T x) {
    return std::cos(x);
  }
};

struct Tan {
  static constexpr char kFunction[] = "tan";

  template <typename T>
  static T Apply(T x) {
    return std::tan(x);
  }
};

struct Arcsin {
  static constexpr char kFunction[] = "asin";

  template <typename T>
  static T Apply(T x) {
    return std::asin(x);
  }
};

struct Arccos {
  static constexpr char kFunction[] = "acos";

  template <typename T>
  static T Apply(T x) {
    return std::acos(x);
  }
};

struct Arctan {
  static constexpr char kFunction[] = "atan";

  template <typename T>
  static T Apply(T x) {
    return std::atan(x);
  }
};

struct Sinh {
  static constexpr char kFunction[] = "sinh";

  template <typename T>
  static T Apply(T x) {
    return std::sinh(x);
  }
};

struct Cosh {
  static constexpr char kFunction[] = "cosh";

  template <typename T>
  static T Apply(T x) {
    return std::cosh(x);
  }
};

struct Tanh {
  static constexpr char kFunction[] = "tanh";

  template <typename T>
  static T Apply(T x) {
    return std::tanh(x);
  }
};

struct Arcsinh {
  static constexpr char kFunction[] = "asinh";

  template <typename T>
  static T Apply(T x) {
    return std::asinh(x);
  }
};

struct Arccosh {
  static constexpr char kFunction[] = "acosh";

  template <typename T>
  static T Apply(T x) {
    return std::acosh(x);
  }
};

struct Arctanh {
  static constexpr char kFunction[] = "atanh";

  template <typename T>
  static T Apply(T x) {
    return std::atanh(x);
  }
};

template <typename Op>
UnaryOp Analytic() {
  return {MathUnaryLoops<Op, ComplexTypes>(), kMXNetTypesFloat};
}

const UnaryOp kSin = Analytic<Sin>();
const UnaryOp kCos = Analytic<Cos>();
const UnaryOp kTan = Analytic<Tan>();
const UnaryOp kArcsin = Analytic<Arcsin>();
const UnaryOp kArccos = Analytic<Arccos>();
const UnaryOp kArctan = Analytic<Arctan>();
const UnaryOp kSinh = Analytic<Sinh>();
const UnaryOp kCosh = Analytic<Cosh>();
const UnaryOp kTanh = Analytic<Tanh>();
const UnaryOp kArcsinh = Analytic<Arcsinh>();
const UnaryOp kArccosh = Analytic<Arccosh>();
const UnaryOp kArctanh = Analytic<Arctanh>();

MXNET_REGISTER_UNARY("sin", "Sine of x in radians." MXNET_FLOAT_DOC, kSin);
MXNET_REGISTER_UNARY("cos", "Cosine of x in radians." MXNET_FLOAT_DOC, kCos);
MXNET_REGISTER_UNARY("tan", "Tangent of x in radians." MXNET_FLOAT_DOC, kTan);
MXNET_REGISTER_UNARY(
    "arcsin", "Inverse sine in radians, from -pi/2 to pi/2; NaN beyond -1 to 1." MXNET_FLOAT_DOC,
    kArcsin);
MXNET_REGISTER_UNARY("arccos",
                     "Inverse cosine in radians, from 0 to pi; NaN beyond -1 to 1." MXNET_FLOAT_DOC,
                     kArccos);
MXNET_REGISTER_UNARY("arctan", "Inverse tangent in radians, from -pi/2 to pi/2." MXNET_FLOAT_DOC,
                     kArctan);
MXNET_REGISTER_UNARY("sinh", "Hyperbolic sine." MXNET_FLOAT_DOC, kSinh);
MXNET_REGISTER_UNARY("cosh", "Hyperbolic cosine." MXNET_FLOAT_DOC, kCosh);
MXNET_REGISTER_UNARY("tanh", "Hyperbolic tangent." MXNET_FLOAT_DOC, kTanh);
MXNET_REGISTER_UNARY("arcsinh", "Inverse hyperbolic sine." MXNET_FLOAT_DOC, kArcsinh);
MXNET_REGISTER_UNARY("arccosh", "Inverse hyperbolic cosine; NaN below 1." MXNET_FLOAT_DOC,
                     kArccosh);
MXNET_REGISTER_UNARY("arctanh", "Inverse hyperbolic tangent; NaN beyond -1 to 1." MXNET_FLOAT_DOC,
                     kArctanh);

}  // namespace
}  // namespace op
}  // namespace mxnet
