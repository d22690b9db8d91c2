/*!
 * \file attention.cc
 * \brief Attention on the registers that the processor has.
 */
#include "op/kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
#include "op/kernels/attention/attention.inc"

#if MXNET_CPU_LEVELS
#define MXNET_LEVEL avx2
#define MXNET_TARGET MXNET_TARGET_AVX2_FMA
#include "op/kernels/attention/attention.inc"

#define MXNET_LEVEL avx512
#define MXNET_TARGET MXNET_TARGET_AVX512
#include "op/kernels/attention/attention.inc"
#endif

void Attend(const AttentionCall& call, void* work) noexcept {
  auto* const memory = static_cast<float*>(work);
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx512) return avx512::Attention::Run(call, memory);
  if (HostCpuLevel() >= CpuLevel::kAvx2) return avx2::Attention::Run(call, memory);
#endif
  baseline::Attention::Run(call, memory);
}

size_t AttentionWorkspace(int64_t num_queries, int64_t size, int64_t value_size) noexcept {
  const auto bytes = [&](auto attention) {
    typename decltype(attention)::Memory at;
    return sizeof(float) *
           static_cast<size_t>(attention.Lay(num_queries, size, value_size, nullptr, &at));
  };
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx512) return bytes(avx512::Attention());
  if (HostCpuLevel() >= CpuLevel::kAvx2) return bytes(avx2::Attention());
#endif
  return bytes(baseline::Attention());
}

}  // namespace op
}  // namespace mxnet
