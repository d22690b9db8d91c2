/*!
 * \file rounding.cc
 * \brief Rounding, and unary operators whose result is bool or bits.
 */
#include <cmath>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/number_classes.h"
#include "op/semantics/order.h"

namespace mxnet {
namespace op {
namespace {

struct Rint : formulas::rint {
  using formulas::rint::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> x) {
    return {std::rint(x.real()), std::rint(x.imag())};
  }
};

struct IsNanOp : formulas::isnan {
  static constexpr int kClasses = kClassNan;
  static constexpr bool kIsNone = false;
  using formulas::isnan::Apply;
  template <typename Part>
  static bool Apply(std::complex<Part> x) {
    return IsNan(x);
  }
};

struct IsInf : formulas::isinf {
  static constexpr int kClasses = kClassInfinity;
  static constexpr bool kIsNone = false;
  using formulas::isinf::Apply;
  template <typename Part>
  static bool Apply(std::complex<Part> x) {
    return std::isinf(x.real()) || std::isinf(x.imag());
  }
};

struct IsFinite : formulas::isfinite {
  static constexpr int kClasses = kClassNan | kClassInfinity;
  static constexpr bool kIsNone = true;
  using formulas::isfinite::Apply;
  template <typename Part>
  static bool Apply(std::complex<Part> x) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  }
};

/*! \brief A test for classes of floats. */
template <typename Op>
UnaryOp ClassTestOf() {
  LoopTable table = UnaryFormulaLoops<Op, ComplexTypes>();
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx512) {
    table.loops[kIndexFloat32] = &WideClassTest<Op, float>;
    table.loops[kIndexFloat64] = &WideClassTest<Op, double>;
  } else if (HostCpuLevel() >= CpuLevel::kAvx2) {
    table.loops[kIndexFloat32] = &NarrowClassTest<Op, float>;
    table.loops[kIndexFloat64] = &NarrowClassTest<Op, double>;
  }
#endif
  return {table, Op::kRule, Op::kResult};
}

const UnaryOp kFloor = UnaryKeepingIntegers<formulas::floor>();
const UnaryOp kCeil = UnaryKeepingIntegers<formulas::ceil>();
const UnaryOp kTrunc = UnaryKeepingIntegers<formulas::trunc>();
const UnaryOp kRint = UnaryOf<Rint, ComplexTypes>();
const UnaryOp kIsNan = ClassTestOf<IsNanOp>();
const UnaryOp kIsInf = ClassTestOf<IsInf>();
const UnaryOp kIsFinite = ClassTestOf<IsFinite>();
const UnaryOp kLogicalNot = UnaryOf<formulas::logical_not, ComplexTypes>();
const UnaryOp kInvert = UnaryOf<formulas::invert>();

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
