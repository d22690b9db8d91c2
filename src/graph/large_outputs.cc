/*!
 * \file large_outputs.cc
 * \brief The large outputs of the process.
 */
#include "graph/large_outputs.h"

namespace mxnet {
namespace graph {

LargeOutputs* LargeOutputs::Global() {
  static auto* const outputs = new LargeOutputs();  // plans may end after what is static
  return outputs;
}

void LargeOutputs::Forget(const void* plan) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (plan_ != plan) return;
  plan_ = nullptr;
  kept_.clear();
}

}  // namespace graph
}  // namespace mxnet
