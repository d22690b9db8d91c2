/*!
 * \file floating.cc
 * \brief Binary operators of floating point numbers: arctan2, hypot, logaddexp, copysign.
 */
#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/math_loops.h"

namespace mxnet {
namespace op {
namespace {

struct Arctan2 : formulas::arctan2 {
  static constexpr char kFunction[] = "atan2";
};

struct Hypot : formulas::hypot {
  static constexpr char kFunction[] = "hypot";
};

template <typename Op>
BinaryOp MathOf() {
  return {MathBinaryLoops<Op>(), Op::kRule, Op::kResult};
}

const BinaryOp kArctan2 = MathOf<Arctan2>();
const BinaryOp kHypot = MathOf<Hypot>();
const BinaryOp kCopysign = BinaryOf<formulas::copysign>();
const BinaryOp kLogAddExp = BinaryOf<formulas::logaddexp>();

MXNET_REGISTER_BINARY("arctan2",
                      "Angle in radians, from -pi to pi, of the point with coordinates (x2, x1).",
                      kArctan2);
MXNET_REGISTER_BINARY("hypot", "Length of the hypotenuse, sqrt(x1**2 + x2**2), without overflow.",
                      kHypot);
MXNET_REGISTER_BINARY("copysign", "x1 with the sign of x2.", kCopysign);
MXNET_REGISTER_BINARY("logaddexp", "log(exp(x1) + exp(x2)), without overflow.", kLogAddExp);

}  // namespace
}  // namespace op
}  // namespace mxnet
