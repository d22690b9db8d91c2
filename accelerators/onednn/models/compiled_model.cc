#include "compiled_model.h"

#include <cstdlib>
#include <utility>

#include "../threads.h"

namespace onednn {
namespace {

constexpr int kMostThreads = 1024;
constexpr char kKeepNan[] = "keep_nan";

/*! \brief What body gives, whose primitives take so many threads. */
template <typename Body>
auto WithThreads(int threads, Body&& body) -> decltype(body()) {
  SetThreadsOfModels(threads);
  return body();
}

/*! \brief Of text that may come from a file. */
int ThreadsOf(const std::string& text) {
  const int threads = std::atoi(text.c_str());
  if (threads < 1 || threads > kMostThreads || std::to_string(threads) != text) {
    throw Failure(kMXAccBadArgument, "the compiled model is for '" + text + "' threads");
  }
  return threads;
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

CompiledModel::CompiledModel(Device* device, const Graph& graph, const mxacc::ModelOptions& options,
                             const std::string& threads)
    : device_(device), threads_(ThreadsOf(threads)), model_(WithThreads(threads_, [&] {
        return Lowering(graph, false, options.Flag(kKeepNan)).Compile();
      })) {
  device->SetModel(model_.StepNames(), workspace_bytes());
}

void CompiledModel::Update(const std::vector<size_t>& numbers, const MXTensor* weights) {
  WithThreads(threads_, [&] { model_.Update(numbers, weights); });
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
  WithThreads(device->threads.load(), [&] { Lowering(graph, true, true).Add(node); });
}

}  // namespace onednn
