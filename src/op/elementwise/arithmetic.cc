/*!
 * \file arithmetic.cc
 * \brief add, subtract, multiply, divide.
 */
#include <cmath>
#include <complex>

#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {
namespace {

struct Add {
  static bool Apply(bool a, bool b) { return a | b; }
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsIntType<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};

struct Subtract {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsIntType<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    } else {
      return a - b;
    }
  }
};

struct Multiply {
  static bool Apply(bool a, bool b) { return a & b; }
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsIntType<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else if constexpr (kIsComplexType<T>) {
      // std::complex's own product checks for NaN, which NumPy's does not and which costs a call.
      return T(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    } else {
      return a * b;
    }
  }
};

struct Divide {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsComplexType<T>) {
      return Quotient(a, b);
    } else {
      return a / b;
    }
  }

 private:
  /*! \brief Scales by the larger part of b, so that b*conj(b) need not be representable. */
  template <typename T>
  static T Quotient(T a, T b) {
    using Part = typename T::value_type;
    const Part re = std::fabs(b.real());
    const Part im = std::fabs(b.imag());
    if (re >= im) {
      if (re == 0 && im == 0) return T(a.real() / re, a.imag() / re);
      const Part ratio = b.imag() / b.real();
      const Part scale = Part(1) / (b.real() + b.imag() * ratio);
      return T((a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale);
    }
    const Part ratio = b.real() / b.imag();
    const Part scale = Part(1) / (b.imag() + b.real() * ratio);
    return T((a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale);
  }
};

const BinaryOp kAdd{
    BinaryLoops<Add, BoolType, SignedTypes, UnsignedTypes, FloatTypes, ComplexTypes>()};
const BinaryOp kSubtract{
    BinaryLoops<Subtract, SignedTypes, UnsignedTypes, FloatTypes, ComplexTypes>(),
    kMXNetTypesCommon, ResultRule::kSame, "; use bitwise_xor or logical_xor for bool"};
const BinaryOp kMultiply{
    BinaryLoops<Multiply, BoolType, SignedTypes, UnsignedTypes, FloatTypes, ComplexTypes>()};
const BinaryOp kDivide{BinaryLoops<Divide, FloatTypes, ComplexTypes>(), kMXNetTypesTrueDivide};

MXNET_REGISTER_BINARY("add", "Adds elementwise; for bool it is logical or.", kAdd);
MXNET_REGISTER_BINARY("subtract", "Subtracts elementwise. bool has no subtraction.", kSubtract);
MXNET_REGISTER_BINARY("multiply", "Multiplies elementwise; for bool it is logical and.", kMultiply);
MXNET_REGISTER_BINARY("divide", "Divides elementwise; integers and bool give float64.", kDivide);

}  // namespace
}  // namespace op
}  // namespace mxnet
