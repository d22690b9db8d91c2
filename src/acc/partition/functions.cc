/*!
 * \file functions.cc
 * \brief Graphs and models for the front ends.
 */
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/signals.h>
#include <mxnet/runtime/stl.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "acc/device/accelerator.h"
#include "acc/device/arrays.h"
#include "acc/dispatch/attribute.h"
#include "acc/partition/content_hash.h"
#include "acc/partition/model.h"
#include "acc/partition/model_graph.h"
#include "acc/partition/pieces.h"
#include "acc/plugin/model_call.h"

MXNET_DECLARE_CLASS(mxnet::acc::Model, "mx.acc.Model");
MXNET_DECLARE_CLASS(mxnet::acc::ModelGraph, "mx.acc.ModelGraph");

namespace mxnet {
namespace acc {
namespace {

/*! \brief id, why, type, cost, cost of the group, cost of a byte, layout and reason of a node. */
using Support =
    std::tuple<int64_t, int64_t, std::string, double, double, double, std::string, std::string>;

/*! \brief NotImplementedError where a library lacks a function that models need. */
template <typename Function>
void CheckHas(Function function, const Device& device, const char* name) {
  if (function != nullptr) return;
  MXNET_THROW("NotImplementedError")
      << device.name() << " runs no models: its library has no " << name;
}

std::string TypeText(MXAccDataType dtype) {
  if (dtype.bits == 0) return "";
  return DataTypeName(DLDataType{dtype.code, dtype.bits, dtype.lanes});
}

std::vector<Support> SupportedOps(const ModelGraph& graph, Context ctx) {
  const InUse used(ctx);
  Device* device = used->device(ctx.device_id);
  CheckHas(device->api().supportedOps, *device, "supportedOps");
  std::vector<MXAccNodeSupport> nodes(static_cast<size_t>(graph.num_nodes()));
  for (MXAccNodeSupport& node : nodes) {
    node = MXAccNodeSupport{};
    node.struct_size = sizeof(node);
    node.id = kMXAccNodeUnsupported;
  }
  const ModelGraph::View view(graph);
  DeviceCall lock(device);
  const MXAccStatus status =
      device->api().supportedOps(device->api().self, device->id(), view.get(), nodes.data());
  Check(status, device->name(), "supportedOps");
  std::vector<Support> answers;
  for (const MXAccNodeSupport& node : nodes) {
    if (node.id < kMXAccNodeUnsupported) {
      MXNET_THROW("RuntimeError") << device->name() << ": supportedOps gave the id " << node.id
                                  << " for node number " << answers.size()
                                  << ", expected at least -1";
    }
    answers.emplace_back(node.id, node.why, TypeText(node.dtype), node.cost, node.group_cost,
                         node.byte_cost, TextOf(node.layout), TextOf(node.reason));
  }
  return answers;
}

/*! \brief A call of loadModel, which Ctrl-C ends, and whoever gives the graph up. */
class Loading : public ModelCall {
 public:
  /*! \brief A library that is called by one thread at a time is not interrupted by Ctrl-C: who
   * handles the signal may wait for it. */
  Loading(const ModelGraph& graph, bool may_stop) : graph_(graph), may_stop_(may_stop) {}

  bool ShouldStop() override {
    if (graph_.is_given_up()) return true;
    if (interruption_ || !may_stop_) return interruption_.has_value();
    try {
      CheckSignals();
    } catch (const Error& error) {
      interruption_ = error;
    }
    return interruption_.has_value();
  }
  void Check() const {
    if (interruption_) throw *interruption_;
  }

 private:
  const ModelGraph& graph_;
  bool may_stop_;
  std::optional<Error> interruption_;
};

/*! \brief Options as libraries get them. */
class Options {
 public:
  Options(const std::vector<std::string>& names, const std::vector<Any>& values) : names_(names) {
    if (names.size() != values.size()) {
      MXNET_THROW("ValueError") << "load: " << names.size() << " options and " << values.size()
                                << " values";
    }
    for (size_t i = 0; i < names_.size(); ++i) {
      const MXNetAny& raw = values[i].raw();
      MXAccAttribute attribute;
      if (!storage_.Make(names_[i].c_str(), raw.value, raw.type_code, &attribute)) {
        MXNET_THROW("TypeError") << "load: option '" << names_[i]
                                 << "': expected a number, a text, None or a list of these";
      }
      attributes_.push_back(attribute);
    }
  }
  const MXAccAttribute* data() const { return attributes_.data(); }
  int32_t size() const { return static_cast<int32_t>(attributes_.size()); }

 private:
  std::vector<std::string> names_;
  AttributeStorage storage_;
  std::vector<MXAccAttribute> attributes_;
};

/*! \brief The array that has the data of each weight. */
std::vector<std::shared_ptr<const void>> OwnersOf(const ModelGraph& graph) {
  std::vector<std::shared_ptr<const void>> owners;
  for (const NDArray& array : graph.weights()) owners.push_back(std::make_shared<NDArray>(array));
  return owners;
}

/*! \brief What a library's function gave as an object of the front end. */
Ref<Model> ModelOf(const InUse& used, Device* device, const MXAccModel& model,
                   const ModelGraph& graph, const char* function,
                   std::shared_ptr<const MappedPieces> pieces = nullptr) {
  auto loaded = std::make_shared<LoadedModel>(device, model, graph, function, std::move(pieces));
  used->attachments().Add(loaded);
  return Ref<Model>::Make(device->slot(), std::move(loaded));
}

Ref<Model> LoadModel(const ModelGraph& graph, Context ctx, const std::vector<std::string>& names,
                     const std::vector<Any>& values) {
  const InUse used(ctx);
  Device* device = used->device(ctx.device_id);
  CheckHas(device->api().loadModel, *device, "loadModel");
  const Options options(names, values);
  const ModelGraph::View view(graph);
  MXAccModel model{};
  model.struct_size = sizeof(model);
  {
    const OfferedWeights offered(view.weights(), OwnersOf(graph));
    Loading loading(graph, !device->one_thread());
    ModelCall* call = &loading;
    DeviceCall lock(device);
    const MXAccStatus status = device->api().loadModel(
        device->api().self, device->id(), view.get(), options.data(), options.size(), call, &model);
    if (status != nullptr) loading.Check();
    Check(status, device->name(), "loadModel");
  }
  return ModelOf(used, device, model, graph, "loadModel");
}

Ref<Model> ImportModel(const ModelGraph& graph, Context ctx, const std::string& key, int64_t file,
                       const std::vector<PieceRow>& rows, bool weights) {
  const InUse used(ctx);
  Device* device = used->device(ctx.device_id);
  CheckHas(device->api().importModel, *device, "importModel");
  auto pieces = std::make_shared<const MappedPieces>(static_cast<int>(file), rows);
  const ModelGraph::View view(graph);
  MXAccModel model{};
  model.struct_size = sizeof(model);
  {
    const OfferedWeights offered(view.weights(), OwnersOf(graph));
    DeviceCall lock(device);
    const MXAccStatus status = device->api().importModel(
        device->api().self, device->id(), key.c_str(), pieces->data(), pieces->size(),
        weights ? view.weights() : nullptr,
        weights ? static_cast<int32_t>(graph.weights().size()) : 0, &model);
    Check(status, device->name(), "importModel");
  }
  return ModelOf(used, device, model, graph, "importModel", std::move(pieces));
}

/*! \brief Name, default as JSON, description and choices of each. */
using OptionRows = std::vector<std::tuple<std::string, std::string, std::string, std::string>>;

OptionRows ListOptions(Context ctx) {
  const InUse used(ctx);
  Device* device = used->device(ctx.device_id);
  OptionRows rows;
  if (device->api().listOptions == nullptr) return rows;
  const MXAccOption* options = nullptr;
  int32_t count = 0;
  {
    DeviceCall lock(device);
    Check(device->api().listOptions(device->api().self, &options, &count), device->name(),
          "listOptions");
  }
  for (int32_t i = 0; i < count; ++i) {
    rows.emplace_back(TextOf(options[i].value.name), TextOf(options[i].value.json),
                      TextOf(options[i].doc), TextOf(options[i].choices));
  }
  return rows;
}

std::string ModelKey(Context ctx) {
  const InUse used(ctx);
  Device* device = used->device(ctx.device_id);
  if (device->api().modelKey == nullptr) return "";
  char key[4096] = {};
  DeviceCall lock(device);
  Check(device->api().modelKey(device->api().self, device->id(), key, sizeof(key)), device->name(),
        "modelKey");
  key[sizeof(key) - 1] = '\0';
  return key;
}

MXNET_REGISTER_API("mx.acc.models.exports")
    .describe("Whether the library of a device imports models that it has exported.")
    .arg("ctx", "The device.")
    .set_body_typed([](Context ctx) {
      const InUse used(ctx);
      return used->device(ctx.device_id)->api().importModel != nullptr;
    });

MXNET_REGISTER_API("mx.acc.models.checksum")
    .describe("A checksum of bytes of a file, which finds damage.")
    .arg("file", "Its descriptor.")
    .arg("offset", "Of the first byte, a multiple of 64.")
    .arg("size", "How many bytes.")
    .release_gil(0)
    .set_body_typed([](int64_t file, int64_t offset, int64_t size) {
      const MappedPieces mapped(static_cast<int>(file), {{"", offset, size}});
      const MXAccPiece& piece = *mapped.data();
      return static_cast<int64_t>(ChecksumOf(piece.data, piece.size));
    });

MXNET_REGISTER_API("mx.acc.models.content_hash")
    .describe("32 hexadecimal digits that tell contents apart, also of arrays that somebody chose.")
    .arg("array", "On the host, row-major.")
    .arg("key", "130 integers of uint64 that were drawn at random and are kept secret.")
    .release_gil(0)
    .set_body_typed([](const NDArray& array, const NDArray& key) {
      const auto size_of = [](const NDArray& of) {
        size_t size = (of.dtype().bits * size_t{of.dtype().lanes} + 7) / 8;
        for (const int64_t extent : of.shape()) size *= static_cast<size_t>(extent);
        return size;
      };
      for (const NDArray* one : {&array, &key}) {
        if (one->ctx().device_type != kDLCPU || !runtime::IsContiguous(one->tensor())) {
          MXNET_THROW("ValueError") << "expected row-major arrays on the host";
        }
      }
      if (size_of(key) != kContentKeyWords * sizeof(uint64_t)) {
        MXNET_THROW("ValueError") << "expected a key of " << kContentKeyWords << " uint64";
      }
      return ContentHash(runtime::TensorData(array.tensor()), size_of(array),
                         static_cast<const uint64_t*>(runtime::TensorData(key.tensor())));
    });

MXNET_REGISTER_API("mx.acc.models.configured")
    .describe("What configure has set last: device, keyword and value.")
    .arg("ctx", "Any device of the library.")
    .set_body_typed([](Context ctx) { return InUse(ctx)->Configured(); });

constexpr const char* kVerdicts[] = {"fits", "recompile", "does not fit"};

std::string CheckModel(Context ctx, const std::string& key) {
  const InUse used(ctx);
  Device* device = used->device(ctx.device_id);
  CheckHas(device->api().checkModel, *device, "checkModel");
  int32_t verdict = kMXAccDoesNotFit;
  DeviceCall lock(device);
  Check(device->api().checkModel(device->api().self, device->id(), key.c_str(), &verdict),
        device->name(), "checkModel");
  if (verdict < kMXAccFits || verdict > kMXAccDoesNotFit) verdict = kMXAccDoesNotFit;
  return kVerdicts[verdict];
}

/*! \brief Name, node, begin and end of a piece of work. */
using RecordRow = std::tuple<std::string, int64_t, int64_t, int64_t>;

std::tuple<std::vector<NDArray>, std::vector<RecordRow>, std::string> InferProfiled(
    const Model& model, std::vector<NDArray> inputs) {
  ProfiledRun run = model.InferProfiled(std::move(inputs));
  std::vector<RecordRow> rows;
  for (const WorkRecord& record : run.records) {
    rows.emplace_back(record.name, record.node, record.begin_ns, record.end_ns);
  }
  return {std::move(run.outputs), std::move(rows), std::move(run.problem)};
}

std::optional<runtime::Tuple> TryInfer(const Model& model, std::vector<NDArray> inputs) {
  std::optional<std::vector<NDArray>> outputs = model.TryInfer(std::move(inputs));
  if (!outputs) return std::nullopt;
  std::vector<Any> items;
  items.reserve(outputs->size());
  for (NDArray& output : *outputs) items.push_back(runtime::details::ToAny(std::move(output)));
  return runtime::Tuple(std::move(items));
}

int64_t Bytes64(uint64_t bytes) { return static_cast<int64_t>(bytes); }

MXNET_REGISTER_CLASS(ModelGraph, "mx.acc.ModelGraph")
    .describe("A graph as libraries of accelerators get it.")
    .def_init<std::string, int64_t, runtime::Bytes>()
    .arg("json", "The graph, as mxnet_acc_graph.schema.json says.")
    .arg("num_nodes", "How many nodes it has.")
    .arg("onnx", "The same as an ONNX model without the data of weights; b'' for none.")
    .def("add_input", &ModelGraph::AddInput, "Adds an input.")
    .arg("name", "For people.")
    .arg("dtype", "Element type.")
    .arg("shape", "Extents; -1 for one that is not known.")
    .arg("symbols", "A name for each extent that is not known; '' for the others.")
    .def("add_output", &ModelGraph::AddOutput, "Adds an output.")
    .arg("name", "For people.")
    .arg("dtype", "Element type.")
    .arg("shape", "Extents; -1 for one that is not known.")
    .arg("symbols", "A name for each extent that is not known; '' for the others.")
    .def("add_weight", &ModelGraph::AddWeight, "Adds a weight.")
    .arg("name", "For people.")
    .arg("array", "A row-major array of the CPU.")
    .arg("content_hash", "Of its bytes, as hexadecimal digits; '' for none.")
    .def("supported", &SupportedOps,
         "What the library says of each node: (id, why, dtype, cost, group cost, byte cost, "
         "layout, reason).")
    .arg("ctx", "The device.")
    .release_gil()
    .def("load", &LoadModel, "Compiles the graph.")
    .arg("ctx", "The device.")
    .arg("names", "Names of options.")
    .arg("values", "Their values.")
    .release_gil()
    .def("give_up", &ModelGraph::GiveUp,
         "Has a library that compiles it in another thread be asked to stop.")
    .def("import_model", &ImportModel, "Makes the model of what `Model.export` has written.")
    .arg("ctx", "The device.")
    .arg("key", "What the device's key was when the model was compiled.")
    .arg("file", "Descriptor of the file.")
    .arg("rows", "Name, offset and size of each piece, as export gave them.")
    .arg("weights", true, "Whether it was exported without the graph's weights, which it is given.")
    .release_gil();

MXNET_REGISTER_CLASS(Model, "mx.acc.Model")
    .describe("A graph that an accelerator's library has compiled.")
    .def("infer", &Model::Infer, "The outputs for these inputs, as new arrays on the device.")
    .arg("inputs", "Arrays in the order of the graph's inputs.")
    .release_gil()
    .def("try_infer", &TryInfer,
         "The same as a tuple; None for inputs of other shapes or types than the graph's.")
    .arg("inputs", "Arrays in the order of the graph's inputs.")
    .release_gil()
    .def("infer_profiled", &InferProfiled,
         "The same once it is done, with (name, node, begin, end) of all work that the library "
         "tells of, in nanoseconds, and why it tells of none where it failed to.")
    .arg("inputs", "Arrays in the order of the graph's inputs.")
    .release_gil()
    .def("infer_shapes", &Model::InferShapes,
         "The shapes of the outputs for inputs of these; -1 where the elements decide.")
    .arg("shapes", "Of the inputs.")
    .def("export", &Model::Export,
         "Writes the compiled model into a file; the name, offset and size of each piece.")
    .arg("file", "Descriptor of the file.")
    .arg("offset", "Where the first piece may begin.")
    .arg("weights", false, "Whether the pieces are to have all weights.")
    .release_gil()
    .def("update_weights", &Model::UpdateWeights,
         "Gives the model some weights of a graph that is its own but for their elements. Where "
         "that fails, the model has to be loaded again.")
    .arg("graph", "A ModelGraph.")
    .arg("which", "The numbers of the weights.")
    .release_gil()
    .def_property(
        "updates", [](const Model& model) { return model.loaded().updates(); },
        "Whether the library takes other weights for it.")
    .def_property(
        "is_lost", [](const Model& model) { return model.is_lost(); },
        "Whether it went with the process of its library, and has to be loaded again.")
    .def_property(
        "flags", [](const Model& model) { return static_cast<int64_t>(model.loaded().flags()); },
        "Bits of MXAccModel.")
    .def_property(
        "workspace_bytes",
        [](const Model& model) { return Bytes64(model.loaded().workspace_bytes()); },
        "Bytes of the device's memory that each run takes.")
    .def_property(
        "weight_bytes", [](const Model& model) { return Bytes64(model.loaded().weight_bytes()); },
        "Bytes of the device's memory that the model takes.");

MXNET_REGISTER_API("mx.acc.models.context")
    .describe(
        "Where the arrays of a device's models are: there, or on the CPU if it has no memory.")
    .arg("ctx", "The device.")
    .set_body_typed([](Context ctx) {
      const InUse used(ctx);
      return used->device(ctx.device_id)->api().mx_alloc == nullptr ? kHost : ctx;
    });

MXNET_REGISTER_API("mx.acc.models.copy_costs")
    .describe(
        "What copies to a device and from it take, measured once: microseconds of a copy and of "
        "each byte to it, and the same from it; none where models work on memory of the host.")
    .arg("ctx", "The device.")
    .release_gil(0)
    .set_body_typed([](Context ctx) {
      const InUse used(ctx);
      Device* device = used->device(ctx.device_id);
      std::vector<double> row;
      if (device->api().mx_alloc == nullptr) return row;
      const CopyCosts costs = device->copies()->Get(device);
      return std::vector<double>{costs.to_device.base, costs.to_device.per_byte, costs.to_host.base,
                                 costs.to_host.per_byte};
    });

MXNET_REGISTER_API("mx.acc.models.options")
    .describe("The options of models: (name, default as JSON, description, choices) of each.")
    .arg("ctx", "The device.")
    .set_body_typed(&ListOptions);

MXNET_REGISTER_API("mx.acc.models.key")
    .describe("What decides whether compiled models fit a device; '' where it does not say.")
    .arg("ctx", "The device.")
    .set_body_typed(&ModelKey);

MXNET_REGISTER_API("mx.acc.models.check")
    .describe("Whether a compiled model fits: 'fits', 'recompile' or 'does not fit'.")
    .arg("ctx", "The device.")
    .arg("key", "What the device's key was when the model was compiled.")
    .set_body_typed(&CheckModel);

}  // namespace
}  // namespace acc
}  // namespace mxnet
