/*!
 * \file extremum.cc
 * \brief maximum, minimum, fmax, fmin.
 */
#include "op/elementwise/elementwise.h"
#include "op/semantics/order.h"

namespace mxnet {
namespace op {
namespace {

struct Maximum {
  template <typename T>
  static T Apply(T a, T b) {
    return IsNan(a) || GreaterEqualValue(a, b) ? a : b;
  }
};

struct Minimum {
  template <typename T>
  static T Apply(T a, T b) {
    return IsNan(a) || LessEqualValue(a, b) ? a : b;
  }
};

struct Fmax {
  template <typename T>
  static T Apply(T a, T b) {
    return IsNan(b) || GreaterEqualValue(a, b) ? a : b;
  }
};

struct Fmin {
  template <typename T>
  static T Apply(T a, T b) {
    return IsNan(b) || LessEqualValue(a, b) ? a : b;
  }
};

template <typename Op>
LoopTable AllLoops() {
  return BinaryLoops<Op, BoolType, SignedTypes, UnsignedTypes, FloatTypes, ComplexTypes>();
}

const BinaryOp kMaximum{AllLoops<Maximum>()};
const BinaryOp kMinimum{AllLoops<Minimum>()};
const BinaryOp kFmax{AllLoops<Fmax>()};
const BinaryOp kFmin{AllLoops<Fmin>()};

MXNET_REGISTER_BINARY("maximum",
                      "The larger of two elements; NaN where either is NaN. Complex numbers are "
                      "ordered by real, then imaginary part.",
                      kMaximum);
MXNET_REGISTER_BINARY("minimum",
                      "The smaller of two elements; NaN where either is NaN. Complex numbers are "
                      "ordered by real, then imaginary part.",
                      kMinimum);
MXNET_REGISTER_BINARY("fmax", "The larger of two elements; of a number and NaN the number.", kFmax);
MXNET_REGISTER_BINARY("fmin", "The smaller of two elements; of a number and NaN the number.",
                      kFmin);

}  // namespace

const LoopTable& MaximumLoops() { return kMaximum.table; }
const LoopTable& MinimumLoops() { return kMinimum.table; }

}  // namespace op
}  // namespace mxnet
