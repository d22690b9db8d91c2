/*!
 * \file trigonometry.cc
 * \brief Trigonometric and hyperbolic functions and their inverses.
 */
#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/math_loops.h"

namespace mxnet {
namespace op {
namespace {

struct Sin : formulas::sin {
  static constexpr char kFunction[] = "sin";
};

struct Cos : formulas::cos {
  static constexpr char kFunction[] = "cos";
};

struct Tan : formulas::tan {
  static constexpr char kFunction[] = "tan";
};

struct Arcsin : formulas::arcsin {
  static constexpr char kFunction[] = "asin";
};

struct Arccos : formulas::arccos {
  static constexpr char kFunction[] = "acos";
};

struct Arctan : formulas::arctan {
  static constexpr char kFunction[] = "atan";
};

struct Sinh : formulas::sinh {
  static constexpr char kFunction[] = "sinh";
};

struct Cosh : formulas::cosh {
  static constexpr char kFunction[] = "cosh";
};

struct Tanh : formulas::tanh {
  static constexpr char kFunction[] = "tanh";
};

struct Arcsinh : formulas::arcsinh {
  static constexpr char kFunction[] = "asinh";
};

struct Arccosh : formulas::arccosh {
  static constexpr char kFunction[] = "acosh";
};

struct Arctanh : formulas::arctanh {
  static constexpr char kFunction[] = "atanh";
};

template <typename Op>
UnaryOp Analytic() {
  return {MathUnaryLoops<Op, ComplexTypes>(), Op::kRule, Op::kResult};
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
