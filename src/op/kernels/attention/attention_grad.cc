/*!
 * \file attention_grad.cc
 * \brief The gradient of attention on the registers that the processor has.
 */
#include "op/kernels/attention/attention_grad.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "op/kernels/lanes/floats.h"

namespace mxnet {
namespace op {

#define MXNET_LOOPS AttentionGrad
#define MXNET_LOOPS_FILE "op/kernels/attention/attention_grad.inc"
#include "op/kernels/lanes/levels.inc"

void DifferentiateAttention(const AttentionGradCall& call, void* work) noexcept {
  auto* const memory = static_cast<float*>(work);
  WithLoops([&](auto loops) { loops.Run(call, memory); });
}

size_t AttentionGradWorkspace(int64_t num_queries, int64_t size, int64_t value_size) noexcept {
  return WithLoops([&](auto loops) {
    typename decltype(loops)::Memory at;
    return sizeof(float) *
           static_cast<size_t>(loops.Lay(num_queries, size, value_size, nullptr, &at));
  });
}

}  // namespace op
}  // namespace mxnet
