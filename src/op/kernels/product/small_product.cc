/*!
 * \file small_product.cc
 * \brief Products of a few rows on the registers that the processor has.
 */
#include "op/kernels/product/small_product.h"

#include <algorithm>

#include "op/kernels/attention/attention.h"

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns of the undefined registers that its own intrinsics start from.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "op/kernels/lanes/floats.h"

namespace mxnet {
namespace op {

#define MXNET_LEVEL baseline
#define MXNET_TARGET
#include "op/kernels/product/small_product.inc"

#if MXNET_CPU_LEVELS
#define MXNET_LEVEL avx2
#define MXNET_TARGET MXNET_TARGET_AVX2_FMA
#include "op/kernels/product/small_product.inc"

#define MXNET_LEVEL avx512
#define MXNET_TARGET MXNET_TARGET_AVX512
#include "op/kernels/product/small_product.inc"
#endif

namespace {

/*! \brief Calls body with the loops of the level that the processor has. */
template <typename Body>
auto WithLoops(const Body& body) noexcept {
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx512) return body(avx512::Products());
  if (HostCpuLevel() >= CpuLevel::kAvx2) return body(avx2::Products());
#endif
  return body(baseline::Products());
}

}  // namespace

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
