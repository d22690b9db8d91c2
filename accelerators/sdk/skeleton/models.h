/*!
 * \file models.h
 * \brief The members of the table for models, of a library whose work is done when a call returns.
 *
 * For ModelMembers a backend has
 *
 *   ListOptions(&options, &count)   those of MXAccApi::listOptions
 *   Model(&device, graph, options)  with Run(inputs, outputs, workspace), workspace_bytes() and
 *                                   weight_bytes(); any thread may run it. Failure, with the id of
 *                                   the node, where it cannot be compiled
 *   Device                          with write_rate, a WriteRate: its memory is that of the host
 *   Ask(&device, graph, node)       Failure, kMXAccUnsupported, with the reason where a node is not
 *                                   executed
 */
#ifndef MXACC_SDK_SKELETON_MODELS_H_
#define MXACC_SDK_SKELETON_MODELS_H_

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "../graph/graph.h"
#include "../rate.h"
#include "../tensor.h"
#include "devices.h"

namespace mxacc {

/*! \brief Inputs or outputs of a model as MXNet is told of them, and what it gives checked. */
class ModelTensors {
 public:
  ModelTensors(const Graph& graph, const std::vector<int64_t>& entries) {
    for (const int64_t entry : entries) {
      entries_.push_back(graph.entries[static_cast<size_t>(entry)]);
      GraphEntry& own = entries_.back();
      Extents& strides = strides_.emplace_back(own.shape.size());
      int64_t step = 1;
      for (size_t i = strides.size(); i-- > 0; step *= own.shape[i]) strides[i] = step;
      MXTensor& told = told_.emplace_back();
      told.struct_size = sizeof(told);
      told.name = own.name.c_str();
      told.tensor.device = MXAccDevice{kMXAccHost, 0};
      told.tensor.dtype = own.dtype;
      told.tensor.ndim = static_cast<int32_t>(own.shape.size());
      told.tensor.shape = own.shape.data();
      told.tensor.strides = strides.data();
    }
  }

  /*! \brief Failure for other tensors than those; what says what they are to the model. */
  void Check(const MXTensor* given, int32_t count, const std::string& what) const {
    if (static_cast<size_t>(count) != told_.size()) {
      throw Failure(kMXAccBadArgument, "infer: expected " + std::to_string(told_.size()) + " " +
                                           what + "s, got " + std::to_string(count));
    }
    for (size_t i = 0; i < told_.size(); ++i) {
      if (SameSpec(given[i].tensor, told_[i].tensor) && IsRowMajor(given[i].tensor)) continue;
      throw Failure(kMXAccBadArgument, "infer: " + what + " " + std::to_string(i) +
                                           ": expected a row-major " + SpecText(told_[i].tensor) +
                                           ", got " + SpecText(given[i].tensor));
    }
  }

  const MXTensor* data() const { return told_.data(); }
  int32_t size() const { return static_cast<int32_t>(told_.size()); }

 private:
  using Extents = std::vector<int64_t>;

  std::deque<GraphEntry> entries_;
  std::deque<Extents> strides_;
  std::vector<MXTensor> told_;
};

/*! \brief The options that a model is compiled with: those that are given, else the defaults. */
class ModelOptions {
 public:
  /*! \brief Failure for a name or a kind that is not among those that are known. */
  ModelOptions(const MXAccOption* known, int32_t num_known, const MXAccAttribute* given,
               int32_t num_given) {
    for (int32_t i = 0; i < num_known; ++i) values_.push_back(&known[i].value);
    for (int32_t i = 0; i < num_given; ++i) {
      const auto is_same = [&](const MXAccAttribute* value) {
        return std::strcmp(value->name, given[i].name) == 0 && value->kind == given[i].kind;
      };
      const auto found = std::find_if(values_.begin(), values_.end(), is_same);
      if (found == values_.end()) {
        throw Failure(kMXAccBadArgument,
                      std::string("there is no option ") + given[i].name + " of that kind");
      }
      *found = &given[i];
    }
  }

  /*! \brief A truth value, by its name, which is known. */
  bool Flag(const char* name) const {
    return std::any_of(values_.begin(), values_.end(), [&](const MXAccAttribute* value) {
      return std::strcmp(value->name, name) == 0 && value->integer != 0;
    });
  }

 private:
  std::vector<const MXAccAttribute*> values_;
};

/*! \brief What every library declines: subgraphs, extents and types that are not known. */
inline void CheckNode(const Graph& graph, const GraphNode& node) {
  if (node.has_subgraphs) Unsupported("it has subgraphs");
  for (const std::vector<int64_t>* list : {&node.inputs, &node.outputs}) {
    for (const int64_t position : *list) {
      if (position < 0) continue;
      const GraphEntry& entry = graph.entries[static_cast<size_t>(position)];
      if (!entry.is_static()) Unsupported("an extent is not known");
      if (entry.dtype.bits == 0) Unsupported("a type of elements that is not known here");
    }
  }
}

template <typename Backend>
struct ModelMembers {
  using Device = typename Backend::Device;

  /*! \brief What loadModel gives. */
  struct Loaded {
    Loaded(Device* device, const Graph& graph, const ModelOptions& options)
        : inputs(graph, graph.inputs),
          outputs(graph, graph.outputs),
          model(device, graph, options) {}

    ModelTensors inputs;
    ModelTensors outputs;
    typename Backend::Model model;
  };

  static MXAccStatus SupportedOps(void* self, int32_t dev_id, const MXAccGraph* graph,
                                  MXAccNodeSupport* nodes) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      const Graph read = ReadGraph(*graph);
      std::vector<char> room;
      const double rate = device.write_rate.Get([&](size_t size) {
        room.resize(WriteRate::kBytes);  // once
        std::memset(room.data(), 0, size);
      });
      for (size_t i = 0; i < read.nodes.size(); ++i) {
        nodes[i].id = kMXAccNodeAnyGroup;
        try {
          CheckNode(read, read.nodes[i]);
          Backend::Ask(&device, read, read.nodes[i]);
          nodes[i].cost = CostOf(BytesOf(read, read.nodes[i]), rate);
        } catch (const Failure& failure) {
          if (failure.code() != kMXAccUnsupported) throw;
          nodes[i].id = kMXAccNodeUnsupported;
          nodes[i].why = kMXAccWhyOther;
          nodes[i].reason = Devices<Backend>::Of(self).Keep(failure.what());
        }
      }
    });
  }

  static MXAccStatus LoadModel(void* self, int32_t dev_id, const MXAccGraph* graph,
                               const MXAccAttribute* options, int32_t num_options, void*,
                               MXAccModel* out) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      const MXAccOption* known = nullptr;
      int32_t num_known = 0;
      Backend::ListOptions(&known, &num_known);
      const ModelOptions chosen(known, num_known, options, num_options);
      const Graph read = ReadGraph(*graph);
      for (const GraphNode& node : read.nodes) CheckNode(read, node);
      auto loaded = std::make_unique<Loaded>(&device, read, chosen);
      out->num_in = loaded->inputs.size();
      out->num_out = loaded->outputs.size();
      out->inputs = loaded->inputs.data();
      out->outputs = loaded->outputs.data();
      out->workspace_bytes = loaded->model.workspace_bytes();
      out->weight_bytes = loaded->model.weight_bytes();
      out->flags = kMXAccModelConcurrent | kMXAccModelKeepsWeights;
      out->infer = Infer;
      out->unloadModel = [](void* state) { delete static_cast<Loaded*>(state); };
      out->state = loaded.release();
    });
  }

  static MXAccStatus ListOptions(void*, const MXAccOption** options, int32_t* count) {
    return StatusOf([&] { Backend::ListOptions(options, count); });
  }

  static MXAccStatus Infer(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                           int32_t num_out, const MXTensor* workspace, MXAccStream, void*) {
    return StatusOf([&] {
      const auto* loaded = static_cast<const Loaded*>(state);
      loaded->inputs.Check(inputs, num_in, "input");
      loaded->outputs.Check(outputs, num_out, "output");
      CheckWorkspace(workspace, loaded->model.workspace_bytes());
      loaded->model.Run(inputs, outputs, workspace);
    });
  }

  static void Set(MXAccApi* api) {
    api->supportedOps = SupportedOps;
    api->loadModel = LoadModel;
    api->listOptions = ListOptions;
  }
};

}  // namespace mxacc

#endif  // MXACC_SDK_SKELETON_MODELS_H_
