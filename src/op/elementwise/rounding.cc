/*!
 * \file rounding.cc
 * \brief Rounding, and unary operators whose result is bool or bits.
 */
#include <cmath>

#include "op/elementwise/elementwise.h"
#include "op/semantics/order.h"

namespace mxnet {
namespace op {
namespace {

struct Floor {
  template <typename T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::floor(x);
    if constexpr (!std::is_floating_point_v<T>) return x;
  }
};

struct Ceil {
  template <typename T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::ceil(x);
    if constexpr (!std::is_floating_point_v<T>) return x;
  }
};

struct Trunc {
  template <typename T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::trunc(x);
    if constexpr (!std::is_floating_point_v<T>) return x;
  }
};

struct Rint {
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplexType<T>) return T(std::rint(x.real()), std::rint(x.imag()));
    if constexpr (!kIsComplexType<T>) return std::rint(x);
  }
};

struct IsNanOp {
  template <typename T>
  static bool Apply(T x) {
    return IsNan(x);
  }
};

struct IsInf {
  template <typename T>
  static bool Apply(T x) {
    if constexpr (kIsComplexType<T>) return std::isinf(x.real()) || std::isinf(x.imag());
    if constexpr (std::is_floating_point_v<T>) return std::isinf(x);
    return false;
  }
};

struct IsFinite {
  template <typename T>
  static bool Apply(T x) {
    if constexpr (kIsComplexType<T>) return std::isfinite(x.real()) && std::isfinite(x.imag());
    if constexpr (std::is_floating_point_v<T>) return std::isfinite(x);
    return true;
  }
};

struct LogicalNot {
  template <typename T>
  static bool Apply(T x) {
    return x == T(0);
  }
};

struct Invert {
  static bool Apply(bool x) { return !x; }
  template <typename T>
  static T Apply(T x) {
    return static_cast<T>(~x);
  }
};

template <typename Op>
LoopTable RoundLoops() {
  return UnaryLoops<Op, BoolType, SignedTypes, UnsignedTypes, FloatTypes>();
}

template <typename Op>
UnaryOp Predicate() {
  return {UnaryLoops<Op, BoolType, SignedTypes, UnsignedTypes, FloatTypes, ComplexTypes>(),
          kMXNetTypesCommon, ResultRule::kBool};
}

const LoopTable kInvertLoops = UnaryLoops<Invert, BoolType, SignedTypes, UnsignedTypes>();

const UnaryOp kFloor{RoundLoops<Floor>()};
const UnaryOp kCeil{RoundLoops<Ceil>()};
const UnaryOp kTrunc{RoundLoops<Trunc>()};
const UnaryOp kRint{UnaryLoops<Rint, FloatTypes, ComplexTypes>(), kMXNetTypesFloat};
const UnaryOp kIsNan = Predicate<IsNanOp>();
const UnaryOp kIsInf = Predicate<IsInf>();
const UnaryOp kIsFinite = Predicate<IsFinite>();
const UnaryOp kLogicalNot = Predicate<LogicalNot>();
const UnaryOp kInvert{kInvertLoops};

MXNET_REGISTER_UNARY("floor", "The largest whole number not above x; integers stay as they are.",
                     kFloor);
MXNET_REGISTER_UNARY("ceil", "The smallest whole number not below x; integers stay as they are.",
                     kCeil);
MXNET_REGISTER_UNARY("trunc", "x without its fraction; integers stay as they are.", kTrunc);
MXNET_REGISTER_UNARY("rint", "The nearest whole number, of two the even one; integers give floats.",
                     kRint);
MXNET_REGISTER_UNARY("isnan", "Whether x is NaN, as bool.", kIsNan);
MXNET_REGISTER_UNARY("isinf", "Whether x is infinite, as bool.", kIsInf);
MXNET_REGISTER_UNARY("isfinite", "Whether x is neither infinite nor NaN, as bool.", kIsFinite);
MXNET_REGISTER_UNARY("logical_not", "Whether x is zero or False, as bool.", kLogicalNot);
MXNET_REGISTER_UNARY("invert", "Flips the bits of integers; of bool the other value.", kInvert);

}  // namespace
}  // namespace op
}  // namespace mxnet
