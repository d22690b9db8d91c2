/*!
 * \file logic.cc
 * \brief Logical and bitwise operators, and shifts.
 */
#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {
namespace {

struct And {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct Or {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct Xor {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

struct LogicalAnd {
  template <typename T>
  static bool Apply(T a, T b) {
    return (a != T(0)) & (b != T(0));
  }
};

struct LogicalOr {
  template <typename T>
  static bool Apply(T a, T b) {
    return (a != T(0)) | (b != T(0));
  }
};

struct LogicalXor {
  template <typename T>
  static bool Apply(T a, T b) {
    return (a != T(0)) != (b != T(0));
  }
};

/*! \brief A distance of all bits or more, which C++ leaves open, shifts everything out. */
template <typename T>
bool ShiftsOut(T distance) {
  return static_cast<std::make_unsigned_t<T>>(distance) >= sizeof(T) * 8;
}

struct LeftShift {
  template <typename T>
  static T Apply(T a, T b) {
    return ShiftsOut(b) ? T(0) : static_cast<T>(static_cast<Wrapping<T>>(a) << b);
  }
};

struct RightShift {
  template <typename T>
  static T Apply(T a, T b) {
    if (ShiftsOut(b)) return static_cast<T>(a < T(0) ? -1 : 0);
    return static_cast<T>(a >> b);
  }
};

template <typename Op>
LoopTable BitLoops() {
  return BinaryLoops<Op, BoolType, SignedTypes, UnsignedTypes>();
}

template <typename Op>
LoopTable ShiftLoops() {
  return BinaryLoops<Op, SignedTypes, UnsignedTypes>();
}

template <typename Op>
BinaryOp LogicalOp() {
  return {BinaryLoops<Op, BoolType, SignedTypes, UnsignedTypes, FloatTypes, ComplexTypes>(),
          kMXNetTypesBool, ResultRule::kBool};
}

const BinaryOp kBitwiseAnd{BitLoops<And>()};
const BinaryOp kBitwiseOr{BitLoops<Or>()};
const BinaryOp kBitwiseXor{BitLoops<Xor>()};
const BinaryOp kLogicalAnd = LogicalOp<LogicalAnd>();
const BinaryOp kLogicalOr = LogicalOp<LogicalOr>();
const BinaryOp kLogicalXor = LogicalOp<LogicalXor>();
const BinaryOp kLeftShift{ShiftLoops<LeftShift>(), kMXNetTypesCommonNoBool};
const BinaryOp kRightShift{ShiftLoops<RightShift>(), kMXNetTypesCommonNoBool};

MXNET_REGISTER_BINARY("bitwise_and", "Ands the bits of integers, or bools.", kBitwiseAnd);
MXNET_REGISTER_BINARY("bitwise_or", "Ors the bits of integers, or bools.", kBitwiseOr);
MXNET_REGISTER_BINARY("bitwise_xor", "Exclusive-ors the bits of integers, or bools.", kBitwiseXor);
MXNET_REGISTER_BINARY("logical_and", "Whether both elements are true, that is not zero.",
                      kLogicalAnd);
MXNET_REGISTER_BINARY("logical_or", "Whether at least one element is true, that is not zero.",
                      kLogicalOr);
MXNET_REGISTER_BINARY("logical_xor", "Whether exactly one element is true, that is not zero.",
                      kLogicalXor);
MXNET_REGISTER_BINARY("left_shift",
                      "Shifts the bits of x1 left by x2; a distance beyond its bits gives 0.",
                      kLeftShift);
MXNET_REGISTER_BINARY("right_shift",
                      "Shifts the bits of x1 right by x2, keeping the sign; a distance beyond its "
                      "bits gives 0, or -1 for a negative integer.",
                      kRightShift);

}  // namespace
}  // namespace op
}  // namespace mxnet
