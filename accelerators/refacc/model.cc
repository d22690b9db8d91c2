#include "model.h"

#include <algorithm>
#include <string>
#include <utility>

namespace refacc {

Model::Model(void* given_self, int32_t given_dev_id, Graph read, std::string text,
             const Settings& settings)
    : self(given_self),
      dev_id(given_dev_id),
      graph(std::move(read)),
      json(std::move(text)),
      wrong_nodes(settings.wrong),
      steps(graph),
      runtime(FindRuntime()) {
  for (const GraphNode& node : graph.nodes) {
    try {
      if (!settings.HasNode(node.op)) Unsupported(node.op + " is left out by 'nodes'");
      steps.Add(node);
      if (settings.IsWrong(node.op)) Negate(node);
      MakeOperators(node.id);
    } catch (const Failure& failure) {
      throw Failure(failure.code(), failure.what(), 0, node.id);
    }
  }
  steps.Finish();
  MakeOperators(0);
  // What an operator gives is copied to its output at the end.
  plan = PlanMemory(steps, std::vector<StepMemory>(operators.size(), StepMemory{0, true}));
  const auto add = [&](const Value& value, int64_t entry, std::vector<MXTensor>* tensors) {
    tensors->push_back(specs.emplace_back(value).tensor());
    tensors->back().name = graph.entries[static_cast<size_t>(entry)].name.c_str();
  };
  for (const int64_t entry : graph.inputs) add(steps.Read(entry), entry, &inputs);
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    add(steps.output(i), graph.outputs[i], &outputs);
  PrepareCalls();
  CopyWeights();
}

void Model::PrepareCalls() {
  for (const Step& step : steps.steps()) {
    Call& call = calls.emplace_back();
    const auto add = [&](const Value& value) {
      call.locations.push_back(
          {value.buffer, value.offset * ItemSize(value.dtype), value.bytes() != 0});
    };
    for (const Argument& argument : step.inputs) add(argument.value);
    add(step.output);
    call.written = step.output.tensor();
    most_locations = std::max(most_locations, call.locations.size());
  }
  for (const MXTensor& input : inputs) input_layouts.emplace_back(input.tensor);
  for (const MXTensor& output : outputs) output_layouts.emplace_back(output.tensor);
}

void Model::MakeOperators(int64_t node) {
  nodes.resize(steps.steps().size(), node);
  while (operators.size() < steps.steps().size()) {
    const StepRequest request(steps.steps()[operators.size()], dev_id);
    operators.push_back(std::make_unique<Operator>(runtime, request.op()));
  }
}

/*! \brief Makes the result of a node wrong. */
void Model::Negate(const GraphNode& node) {
  const Value right = steps.Read(node.outputs[0]);
  const Value wrong = steps.NewValue(right.dtype, right.shape);
  steps.Append({"negative", {{"x", right}}, {}, wrong});
  steps.Give(node.outputs[0], wrong);
}

void Model::CopyWeights() {
  Device& on = device();
  try {
    for (const int64_t entry : graph.weights) {
      const Value& value = weight_values.emplace_back(steps.Read(entry));
      weights.push_back(nullptr);
      if (value.bytes() == 0) continue;
      weights.back() = on.memory.Alloc(value.bytes(), 64, LibraryOf(self).settings());
      MXAccDLTensor to = value.tensor().tensor;
      to.data = weights.back();
      to.device = MXAccDevice{2, dev_id};
      const MXAccDLTensor& from = graph.entries[static_cast<size_t>(entry)].weight->tensor;
      CopyElements(to, on.memory.AddressOf(to), from,
                   static_cast<const char*>(from.data) + from.byte_offset);
    }
  } catch (...) {
    for (void* handle : weights) {
      if (handle != nullptr) on.memory.Free(handle, true);
    }
    throw;
  }
}

void Model::UpdateWeights(const MXTensor* given, int32_t count, const Settings& settings) {
  const std::vector<size_t> numbers = mxacc::FindWeights(graph, given, count);
  for (const size_t number : numbers) {
    const int64_t entry = graph.weights[number];
    if (!steps.DependOn(entry)) continue;
    throw Failure(kMXAccUnsupported, "updateWeights: the model was compiled for the elements of '" +
                                         graph.entries[static_cast<size_t>(entry)].name + "'");
  }
  Device& on = device();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const MXAccDLTensor& from = given[i].tensor;
    settings.faults.Reach("updateWeight");
    if (weights[numbers[i]] == nullptr) continue;
    MXAccDLTensor to = weight_values[numbers[i]].tensor().tensor;
    to.data = weights[numbers[i]];
    to.device = MXAccDevice{2, dev_id};
    CopyElements(to, on.memory.AddressOf(to), from,
                 static_cast<const char*>(from.data) + from.byte_offset);
  }
}

Model::~Model() {
  for (void* handle : weights) {
    if (handle == nullptr) continue;
    const std::string wrong = device().memory.Free(handle, true);
    if (!wrong.empty()) LibraryOf(self).Warn("refacc: unloadModel: " + wrong);
  }
}

/*! \brief Where the elements of a weight are on the device; NULL where there are none. */
char* Model::AddressOfWeight(size_t number) const {
  if (weights[number] == nullptr) return nullptr;
  MXAccDLTensor weight = weight_values[number].tensor().tensor;
  weight.data = weights[number];
  weight.device = MXAccDevice{2, dev_id};
  return device().memory.AddressOf(weight);
}

void Model::Check(const MXTensor* tensors, const std::vector<MXTensor>& expected,
                  const std::vector<Layout>& layouts, const char* what) const {
  for (size_t i = 0; i < expected.size(); ++i) {
    const MXAccDLTensor& came = tensors[i].tensor;
    if (came.strides != nullptr && layouts[i].IsThatOf(came)) continue;
    // Strides of axes of one element do not matter.
    if (SameSpec(came, expected[i].tensor) && IsRowMajor(came)) continue;
    throw Failure(kMXAccBadArgument, std::string("infer: ") + what + " " + std::to_string(i) +
                                         " is " + SpecText(came) + ", expected a row-major " +
                                         SpecText(expected[i].tensor));
  }
}

void Model::Run(Device* on, const MXTensor* in, const MXTensor* out, const MXTensor* workspace,
                MXAccStream stream) const {
  Memory& memory = on->memory;
  char* scratch = workspace == nullptr ? nullptr : memory.AddressOf(workspace->tensor);
  if (workspace != nullptr && !on->workspaces.Enter(workspace->tensor.data)) {
    memory.Violate("infer: another run has the same workspace");
  }
  struct Leave {
    ~Leave() {
      if (workspace != nullptr) on->workspaces.Leave(workspace->tensor.data);
    }
    Device* on;
    const MXTensor* workspace;
  } leave{on, workspace};
  const auto address_of = [&](size_t number) -> char* {
    const mxacc::Buffer& buffer = steps.buffers()[number];
    if (buffer.bytes == 0) return nullptr;
    if (buffer.kind == mxacc::Buffer::Kind::kInput) {
      return memory.AddressFrom(in[buffer.index].tensor, input_layouts[buffer.index].span());
    }
    if (buffer.kind == mxacc::Buffer::Kind::kOutput) {
      return memory.AddressFrom(out[buffer.index].tensor, output_layouts[buffer.index].span());
    }
    if (buffer.kind == mxacc::Buffer::Kind::kInner) return scratch + plan.buffers[number];
    return AddressOfWeight(buffer.index);
  };
  const size_t num_buffers = steps.buffers().size();
  std::vector<char*> memory_of_run(num_buffers + most_locations);
  char** const bases = memory_of_run.data();
  char** const addresses = bases + num_buffers;
  for (size_t i = 0; i < num_buffers; ++i) bases[i] = address_of(i);
  const bool is_profiled = on->profiler.is_on();
  for (size_t i = 0; i < operators.size(); ++i) {
    const int64_t begin_ns = is_profiled ? Profiler::Now() : 0;
    const Step& step = steps.steps()[i];
    const Call& call = calls[i];
    for (size_t k = 0; k < call.locations.size(); ++k) {
      const Location& location = call.locations[k];
      addresses[k] = location.is_anywhere ? bases[location.buffer] + location.bytes : nullptr;
    }
    operators[i]->Run(&call.written, addresses, nullptr);
    if (!is_profiled) continue;
    on->profiler.Tell(step.op.c_str(), nodes[i], out[0].work, stream, begin_ns);
  }
  if (workspace != nullptr) memory.CheckZones(workspace->tensor);
  for (size_t i = 0; i < outputs.size(); ++i) memory.CheckZones(out[i].tensor);
  on->runs.Add();
}

/*! \brief Has MXNet make the outputs that it was told no shapes of. */
void Model::MakeOutputs(MXTensor* out, void* call) const {
  const MXAccRuntime& mxnet = LibraryOf(self).runtime();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const MXAccDLTensor& made = outputs[i].tensor;
    const MXAccDLTensor& came = out[i].tensor;
    const bool is_there = came.ndim >= 0 && std::none_of(came.shape, came.shape + came.ndim,
                                                         [](int64_t extent) { return extent < 0; });
    if (is_there) continue;
    const MXAccStatus status = mxnet.alloc_output(mxnet.context, call, static_cast<int32_t>(i),
                                                  made.dtype, made.ndim, made.shape, &out[i]);
    if (status != nullptr) throw Failure(status->code, status->message);
  }
}

}  // namespace refacc
