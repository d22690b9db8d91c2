#include "compiled_model.h"

#include <utility>

#include "../threads.h"

namespace onednn {
namespace {

constexpr char kKeepNan[] = "keep_nan";

/*! \brief What body gives, whose primitives take the threads of the device. */
template <typename Body>
auto WithThreads(const Device& device, Body&& body) -> decltype(body()) {
  SetThreadsOfModels(device.threads.load());
  return body();
}

}  // namespace

void ListModelOptions(const MXAccOption** options, int32_t* count) {
  static const auto* all = [] {
    auto* option = new MXAccOption{};
    option->struct_size = sizeof(*option);
    option->value.struct_size = sizeof(option->value);
    option->value.name = kKeepNan;
    option->value.json = "true";
    option->value.kind = kMXAccBoolean;
    option->value.integer = 1;
    option->doc = "Whether NaN stays NaN in Relu and Clip; they are faster otherwise.";
    option->choices = "[true, false]";
    return option;
  }();
  *options = all;
  *count = 1;
}

CompiledModel::CompiledModel(Device* device, const Graph& graph, const mxacc::ModelOptions& options)
    : device_(device), model_(WithThreads(*device, [&] {
        return Lowering(graph, false, options.Flag(kKeepNan)).Compile();
      })) {
  device->SetModel(model_.StepNames(), workspace_bytes());
}

void CompiledModel::Run(const MXTensor* inputs, const MXTensor* outputs,
                        const MXTensor* workspace) const {
  try {
    model_.Run(inputs, outputs, workspace, &device_->profiler);
  } catch (const mxnet::runtime::Error& error) {
    throw Failure(kMXAccFailed, error.message());
  }
  device_->runs.fetch_add(1, std::memory_order_relaxed);
}

void AskNode(Device* device, const Graph& graph, const GraphNode& node) {
  WithThreads(*device, [&] { Lowering(graph, true, true).Add(node); });
}

}  // namespace onednn
