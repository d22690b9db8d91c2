/*!
 * \file sign.cc
 * \brief Unary operators that keep the element type: negative, absolute, square, relu and others.
 */
#include <cmath>

#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {
namespace {

struct Negative {
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsIntType<T>) {
      return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
    } else {
      return -x;
    }
  }
};

struct Positive {
  template <typename T>
  static T Apply(T x) {
    return x;
  }
};

struct Absolute {
  template <typename T>
  static auto Apply(T x) {
    if constexpr (kIsComplexType<T>) {
      return std::hypot(x.real(), x.imag());
    } else if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(x);
    } else if constexpr (std::is_signed_v<T>) {
      return x < 0 ? Negative::Apply(x) : x;
    } else {
      return x;
    }
  }
};

struct Sign {
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplexType<T>) {
      const auto length = std::hypot(x.real(), x.imag());
      if (length == 0) return T(0);
      // Both parts infinite leave no direction.
      if (std::isinf(length)) return InfiniteSign(x);
      return T(x.real() / length, x.imag() / length);
    } else {
      return x > T(0) ? T(1) : x < T(0) ? T(-1) : x == T(0) ? T(0) : x;
    }
  }

 private:
  template <typename T>
  static T InfiniteSign(T x) {
    using Part = typename T::value_type;
    const Part re = std::isinf(x.real()) ? std::copysign(Part(1), x.real()) : Part(0);
    const Part im = std::isinf(x.imag()) ? std::copysign(Part(1), x.imag()) : Part(0);
    const Part nan = std::numeric_limits<Part>::quiet_NaN();
    return re != 0 && im != 0 ? T(nan, nan) : T(re, im);
  }
};

struct Square {
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplexType<T>) {
      return T(x.real() * x.real() - x.imag() * x.imag(),
               x.real() * x.imag() + x.imag() * x.real());
    } else if constexpr (kIsIntType<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(x));
    } else {
      return x * x;
    }
  }
};

struct Reciprocal {
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplexType<T>) {
      // Scales by the larger part, so that |x|**2 need not be representable.
      if (std::fabs(x.imag()) <= std::fabs(x.real())) {
        const auto ratio = x.imag() / x.real();
        const auto length = x.real() + x.imag() * ratio;
        return T(1 / length, -ratio / length);
      }
      const auto ratio = x.real() / x.imag();
      const auto length = x.real() * ratio + x.imag();
      return T(ratio / length, -1 / length);
    } else if constexpr (kIsIntType<T>) {
      return x == 0 ? T(0) : static_cast<T>(1 / x);
    } else {
      return T(1) / x;
    }
  }
};

struct Conjugate {
  template <typename T>
  static T Apply(T x) {
    if constexpr (kIsComplexType<T>) return T(x.real(), -x.imag());
    if constexpr (!kIsComplexType<T>) return x;
  }
};

struct Relu {
  template <typename T>
  static T Apply(T x) {
    return x < T(0) ? T(0) : x;
  }
};

template <typename Op>
LoopTable NumberLoops() {
  return UnaryLoops<Op, SignedTypes, UnsignedTypes, FloatTypes, ComplexTypes>();
}

const LoopTable kAbsoluteLoops =
    UnaryLoops<Absolute, BoolType, SignedTypes, UnsignedTypes, FloatTypes, ComplexTypes>();
const LoopTable kConjugateLoops = NumberLoops<Conjugate>();

const UnaryOp kNegative{NumberLoops<Negative>(), kMXNetTypesCommon, ResultRule::kSame,
                        "; use invert or logical_not for bool"};
const UnaryOp kPositive{NumberLoops<Positive>()};
const UnaryOp kAbsolute{kAbsoluteLoops, kMXNetTypesCommon, ResultRule::kReal};
const UnaryOp kSign{NumberLoops<Sign>()};
const UnaryOp kSquare{NumberLoops<Square>(), kMXNetTypesCommonNoBool};
const UnaryOp kReciprocal{NumberLoops<Reciprocal>(), kMXNetTypesCommonNoBool};
const UnaryOp kConjugate{kConjugateLoops, kMXNetTypesCommonNoBool};
const UnaryOp kRelu{UnaryLoops<Relu, SignedTypes, UnsignedTypes, FloatTypes>()};

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
MXNET_REGISTER_UNARY("relu", "x where it is positive, else 0; NaN stays NaN.", kRelu);

}  // namespace
}  // namespace op
}  // namespace mxnet
