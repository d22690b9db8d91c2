/*!
 * \file model_functions.cc
 * \brief The members of the table for models.
 */
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "loaded_model.h"
#include "stream.h"

namespace refacc {

using Where = ModelValue::Where;

Model::Model(void* given_self, int32_t given_dev_id, Graph read, std::string text,
             const Settings& settings)
    : self(given_self),
      dev_id(given_dev_id),
      graph(std::move(read)),
      json(std::move(text)),
      wrong_nodes(settings.wrong),
      steps(graph) {
  CheckWeights();
  for (const GraphNode& node : graph.nodes) {
    try {
      if (!settings.HasNode(node.op)) Unsupported(node.op + " is left out by 'nodes'");
      steps.Add(node);
      if (settings.IsWrong(node.op)) steps.Negate(node);
    } catch (const Failure& failure) {
      throw Failure(failure.code(), failure.what(), 0, node.id);
    }
  }
  steps.Locate(graph);
  const auto tensors = [&](const std::vector<int64_t>& entries) {
    std::vector<MXTensor> made;
    for (const int64_t entry : entries) {
      made.push_back(steps.values()[static_cast<size_t>(entry)].tensor());
      made.back().name = graph.entries[static_cast<size_t>(entry)].name.c_str();
    }
    return made;
  };
  inputs = tensors(graph.inputs);
  outputs = tensors(graph.outputs);
  CopyWeights();
}

void Model::CheckWeights() const {
  for (const int64_t entry : graph.weights) {
    const MXAccDLTensor& from = graph.entries[static_cast<size_t>(entry)].weight->tensor;
    ModelValue value = steps.values()[static_cast<size_t>(entry)];
    const MXTensor wanted = value.tensor();
    if (SameSpec(from, wanted.tensor)) continue;
    throw Failure(kMXAccBadArgument, "a weight is " + SpecText(from) + ", and " +
                                         SpecText(wanted.tensor) + " in the JSON");
  }
}

void Model::CopyWeights() {
  Device& on = device();
  try {
    for (const int64_t entry : graph.weights) {
      ModelValue& value = steps.values()[static_cast<size_t>(entry)];
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

Model::~Model() {
  for (void* handle : weights) {
    if (handle == nullptr) continue;
    const std::string wrong = device().memory.Free(handle, true);
    if (!wrong.empty()) LibraryOf(self).Warn("refacc: unloadModel: " + wrong);
  }
}

void Model::Check(const MXTensor* tensors, const std::vector<MXTensor>& expected,
                  const char* what) const {
  for (size_t i = 0; i < expected.size(); ++i) {
    const MXAccDLTensor& came = tensors[i].tensor;
    if (SameSpec(came, expected[i].tensor) && IsRowMajor(came)) continue;
    throw Failure(kMXAccBadArgument, std::string("infer: ") + what + " " + std::to_string(i) +
                                         " is " + SpecText(came) + ", expected a row-major " +
                                         SpecText(expected[i].tensor));
  }
}

void Model::Run(Device* on, const MXTensor* in, const MXTensor* out,
                const MXTensor* workspace) const {
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
  const auto address = [&](const ModelValue& value) -> char* {
    if (value.bytes() == 0) return nullptr;
    if (value.where == Where::kInput) return memory.AddressOf(in[value.index].tensor);
    if (value.where == Where::kOutput) return memory.AddressOf(out[value.index].tensor);
    if (value.where == Where::kWorkspace) return scratch + value.index;
    MXAccDLTensor weight = const_cast<ModelValue&>(value).tensor().tensor;
    weight.data = weights[value.index];
    weight.device = MXAccDevice{2, dev_id};
    return memory.AddressOf(weight);
  };
  for (const ModelStep& step : steps.steps()) {
    std::vector<char*> addresses;
    std::vector<MXTensor> written;
    for (const size_t value : step.inputs) addresses.push_back(address(steps.values()[value]));
    for (const size_t value : step.outputs) {
      addresses.push_back(address(steps.values()[value]));
      written.push_back(const_cast<ModelValue&>(steps.values()[value]).tensor());
    }
    if (step.op != nullptr) {
      step.op->Run(written.data(), addresses.data(), nullptr);
    } else if (addresses[1] != nullptr) {
      std::memcpy(addresses[1], addresses[0], steps.values()[step.outputs[0]].bytes());
    }
  }
  if (workspace != nullptr) memory.CheckZones(workspace->tensor);
  for (size_t i = 0; i < outputs.size(); ++i) memory.CheckZones(out[i].tensor);
  on->runs.Add();
}

/*! \brief Has MXNet make the outputs that it was told no shapes of. */
void Model::MakeOutputs(MXTensor* out, void* call) const {
  const MXAccRuntime& runtime = LibraryOf(self).runtime();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const MXAccDLTensor& made = outputs[i].tensor;
    const MXAccDLTensor& came = out[i].tensor;
    const bool is_there = came.ndim >= 0 && std::none_of(came.shape, came.shape + came.ndim,
                                                         [](int64_t extent) { return extent < 0; });
    if (is_there) continue;
    const MXAccStatus status = runtime.alloc_output(runtime.context, call, static_cast<int32_t>(i),
                                                    made.dtype, made.ndim, made.shape, &out[i]);
    if (status != nullptr) throw Failure(status->code, status->message);
  }
}

namespace {

MXAccStatus Infer(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                  int32_t num_out, const MXTensor* workspace, MXAccStream stream, void* call) {
  const auto* model = static_cast<const Model*>(state);
  return OnDevice("infer", model->self, model->dev_id, [&](Device& on, const Settings& settings) {
    if (static_cast<size_t>(num_in) != model->inputs.size() ||
        static_cast<size_t>(num_out) != model->outputs.size()) {
      throw Failure(kMXAccBadArgument, "infer: other numbers of tensors than the model has");
    }
    if (model->one_at_a_time && model->runs_inside.fetch_add(1) != 0) {
      model->runs_inside.fetch_sub(1);
      on.memory.Violate("infer: another thread runs the model");
    }
    struct Leave {
      ~Leave() {
        if (model->one_at_a_time) model->runs_inside.fetch_sub(1);
      }
      const Model* model;
    } leave{model};
    CheckWorkspace(workspace, model->steps.workspace_bytes());
    model->Check(inputs, model->inputs, "input");
    model->MakeOutputs(outputs, call);
    model->Check(outputs, model->outputs, "output");
    const int64_t slow = settings.slow;
    const auto wait = [slow] {
      if (slow != 0) std::this_thread::sleep_for(std::chrono::microseconds(slow));
    };
    if (stream == nullptr) {
      wait();
      return model->Run(&on, inputs, outputs, workspace);
    }
    struct Work {
      TensorCopies inputs;
      TensorCopies outputs;
      TensorCopies workspace;
    };
    auto work =
        std::make_shared<Work>(Work{TensorCopies(inputs, num_in), TensorCopies(outputs, num_out),
                                    TensorCopies(workspace, workspace == nullptr ? 0 : 1)});
    GiveWork(stream, outputs[0].work, settings, [model, work, wait, &on] {
      wait();
      try {
        const bool has_workspace = work->workspace.size() != 0;
        model->Run(&on, work->inputs.data(), work->outputs.data(),
                   has_workspace ? work->workspace.data() : nullptr);
      } catch (const Rejection& rejection) {
        throw rejection.InStream();
      }
    });
  });
}

void UnloadModel(void* state) {
  const std::unique_ptr<Model> model(static_cast<Model*>(state));
  // unloadModel has no status: the only fault that it can have is a crash.
  (void)OnDevice("unloadModel", model->self, model->dev_id, [](Device&, const Settings&) {});
}

MXAccStatus InferShapes(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                        int32_t num_out) {
  const auto* model = static_cast<const Model*>(state);
  return OnDevice("inferShapes", model->self, model->dev_id, [&](Device&, const Settings&) {
    if (static_cast<size_t>(num_in) != model->inputs.size() ||
        static_cast<size_t>(num_out) != model->outputs.size()) {
      throw Failure(kMXAccBadArgument, "inferShapes: other numbers of tensors than the model has");
    }
    for (int32_t i = 0; i < num_in; ++i) {
      if (SameSpec(inputs[i].tensor, model->inputs[static_cast<size_t>(i)].tensor)) continue;
      throw Failure(kMXAccBadArgument, "inferShapes: an input is of another spec");
    }
    for (int32_t i = 0; i < num_out; ++i) {
      const MXAccDLTensor& made = model->outputs[static_cast<size_t>(i)].tensor;
      outputs[i].tensor.ndim = made.ndim;
      std::copy(made.shape, made.shape + made.ndim, outputs[i].tensor.shape);
    }
  });
}

}  // namespace

void Model::Tell(MXAccModel* out, const Settings& settings) {
  told = outputs;
  if (settings.shapes != Shapes::kGiven) {
    unknown.assign(MXACC_MAX_DIMS, -1);
    for (MXTensor& output : told) output.tensor.shape = unknown.data();
  }
  one_at_a_time = settings.one_run;
  out->state = this;
  out->num_in = static_cast<int32_t>(inputs.size());
  out->num_out = static_cast<int32_t>(told.size());
  out->inputs = inputs.data();
  out->outputs = told.data();
  out->workspace_bytes = steps.workspace_bytes();
  for (const int64_t entry : graph.weights) {
    out->weight_bytes += steps.values()[static_cast<size_t>(entry)].bytes();
  }
  out->flags = kMXAccModelKeepsWeights | kMXAccModelUsesStreams;
  if (!one_at_a_time && !settings.one_thread) out->flags |= kMXAccModelConcurrent;
  out->infer = Infer;
  out->unloadModel = UnloadModel;
  if (settings.shapes == Shapes::kAsked) out->inferShapes = InferShapes;
  out->exportModel = ExportModel;
}

namespace {

/*! \brief "1=2,3=0,4=-1" for a node's id. */
int32_t ClaimOf(const std::string& claims, int64_t id) {
  std::istringstream stream(claims);
  for (std::string item; std::getline(stream, item, ',');) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos) continue;
    if (std::atoll(item.c_str()) == id) return std::atoi(item.c_str() + equals + 1);
  }
  return kMXAccNodeAnyGroup;
}

MXAccStatus SupportedOps(void* self, int32_t dev_id, const MXAccGraph* graph,
                         MXAccNodeSupport* nodes) {
  return OnDevice("supportedOps", self, dev_id, [&](Device&, const Settings& settings) {
    const Graph read = ReadGraph(*graph);
    ModelSteps steps(read);
    float costs[3] = {};
    std::sscanf(settings.costs.c_str(), "%f,%f,%f", &costs[0], &costs[1], &costs[2]);
    for (size_t i = 0; i < read.nodes.size(); ++i) {
      const GraphNode& node = read.nodes[i];
      MXAccNodeSupport& answer = nodes[i];
      answer.cost = costs[0];
      answer.group_cost = costs[1];
      answer.byte_cost = costs[2];
      try {
        if (!settings.HasNode(node.op)) Unsupported(node.op + " is left out by 'nodes'");
        steps.Add(node);
        answer.id = ClaimOf(settings.claims, node.id);
        if (answer.id == kMXAccNodeUnsupported) answer.reason = "it is left out by 'claims'";
      } catch (const Failure& failure) {
        if (failure.code() != kMXAccUnsupported) throw;
        answer.id = kMXAccNodeUnsupported;
        answer.why = kMXAccWhyOther;
        answer.reason = LibraryOf(self).Keep(failure.what());
        if (std::strcmp(failure.what(), kDynamic) == 0) answer.why = kMXAccWhyDynamic;
      }
    }
  });
}

const MXAccOption kOptions[] = {
    {sizeof(MXAccOption),
     {sizeof(MXAccAttribute),
      "precision",
      "\"float32\"",
      kMXAccText,
      {},
      7,
      0,
      0,
      "float32",
      nullptr,
      nullptr,
      nullptr},
     "What may be computed in.",
     "[\"float32\"]"},
    {sizeof(MXAccOption),
     {sizeof(MXAccAttribute),
      "effort",
      "1",
      kMXAccInteger,
      {},
      0,
      1,
      1,
      nullptr,
      nullptr,
      nullptr,
      nullptr},
     "Changes nothing.",
     "[0, 1, 2]"},
};

void CheckOptions(const MXAccAttribute* options, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const MXAccAttribute& option = options[i];
    const std::string name = option.name;
    const bool is_precision = name == "precision" && option.kind == kMXAccText &&
                              std::strcmp(option.text, "float32") == 0;
    const bool is_effort = name == "effort" && option.kind == kMXAccInteger &&
                           option.integer >= 0 && option.integer <= 2;
    if (is_precision || is_effort) continue;
    throw Failure(kMXAccBadArgument, "there is no option " + name + " with the value " +
                                         (option.json == nullptr ? "?" : option.json));
  }
}

MXAccStatus LoadModel(void* self, int32_t dev_id, const MXAccGraph* graph,
                      const MXAccAttribute* options, int32_t num_options, void*, MXAccModel* out) {
  return OnDevice("loadModel", self, dev_id, [&](Device& on, const Settings& settings) {
    CheckOptions(options, num_options);
    auto model = std::make_unique<Model>(self, dev_id, ReadGraph(*graph), graph->json, settings);
    std::this_thread::sleep_for(std::chrono::milliseconds(settings.compiling));
    model->Tell(out, settings);
    model.release();
    on.compiled.Add();
  });
}

MXAccStatus ListOptions(void* self, const MXAccOption** options, int32_t* count) {
  return StatusOf([&] {
    LibraryOf(self).settings().faults.Reach("listOptions");
    *options = kOptions;
    *count = 2;
  });
}

}  // namespace

void SetModelFunctions(MXAccApi* api) {
  api->supportedOps = SupportedOps;
  api->loadModel = LoadModel;
  api->listOptions = ListOptions;
  SetPieceFunctions(api);
}

}  // namespace refacc
