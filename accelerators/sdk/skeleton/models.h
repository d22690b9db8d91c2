/*!
 * \file models.h
 * \brief The members of the table for models, of a library whose work is done when a call returns.
 *
 * For ModelMembers a backend has:
 *
 * - ListOptions(&options, &count): those of MXAccApi::listOptions, all of truth values;
 *
 * - SettingsOf(device): text of what configure has set that models are compiled with;
 *
 * - Model(&device, graph, options, settings): with Run(inputs, outputs, workspace),
 *   workspace_bytes() and weight_bytes(). Any thread may run it. It throws Failure, with the id of
 *   the node, where the graph cannot be compiled. It may have Update(numbers, weights): that takes
 *   other elements for those of the graph's weights, and no run is under way;
 *
 * - Device: its memory is that of the host; it has write_rate, a WriteRate;
 *
 * - Ask(&device, graph, node): throws Failure, kMXAccUnsupported, with the reason where a node is
 *   not executed.
 */
#ifndef MXACC_SDK_SKELETON_MODELS_H_
#define MXACC_SDK_SKELETON_MODELS_H_

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "../graph/graph.h"
#include "../rate.h"
#include "../tensor.h"
#include "devices.h"
#include "kept_models.h"

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

/*! \brief The options that a model is compiled with, all of truth values: those that are given,
 * else the defaults. */
class ModelOptions {
 public:
  ModelOptions(const MXAccOption* known, int32_t num_known) {
    for (int32_t i = 0; i < num_known; ++i) {
      flags_[known[i].value.name] = known[i].value.integer != 0;
    }
  }
  /*! \brief Failure for a name or a kind that is not among those that are known. */
  void Set(const MXAccAttribute* given, int32_t num_given) {
    for (int32_t i = 0; i < num_given; ++i) {
      if (given[i].kind != kMXAccBoolean || flags_.count(given[i].name) == 0) {
        throw Failure(kMXAccBadArgument,
                      std::string("there is no option ") + given[i].name + " of that kind");
      }
      flags_[given[i].name] = given[i].integer != 0;
    }
  }
  /*! \brief All of them: "keep_nan=1 ". */
  std::string text() const {
    std::string all;
    for (const auto& [name, value] : flags_) all += name + (value ? "=1 " : "=0 ");
    return all;
  }
  /*! \brief Sets what text() gave; Failure where that was of other options. */
  void SetText(const std::string& given) {
    for (auto& [name, value] : flags_) value = given.find(name + "=1 ") != std::string::npos;
    if (text() != given) throw Failure(kMXAccBadArgument, "the options of the compiled model");
  }

  /*! \brief A truth value, by its name, which is known. */
  bool Flag(const char* name) const { return flags_.at(name); }

 private:
  std::map<std::string, bool> flags_;
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

/*! \brief Whether models have an Update. */
template <typename Model, typename = void>
struct UpdatesWeights : std::false_type {};
template <typename Model>
struct UpdatesWeights<Model, std::void_t<decltype(&Model::Update)>> : std::true_type {};

template <typename Backend>
struct ModelMembers {
  using Device = typename Backend::Device;

  /*! \brief What a model is compiled of, but for its weights. */
  struct Source {
    std::string json;
    ModelOptions options;
    std::string settings;
  };

  /*! \brief What loadModel and importModel give. */
  struct Loaded {
    Loaded(Device* on, const Graph& graph, Source of)
        : device(on),
          source(std::move(of)),
          inputs(graph, graph.inputs),
          outputs(graph, graph.outputs),
          read(graph),
          model(on, graph, source.options, source.settings) {}

    Device* const device;
    const Source source;
    ModelTensors inputs;
    ModelTensors outputs;
    const Graph read; /*!< whose weights have no data any more */
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
      Source source{graph->json, Defaults(), Backend::SettingsOf(device)};
      source.options.Set(options, num_options);
      Give(&device, ReadGraph(*graph), std::move(source), out);
    });
  }

  static MXAccStatus ImportModel(void* self, int32_t dev_id, const char* key,
                                 const MXAccPiece* pieces, int32_t num_pieces,
                                 const MXTensor* weights, int32_t num_weights, MXAccModel* out) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      CheckKey(KeptModels<Backend>::KeyOf(device), key);
      const PieceReader reader(key, pieces, num_pieces);
      const KeptGraph kept(reader, weights, num_weights);
      Source source{kept.json(), Defaults(), reader.Text(kSettings)};
      source.options.SetText(reader.Text(kOptions));
      Give(&device, kept.graph(), std::move(source), out);
    });
  }

  /*! \brief Without the weights, which the model has as its kernels like them best. */
  static MXAccStatus ExportModel(void* state, int32_t weights, MXAccTakePiece take, void* context) {
    return StatusOf([&] {
      if (weights != 0) Unsupported("packed weights are not given out");
      const auto* loaded = static_cast<const Loaded*>(state);
      const Source& source = loaded->source;
      const std::string options = source.options.text();
      PieceWriter writer(KeptModels<Backend>::KeyOf(*loaded->device).c_str(), take, context);
      writer.Write(kGraphPiece, source.json.data(), source.json.size());
      writer.Write(kOptions, options.data(), options.size());
      writer.Write(kSettings, source.settings.data(), source.settings.size());
      writer.Finish();
    });
  }

  static void Give(Device* device, const Graph& graph, Source source, MXAccModel* out) {
    for (const GraphNode& node : graph.nodes) CheckNode(graph, node);
    auto loaded = std::make_unique<Loaded>(device, graph, std::move(source));
    out->num_in = loaded->inputs.size();
    out->num_out = loaded->outputs.size();
    out->inputs = loaded->inputs.data();
    out->outputs = loaded->outputs.data();
    out->workspace_bytes = loaded->model.workspace_bytes();
    out->weight_bytes = loaded->model.weight_bytes();
    out->flags = kMXAccModelConcurrent | kMXAccModelKeepsWeights;
    out->infer = Infer;
    out->exportModel = ExportModel;
    if constexpr (UpdatesWeights<typename Backend::Model>::value) {
      out->updateWeights = [](void* state, const MXTensor* weights, int32_t count) {
        return StatusOf([&] {
          auto* of = static_cast<Loaded*>(state);
          of->model.Update(FindWeights(of->read, weights, count), weights);
        });
      };
    }
    out->unloadModel = [](void* state) { delete static_cast<Loaded*>(state); };
    out->state = loaded.release();
  }

  static ModelOptions Defaults() {
    const MXAccOption* known = nullptr;
    int32_t num_known = 0;
    Backend::ListOptions(&known, &num_known);
    return ModelOptions(known, num_known);
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
    api->importModel = ImportModel;
    api->listOptions = ListOptions;
    KeptModels<Backend>::Set(api);
  }

  static constexpr char kOptions[] = "options";
  static constexpr char kSettings[] = "settings";
};

}  // namespace mxacc

#endif  // MXACC_SDK_SKELETON_MODELS_H_
