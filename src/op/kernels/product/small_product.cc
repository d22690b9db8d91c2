/*!
 * \file small_product.cc
 * \brief Products of a few rows on the registers that the processor has.
 */
#include "op/kernels/product/small_product.h"

#include <algorithm>

#include "op/kernels/attention/attention.h"
#include "op/kernels/lanes/floats.h"

namespace mxnet {
namespace op {

#define MXNET_LOOPS Products
#define MXNET_LOOPS_FILE "op/kernels/product/small_product.inc"
#include "op/kernels/lanes/levels.inc"

bool SmallProduct::Suits(int64_t rows, int64_t columns, int64_t terms) noexcept {
  const bool is_any = rows >= 1 && columns >= 1 && terms >= 1;
  // Quotients, as products of any numbers may not be int64.
  return is_any && rows <= kMostRows && columns <= kMostElements / terms &&
         columns <= kMostProducts / terms / rows;
}

SmallProduct::SmallProduct(const SmallProductOperands& operands)
    : parts_{operands.terms, operands.columns, 0, operands.relu, {}, {}} {
  parts_.width = WithLoops([&](auto loops) { return loops.Padded(operands.columns); });
  parts_.matrix = Lines(parts_.width * operands.terms);
  parts_.bias = Lines(parts_.width);
  float* const packed = parts_.matrix.data();
  WithLoops([&](auto loops) { loops.Pack(operands, packed); });
  if (operands.bias == nullptr) return;
  std::copy_n(operands.bias, operands.columns, parts_.bias.data());
}

size_t SmallProduct::workspace(int64_t rows) const noexcept {
  return static_cast<size_t>(rows * parts_.width) * sizeof(float);
}

void SmallProduct::Run(const float* a, int64_t rows, float* c, void* work) const noexcept {
  auto* const sums = static_cast<float*>(work);
  WithLoops([&](auto loops) { loops.Run(parts_, a, rows, c, sums); });
}

}  // namespace op
}  // namespace mxnet
