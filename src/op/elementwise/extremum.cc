/*!
 * \file extremum.cc
 * \brief maximum, minimum, fmax, fmin.
 */
#include "op/elementwise/elementwise.h"
#include "op/semantics/order.h"

namespace mxnet {
namespace op {
namespace {

struct Fmax : formulas::fmax {
  using formulas::fmax::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> a, std::complex<Part> b) {
    return IsNan(b) || GreaterEqualValue(a, b) ? a : b;
  }
};

struct Fmin : formulas::fmin {
  using formulas::fmin::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> a, std::complex<Part> b) {
    return IsNan(b) || LessEqualValue(a, b) ? a : b;
  }
};

const BinaryOp kMaximum = BinaryOf<WithComplex<formulas::maximum>, ComplexTypes>();
const BinaryOp kMinimum = BinaryOf<WithComplex<formulas::minimum>, ComplexTypes>();
const BinaryOp kFmax = BinaryOf<Fmax, ComplexTypes>();
const BinaryOp kFmin = BinaryOf<Fmin, ComplexTypes>();

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
