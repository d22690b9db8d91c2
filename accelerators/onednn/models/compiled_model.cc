#include "compiled_model.h"

#include <utility>

#include "../threads.h"

namespace onednn {
namespace {

/*! \brief What body gives, whose primitives take the threads of the device. */
template <typename Body>
auto WithThreads(const Device& device, Body&& body) -> decltype(body()) {
  SetThreadsOfModels(device.threads.load());
  return body();
}

}  // namespace

CompiledModel::CompiledModel(Device* device, const Graph& graph)
    : device_(device),
      model_(WithThreads(*device, [&] { return Lowering(graph, false).Compile(); })) {
  device->SetModel(model_.StepNames(), workspace_bytes());
}

void CompiledModel::Run(const MXTensor* inputs, const MXTensor* outputs,
                        const MXTensor* workspace) const {
  try {
    model_.Run(inputs, outputs, workspace);
  } catch (const mxnet::runtime::Error& error) {
    throw Failure(kMXAccFailed, error.message());
  }
  device_->runs.fetch_add(1, std::memory_order_relaxed);
}

void AskNode(Device* device, const Graph& graph, const GraphNode& node) {
  WithThreads(*device, [&] { Lowering(graph, true).Add(node); });
}

}  // namespace onednn
