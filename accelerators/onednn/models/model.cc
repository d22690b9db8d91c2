#include "model.h"

#include <algorithm>
#include <utility>

#include "../../sdk/status.h"
#include "graph/memory_plan.h"

namespace onednn {
namespace {

using Where = ModelMemory::Where;

char* FirstByte(const MXTensor& tensor) {
  return static_cast<char*>(tensor.tensor.data) + tensor.tensor.byte_offset;
}

}  // namespace

Model::Model(std::vector<ModelMemory> memories, std::vector<ModelStep> steps,
             std::vector<ModelConstant> constants, std::vector<ModelWeight> weights)
    : memories_(std::move(memories)),
      steps_(std::move(steps)),
      constants_(std::move(constants)),
      weights_(std::move(weights)) {
  PlanWorkspace();
}

void Model::PlanWorkspace() {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const int now = static_cast<int>(i);
    for (const size_t output : steps_[i].outputs) {
      memories_[output].first = memories_[output].last = now;
    }
    for (const size_t input : steps_[i].inputs) memories_[input].last = now;
  }
  std::vector<mxnet::graph::Block> blocks;
  std::vector<size_t*> offsets;
  const auto add = [&](size_t bytes, int first, int last, size_t* offset) {
    blocks.push_back({bytes, first, last, 0});
    offsets.push_back(offset);
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    const int now = static_cast<int>(i);
    const size_t own = steps_[i].primitive.steps->workspace_bytes();
    if (own != 0) add(own, now, now, &steps_[i].workspace);
    for (const size_t position : steps_[i].outputs) {
      ModelMemory& output = memories_[position];
      if (output.where == Where::kWorkspace) add(output.bytes, now, output.last, &output.index);
    }
  }
  workspace_bytes_ = mxnet::graph::PackBlocks(&blocks);
  for (size_t i = 0; i < blocks.size(); ++i) *offsets[i] = blocks[i].offset;
}

uint64_t Model::weight_bytes() const {
  uint64_t bytes = 0;
  for (const ModelConstant& constant : constants_) bytes += constant.buffer.bytes();
  for (const ModelStep& step : steps_) {
    for (const auto& constant : step.primitive.steps->constants()) bytes += constant.bytes;
  }
  return bytes;
}

void Model::Update(const std::vector<size_t>& numbers, const MXTensor* given) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const ModelWeight& weight = weights_[numbers[i]];
    if (weight.bytes == 0) continue;
    const auto is_it = [&](const void* address) { return address == weight.address; };
    const auto shares = [&](const ModelWeight& one) { return one.bytes && is_it(one.address); };
    if (weight.is_deciding || std::count_if(weights_.begin(), weights_.end(), shares) != 1) {
      mxacc::Unsupported("the model was compiled for the elements of a weight");
    }
    const char* data = FirstByte(given[i]);
    size_t count = 0;
    for (ModelConstant& constant : constants_) {
      if (!is_it(constant.address)) continue;
      std::copy_n(data, weight.bytes, static_cast<char*>(constant.buffer.data()));
      ++count;
    }
    for (ModelStep& step : steps_) {
      count += step.primitive.steps->Repack(
          [&](const void* address) { return is_it(address) ? data : nullptr; });
    }
    if (count == 0) mxacc::Unsupported("the model has no copy of a weight");
  }
}

std::vector<std::string> Model::StepNames() const {
  std::vector<std::string> names;
  for (const ModelStep& step : steps_) names.push_back(step.primitive.name);
  return names;
}

void Model::Run(const MXTensor* inputs, const MXTensor* outputs, const MXTensor* workspace,
                mxacc::Profiler* profiler) const {
  const bool is_profiled = profiler->is_on();
  char* scratch = workspace == nullptr ? nullptr : FirstByte(*workspace);
  const auto tensor_of = [&](size_t position) {
    const ModelMemory& memory = memories_[position];
    DLTensor tensor{};
    switch (memory.where) {
      case Where::kInput:
        tensor.data = FirstByte(inputs[memory.index]);
        break;
      case Where::kOutput:
        tensor.data = FirstByte(outputs[memory.index]);
        break;
      case Where::kWorkspace:
        tensor.data = scratch + memory.index;
        break;
      case Where::kConstant:
        tensor.data = constants_[memory.index].buffer.data();
        break;
    }
    return tensor;
  };
  std::vector<DLTensor> read;
  std::vector<DLTensor> written;
  for (const ModelStep& step : steps_) {
    const int64_t begin_ns = is_profiled ? mxacc::Profiler::Now() : 0;
    read.clear();
    for (const size_t input : step.inputs) read.push_back(tensor_of(input));
    written.clear();
    for (const size_t output : step.outputs) written.push_back(tensor_of(output));
    step.primitive.steps->Run(read.data(), static_cast<int>(read.size()), written.data(),
                              static_cast<int>(written.size()), scratch + step.workspace);
    if (!is_profiled) continue;
    profiler->Tell(step.primitive.name.c_str(), step.node, outputs[0].work, nullptr, begin_ns);
  }
}

}  // namespace onednn
