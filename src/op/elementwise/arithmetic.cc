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

struct Divide : formulas::divide {
  using formulas::divide::Apply;
  /*! \brief Scales by the larger part of b, so that b*conj(b) need not be representable. */
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> a, std::complex<Part> b) {
    const Part re = std::fabs(b.real());
    const Part im = std::fabs(b.imag());
    if (re >= im) {
      if (re == 0 && im == 0) return {a.real() / re, a.imag() / re};
      const Part ratio = b.imag() / b.real();
      const Part scale = Part(1) / (b.real() + b.imag() * ratio);
      return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
    }
    const Part ratio = b.real() / b.imag();
    const Part scale = Part(1) / (b.imag() + b.real() * ratio);
    return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
  }
};

const BinaryOp kAdd = LightBinaryOf<formulas::add, ComplexTypes>();
const BinaryOp kSubtract =
    LightBinaryOf<formulas::subtract, ComplexTypes>("; use bitwise_xor or logical_xor for bool");
const BinaryOp kMultiply = LightBinaryOf<WithComplex<formulas::multiply>, ComplexTypes>();
const BinaryOp kDivide = BinaryOf<Divide, ComplexTypes>();

MXNET_REGISTER_BINARY("add", "Adds elementwise; for bool it is logical or.", kAdd);
MXNET_REGISTER_BINARY("subtract", "Subtracts elementwise. bool has no subtraction.", kSubtract);
MXNET_REGISTER_BINARY("multiply", "Multiplies elementwise; for bool it is logical and.", kMultiply);
MXNET_REGISTER_BINARY("divide", "Divides elementwise; integers and bool give float64.", kDivide);

}  // namespace
}  // namespace op
}  // namespace mxnet
