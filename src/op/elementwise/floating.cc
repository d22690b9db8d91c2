/*!
 * \file floating.cc
 * \brief Binary operators of floating point numbers: arctan2, hypot, logaddexp, copysign.
 */
#include <cmath>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/math_loops.h"

namespace mxnet {
namespace op {
namespace {

struct Arctan2 {
  static constexpr char kFunction[] = "atan2";

  template <typename T>
  static T Apply(T a, T b) {
    return std::atan2(a, b);
  }
};

struct Hypot {
  static constexpr char kFunction[] = "hypot";

  template <typename T>
  static T Apply(T a, T b) {
    return std::hypot(a, b);
  }
};

struct Copysign {
  template <typename T>
  static T Apply(T a, T b) {
    return std::copysign(a, b);
  }
};

struct LogAddExp {
  template <typename T>
  static T Apply(T a, T b) {
    // Equal operands may be infinite, and their difference NaN.
    if (a == b) return a + std::log(T(2));
    const T difference = a - b;
    if (difference > 0) return a + std::log1p(std::exp(-difference));
    return difference <= 0 ? b + std::log1p(std::exp(difference)) : difference;
  }
};

const BinaryOp kArctan2{MathBinaryLoops<Arctan2>(), kMXNetTypesFloat};
const BinaryOp kHypot{MathBinaryLoops<Hypot>(), kMXNetTypesFloat};
const BinaryOp kCopysign{BinaryLoops<Copysign, FloatTypes>(), kMXNetTypesFloat};
const BinaryOp kLogAddExp{BinaryLoops<LogAddExp, FloatTypes>(), kMXNetTypesFloat};

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
