/*!
 * \file model_functions.cc
 * \brief The members of the table for models.
 */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "../sdk/graph/steps/support.h"
#include "library.h"
#include "model.h"
#include "stream.h"

namespace refacc {
namespace {

MXAccStatus Infer(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                  int32_t num_out, const MXTensor* workspace, MXAccStream stream, void* call) {
  const auto* model = static_cast<const Model*>(state);
  return OnDevice("infer", model->self, model->dev_id, [&](Device& on, const Settings& settings) {
    if (static_cast<size_t>(num_in) != model->inputs.size() ||
        static_cast<size_t>(num_out) != model->outputs.size()) {
      throw Failure(kMXAccBadArgument, "infer: other numbers of tensors than the model has");
    }
    if (model->runs_inside.fetch_add(1) != 0 && model->one_at_a_time) {
      model->runs_inside.fetch_sub(1);
      on.memory.Violate("infer: another thread runs the model");
    }
    struct Leave {
      ~Leave() { model->runs_inside.fetch_sub(1); }
      const Model* model;
    } leave{model};
    CheckWorkspace(workspace, model->plan.bytes);
    model->Check(inputs, model->inputs, model->input_layouts, "input");
    model->MakeOutputs(outputs, call);
    model->Check(outputs, model->outputs, model->output_layouts, "output");
    const int64_t slow = settings.slow;
    const auto wait = [slow] {
      if (slow != 0) std::this_thread::sleep_for(std::chrono::microseconds(slow));
    };
    if (stream == nullptr) {
      wait();
      return model->Run(&on, inputs, outputs, workspace, nullptr);
    }
    struct Work {
      TensorCopies inputs;
      TensorCopies outputs;
      TensorCopies workspace;
    };
    auto work =
        std::make_shared<Work>(Work{TensorCopies(inputs, num_in), TensorCopies(outputs, num_out),
                                    TensorCopies(workspace, workspace == nullptr ? 0 : 1)});
    GiveWork(stream, outputs[0].work, settings, [model, work, wait, stream, &on] {
      wait();
      try {
        const bool has_workspace = work->workspace.size() != 0;
        model->Run(&on, work->inputs.data(), work->outputs.data(),
                   has_workspace ? work->workspace.data() : nullptr, stream);
      } catch (const Rejection& rejection) {
        throw rejection.InStream();
      }
    });
  });
}

MXAccStatus UpdateWeights(void* state, const MXTensor* weights, int32_t count) {
  auto* model = static_cast<Model*>(state);
  return OnDevice("updateWeights", model->self, model->dev_id,
                  [&](Device& on, const Settings& settings) {
                    if (model->runs_inside.load() != 0) {
                      on.memory.Violate("updateWeights: a thread runs the model");
                    }
                    model->UpdateWeights(weights, count, settings);
                    on.updated.Add();
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

void Tell(Model* model, MXAccModel* out, const Settings& settings) {
  model->told = model->outputs;
  if (settings.shapes != Shapes::kGiven) {
    model->unknown.assign(MXACC_MAX_DIMS, -1);
    for (MXTensor& output : model->told) output.tensor.shape = model->unknown.data();
  }
  model->one_at_a_time = settings.one_run;
  out->state = model;
  out->num_in = static_cast<int32_t>(model->inputs.size());
  out->num_out = static_cast<int32_t>(model->told.size());
  out->inputs = model->inputs.data();
  out->outputs = model->told.data();
  out->workspace_bytes = model->plan.bytes;
  for (const Value& weight : model->weight_values) out->weight_bytes += weight.bytes();
  out->flags = kMXAccModelKeepsWeights | kMXAccModelUsesStreams;
  if (!model->one_at_a_time && !settings.one_thread) out->flags |= kMXAccModelConcurrent;
  out->infer = Infer;
  out->unloadModel = UnloadModel;
  if (settings.shapes == Shapes::kAsked) out->inferShapes = InferShapes;
  out->exportModel = ExportModel;
  if (settings.updates) out->updateWeights = UpdateWeights;
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
    float costs[3] = {};
    std::sscanf(settings.costs.c_str(), "%f,%f,%f", &costs[0], &costs[1], &costs[2]);
    for (int32_t i = 0; i < graph->num_nodes; ++i) {
      nodes[i].cost = costs[0];
      nodes[i].group_cost = costs[1];
      nodes[i].byte_cost = costs[2];
    }
    const Runtime runtime = FindRuntime();
    const auto check = [&](const Steps& steps, const GraphNode& node, size_t first) {
      if (!settings.HasNode(node.op)) Unsupported(node.op + " is left out by 'nodes'");
      for (size_t i = first; i < steps.steps().size(); ++i) {
        const StepRequest request(steps.steps()[i], dev_id);
        (void)Operator(runtime, request.op());
      }
      const int32_t claim = ClaimOf(settings.claims, node.id);
      if (claim == kMXAccNodeUnsupported) Unsupported("it is left out by 'claims'");
      return claim;
    };
    TellSupport(*graph, nodes, 0, check,
                [&](const char* text) { return LibraryOf(self).Keep(text); });
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

/*! \brief Takes that long, unless MXNet gives the call up. */
void TakeTime(const MXAccRuntime& mxnet, void* call, int64_t milliseconds) {
  for (int64_t i = 0; i < milliseconds; ++i) {
    if (mxnet.should_stop != nullptr && mxnet.should_stop(mxnet.context, call) != 0) {
      throw Failure(kMXAccCancelled, "it was given up");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

MXAccStatus LoadModel(void* self, int32_t dev_id, const MXAccGraph* graph,
                      const MXAccAttribute* options, int32_t num_options, void* call,
                      MXAccModel* out) {
  return OnDevice("loadModel", self, dev_id, [&](Device& on, const Settings& settings) {
    CheckOptions(options, num_options);
    auto model = std::make_unique<Model>(self, dev_id, ReadGraph(*graph), graph->json, settings);
    TakeTime(LibraryOf(self).runtime(), call, settings.compiling);
    Tell(model.get(), out, settings);
    model.release();
    on.compiled.Add();
  });
}

MXAccStatus Profile(void* self, int32_t dev_id, MXAccProfileSink sink, void* context) {
  return OnDevice("profile", self, dev_id,
                  [&](Device& on, const Settings&) { on.profiler.Set(sink, context); });
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
  api->profile = Profile;
  SetPieceFunctions(api);
}

}  // namespace refacc
