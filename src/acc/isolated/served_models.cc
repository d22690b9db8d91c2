/*!
 * \file served_models.cc
 * \brief Calls a library's functions for graphs and models.
 */
#include "acc/isolated/served_models.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <new>
#include <string>
#include <utility>

#include "acc/isolated/answers.h"
#include "acc/plugin/bytes.h"
#include "acc/plugin/guard.h"
#include "acc/plugin/model_call.h"

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

/*! \brief What a call of the library gives; what it throws is a failure. */
template <typename Call>
MXAccStatus Guarded(const Call& call) {
  try {
    return call();
  } catch (...) {
    return StatusOfException();
  }
}

std::shared_ptr<char> NewBlock(size_t size) {
  void* data = std::aligned_alloc(kPieceAlignment, AlignedUp(std::max<size_t>(size, 1)));
  if (data == nullptr) throw std::bad_alloc();
  return {static_cast<char*>(data), std::free};
}

/*! \brief Only the elements of a weight were sent. */
void SetData(const std::shared_ptr<char>& block, MXTensor* weight) {
  weight->tensor.data = block.get();
  weight->tensor.byte_offset = 0;
}

/*! \brief What a library says of an input or output of a model. */
void WriteSpec(const MXTensor& told, Writer* answer) {
  const MXAccDLTensor& tensor = told.tensor;
  const bool has_shape =
      tensor.shape != nullptr && tensor.ndim >= 0 && tensor.ndim <= MXACC_MAX_DIMS;
  answer->Number(tensor.dtype);
  answer->Number(tensor.ndim);
  answer->Number(has_shape);
  for (int32_t i = 0; has_shape && i < tensor.ndim; ++i) answer->Number(tensor.shape[i]);
  answer->Info(told.info, has_shape ? tensor.ndim : 0);
}

}  // namespace

struct ServedModels::Model {
  MXAccModel model;
  std::vector<Block> bytes; /*!< weights or pieces that the library reads as long as it has it */
  std::map<std::string, Block> updated{}; /*!< the same of weights that it was given later */
};

/*! \brief A graph with the data of its weights. */
struct ServedModels::GivenGraph {
  GivenGraph(Reader* request, const std::vector<Block>& weights) {
    json = request->Text();
    onnx = request->Text();
    graph.struct_size = sizeof(graph);
    graph.json = json.c_str();
    graph.onnx = onnx.empty() ? nullptr : onnx.data();
    graph.onnx_size = onnx.size();
    graph.num_nodes = request->Number<int32_t>();
    graph.version = request->Number<int32_t>();
    graph.num_inputs = request->Number<int32_t>();
    data = request->Tensors();
    outputs = request->Tensors();
    for (size_t i = 0; i < weights.size(); ++i) {
      SetData(weights[i], &data[static_cast<size_t>(graph.num_inputs) + i]);
    }
    graph.data = data.data();
    graph.num_data = static_cast<int32_t>(data.size());
    graph.outputs = outputs.data();
    graph.num_outputs = static_cast<int32_t>(outputs.size());
  }

  std::string json;
  std::string onnx;
  std::vector<MXTensor> data;
  std::vector<MXTensor> outputs;
  MXAccGraph graph{};
};

/*! \brief A call of the library that may ask; any thread may call. */
class ServedModels::Run : public ModelCall {
 public:
  explicit Run(Asker* asker) : asker_(asker), call_(asker) {}

  bool ShouldStop() override {
    try {
      return asker_->Ask(Asker::About(Question::kShouldStop)).Number<int32_t>() != 0;
    } catch (const std::exception&) {
      return false;
    }
  }

  MXAccStatus AllocOutput(int32_t index, MXAccDataType dtype, int32_t ndim, const int64_t* shape,
                          MXTensor* out) override {
    if (ndim > MXACC_MAX_DIMS) {
      return Failure(kMXAccBadArgument, "alloc_output: this is no shape");
    }
    try {
      Writer asked = Asker::About(Question::kAllocOutput);
      asked.Number(index);
      asked.Number(dtype);
      asked.Number(ndim);
      for (int32_t i = 0; i < ndim; ++i) asked.Number(shape[i]);
      auto reply = std::make_unique<Reader>(asker_->Ask(asked));
      if (MXAccStatus status = ReadStatus(reply.get())) return status;
      const bool is_on_host = reply->Number<bool>();
      *out = reply->Tensor();
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_on_host) HoldOnHost(index, out);
      replies_.push_back(std::move(reply));
      return nullptr;
    } catch (const std::exception& error) {
      return Failure(kMXAccFailed, error.what());
    }
  }

  /*! \brief Gives an output that the host reads memory of this process. */
  void HoldOnHost(int32_t index, MXTensor* output) {
    const size_t size = SizeOf(output->tensor);
    Block block = NewBlock(size);
    output->tensor.data = block.get();
    on_host_[index] = {std::move(block), size};
  }

  /*! \brief Copies these outputs to the shared memory; which they are and where. */
  void WriteOutputs(SharedMemory* shared, Writer* answer) const {
    size_t end = 0;
    for (const auto& [index, held] : on_host_) end += AlignedUp(held.size);
    char* to = shared->Reserve(end);
    answer->Number<uint64_t>(on_host_.size());
    end = 0;
    for (const auto& [index, held] : on_host_) {
      std::memcpy(to + end, held.block.get(), held.size);
      answer->Number(index);
      answer->Number<uint64_t>(end);
      end += AlignedUp(held.size);
    }
  }

 private:
  struct Output {
    Block block;
    size_t size;
  };

  Asker* asker_;
  std::mutex mutex_;
  std::map<int32_t, Output> on_host_;
  /*! \brief Own what the tensors that the library was given point to. */
  std::deque<std::unique_ptr<Reader>> replies_;
  const Asker::Call call_; /*!< ends first, so that no thread is in the others */
};

/*! \brief Records of work, until the host asks for them; any thread may give some. Stays, as a
 * library that fails to end may go on giving records. */
class ServedModels::Records {
 public:
  static void Take(void* context, const MXAccProfileRecord* record) {
    if (context == nullptr || record == nullptr || !MXNET_ACC_HAS(*record, end_ns)) return;
    auto* self = static_cast<Records*>(context);
    const std::lock_guard<std::mutex> lock(self->mutex_);
    ++self->count_;
    self->records_.OptionalText(TextOf(record->name).c_str());
    self->records_.Number(record->node);
    self->records_.Number(record->begin_ns);
    self->records_.Number(record->end_ns);
  }
  void Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    count_ = 0;
    records_ = Writer();
  }
  void Write(Writer* answer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    answer->Number(count_);
    answer->Append(records_);
  }

 private:
  std::mutex mutex_;
  uint64_t count_{0};
  Writer records_;
};

ServedModels::ServedModels(const MXAccApi& api, SharedMemory* shared, Asker* asker)
    : api_(api), shared_(shared), asker_(asker), records_(std::make_unique<Records>()) {}

ServedModels::~ServedModels() = default;

Writer ServedModels::TakeBytes(Reader* request) {
  const auto size = static_cast<size_t>(request->Number<uint64_t>());
  Block block = NewBlock(size);
  std::memcpy(block.get(), shared_->Reserve(size), size);
  received_.push_back(std::move(block));
  return StatusOnly(nullptr);
}

std::vector<ServedModels::Block> ServedModels::Received(Reader* request) {
  const auto count = static_cast<size_t>(request->Number<int32_t>());
  std::vector<Block> all = std::move(received_);
  received_.clear();
  if (all.size() < count) MXNET_THROW("RuntimeError") << "bytes of a model are missing";
  all.erase(all.begin(), all.end() - static_cast<ptrdiff_t>(count));
  return all;
}

Writer ServedModels::SupportedOps(Reader* request) {
  const auto device = request->Number<int32_t>();
  const std::vector<Block> weights = Received(request);
  const GivenGraph given(request, weights);
  std::vector<MXAccNodeSupport> nodes(static_cast<size_t>(given.graph.num_nodes));
  for (MXAccNodeSupport& node : nodes) {
    node = MXAccNodeSupport{};
    node.struct_size = sizeof(node);
    node.id = kMXAccNodeUnsupported;
  }
  if (MXAccStatus status = api_.supportedOps(api_.self, device, &given.graph, nodes.data())) {
    return StatusOnly(status);
  }
  Writer answer = StatusOnly(nullptr);
  for (const MXAccNodeSupport& node : nodes) {
    answer.Number(node.id);
    answer.Number(node.why);
    answer.Number(node.dtype);
    answer.Number(node.cost);
    answer.Number(node.group_cost);
    answer.Number(node.byte_cost);
    for (const char* text : {node.layout, node.reason}) {
      answer.OptionalText(text == nullptr ? nullptr : TextOf(text).c_str());
    }
  }
  return answer;
}

Writer ServedModels::Keep(const MXAccModel& model, std::vector<Block> bytes) {
  Writer answer = StatusOnly(nullptr);
  answer.Number(++last_model_);
  answer.Number(model.flags);
  answer.Number(model.workspace_bytes);
  answer.Number(model.weight_bytes);
  answer.Number(model.infer != nullptr);
  answer.Number(model.inferShapes != nullptr);
  answer.Number(model.exportModel != nullptr);
  answer.Number(model.updateWeights != nullptr);
  answer.Number(model.num_in);
  answer.Number(model.num_out);
  answer.Number(model.inputs != nullptr);
  answer.Number(model.outputs != nullptr);
  for (int32_t i = 0; model.inputs != nullptr && i < model.num_in; ++i) {
    WriteSpec(model.inputs[i], &answer);
  }
  for (int32_t i = 0; model.outputs != nullptr && i < model.num_out; ++i) {
    WriteSpec(model.outputs[i], &answer);
  }
  models_[last_model_] = std::make_unique<Model>(Model{model, std::move(bytes)});
  return answer;
}

Writer ServedModels::LoadModel(Reader* request) {
  const auto device = request->Number<int32_t>();
  std::vector<Block> weights = Received(request);
  const GivenGraph given(request, weights);
  std::vector<MXAccAttribute> options(static_cast<size_t>(request->Number<int32_t>()));
  for (MXAccAttribute& option : options) option = request->Attribute();
  MXAccModel model{};
  model.struct_size = sizeof(model);
  {
    const OfferedWeights offered(given.data.data() + given.graph.num_inputs,
                                 {weights.begin(), weights.end()});
    Run run(asker_);
    ModelCall* call = &run;
    MXAccStatus status = api_.loadModel(api_.self, device, &given.graph, options.data(),
                                        static_cast<int32_t>(options.size()), call, &model);
    if (status != nullptr) return StatusOnly(status);
  }
  if ((model.flags & kMXAccModelKeepsWeights) != 0) weights.clear();
  return Keep(model, std::move(weights));
}

Writer ServedModels::ImportModel(Reader* request) {
  const auto device = request->Number<int32_t>();
  std::vector<Block> bytes = Received(request);
  const std::string key = request->Text();
  std::vector<std::string> names(static_cast<size_t>(request->Number<int32_t>()));
  for (std::string& name : names) name = request->Text();
  std::vector<MXAccPiece> pieces;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto size = static_cast<size_t>(request->Number<uint64_t>());
    pieces.push_back({names[i].c_str(), bytes[i].get(), size});
  }
  std::vector<MXTensor> weights = request->Tensors();
  std::vector<std::shared_ptr<const void>> owners;
  for (size_t i = 0; i < weights.size(); ++i) {
    owners.emplace_back(bytes[names.size() + i]);
    SetData(bytes[names.size() + i], &weights[i]);
  }
  MXAccModel model{};
  model.struct_size = sizeof(model);
  {
    const OfferedWeights offered(weights.data(), std::move(owners));
    MXAccStatus status = api_.importModel(api_.self, device, key.c_str(), pieces.data(),
                                          static_cast<int32_t>(pieces.size()), weights.data(),
                                          static_cast<int32_t>(weights.size()), &model);
    if (status != nullptr) return StatusOnly(status);
  }
  if ((model.flags & kMXAccModelKeepsWeights) != 0) bytes.resize(pieces.size());
  return Keep(model, std::move(bytes));
}

Writer ServedModels::ListOptions() const {
  const MXAccOption* options = nullptr;
  int32_t count = 0;
  if (MXAccStatus status = api_.listOptions(api_.self, &options, &count)) {
    return StatusOnly(status);
  }
  Writer answer = StatusOnly(nullptr);
  answer.Number(count);
  for (int32_t i = 0; i < count; ++i) {
    answer.Attribute(options[i].value);
    answer.OptionalText(options[i].doc);
    answer.OptionalText(options[i].choices);
  }
  return answer;
}

Writer ServedModels::ModelKey(Reader* request) const {
  const auto device = request->Number<int32_t>();
  std::string key(static_cast<size_t>(request->Number<uint64_t>()) + 1, '\0');
  if (MXAccStatus status = api_.modelKey(api_.self, device, key.data(), key.size() - 1)) {
    return StatusOnly(status);
  }
  Writer answer = StatusOnly(nullptr);
  answer.Text(key.c_str());
  return answer;
}

Writer ServedModels::CheckModel(Reader* request) const {
  const auto device = request->Number<int32_t>();
  const std::string key = request->Text();
  int32_t verdict = kMXAccDoesNotFit;
  if (MXAccStatus status = api_.checkModel(api_.self, device, key.c_str(), &verdict)) {
    return StatusOnly(status);
  }
  Writer answer = StatusOnly(nullptr);
  answer.Number(verdict);
  return answer;
}

void ServedModels::ReadArguments(Reader* request, std::vector<MXTensor>* tensors) const {
  tensors->resize(static_cast<size_t>(request->Number<int32_t>()));
  for (MXTensor& tensor : *tensors) {
    const auto held = request->Number<Held>();
    tensor = request->Tensor();
    if (held == Held::kNowhere) tensor.tensor.data = nullptr;
    if (held == Held::kShared) {
      tensor.tensor.data = shared_->data() + reinterpret_cast<uintptr_t>(tensor.tensor.data);
    }
  }
}

Writer ServedModels::Infer(Reader* request) {
  const MXAccModel& model = models_.at(request->Number<uint64_t>())->model;
  shared_->Reserve(static_cast<size_t>(request->Number<uint64_t>()));
  std::vector<MXTensor> inputs;
  std::vector<MXTensor> outputs;
  std::vector<MXTensor> workspace;
  ReadArguments(request, &inputs);
  ReadArguments(request, &outputs);
  ReadArguments(request, &workspace);
  Run run(asker_);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const MXAccDLTensor& tensor = outputs[i].tensor;
    if (tensor.device.device_type == kMXAccHost && tensor.data != nullptr) {
      run.HoldOnHost(static_cast<int32_t>(i), &outputs[i]);
    }
  }
  ModelCall* call = &run;
  MXAccStatus status = Guarded([&] {
    return model.infer(model.state, inputs.data(), static_cast<int32_t>(inputs.size()),
                       outputs.data(), static_cast<int32_t>(outputs.size()),
                       workspace.empty() ? nullptr : workspace.data(), nullptr, call);
  });
  if (status != nullptr) return StatusOnly(status);
  Writer answer = StatusOnly(nullptr);
  run.WriteOutputs(shared_, &answer);
  return answer;
}

Writer ServedModels::InferShapes(Reader* request) {
  const MXAccModel& model = models_.at(request->Number<uint64_t>())->model;
  shared_->Reserve(static_cast<size_t>(request->Number<uint64_t>()));
  std::vector<MXTensor> inputs;
  std::vector<MXTensor> outputs;
  ReadArguments(request, &inputs);
  ReadArguments(request, &outputs);
  std::vector<std::vector<int64_t>> shapes;
  for (MXTensor& output : outputs) {
    std::vector<int64_t>& shape = shapes.emplace_back(MXACC_MAX_DIMS, -1);
    for (int32_t i = 0; i < output.tensor.ndim; ++i) {
      shape[static_cast<size_t>(i)] = output.tensor.shape[i];
    }
    output.tensor.shape = shape.data();
  }
  MXAccStatus status = Guarded([&] {
    return model.inferShapes(model.state, inputs.data(), static_cast<int32_t>(inputs.size()),
                             outputs.data(), static_cast<int32_t>(outputs.size()));
  });
  if (status != nullptr) return StatusOnly(status);
  Writer answer = StatusOnly(nullptr);
  for (const MXTensor& output : outputs) {
    answer.Number(output.tensor.ndim);
    const int32_t count = std::min(std::max(output.tensor.ndim, 0), MXACC_MAX_DIMS);
    for (int32_t i = 0; i < count; ++i) answer.Number(output.tensor.shape[i]);
  }
  return answer;
}

Writer ServedModels::UpdateWeights(Reader* request) {
  Model& of = *models_.at(request->Number<uint64_t>());
  const std::vector<Block> blocks = Received(request);
  std::vector<MXTensor> weights = request->Tensors();
  for (size_t i = 0; i < weights.size(); ++i) SetData(blocks.at(i), &weights[i]);
  const OfferedWeights offered(weights.data(), {blocks.begin(), blocks.end()});
  MXAccStatus status = Guarded([&] {
    return of.model.updateWeights(of.model.state, weights.data(),
                                  static_cast<int32_t>(weights.size()));
  });
  // The blocks that the model was made with stay, as nothing tells which are of these weights.
  const bool reads_later = (of.model.flags & kMXAccModelKeepsWeights) == 0;
  for (size_t i = 0; status == nullptr && reads_later && i < weights.size(); ++i) {
    of.updated[weights[i].name == nullptr ? "" : weights[i].name] = blocks[i];
  }
  return StatusOnly(status);
}

Writer ServedModels::ExportModel(Reader* request) {
  const MXAccModel& model = models_.at(request->Number<uint64_t>())->model;
  const auto weights = request->Number<int32_t>();
  struct Context {
    Asker* asker;
    SharedMemory* shared;
  } context{asker_, shared_};
  const MXAccTakePiece take = [](void* given, const MXAccPiece* piece) -> MXAccStatus {
    auto* to = static_cast<Context*>(given);
    try {
      Writer asked = Asker::About(Question::kTakePiece);
      asked.Number<uint8_t>(piece != nullptr);
      if (piece != nullptr) {
        asked.OptionalText(piece->key);
        asked.Number<uint64_t>(piece->size);
        asked.Number<uint8_t>(piece->data != nullptr);
        if (piece->data != nullptr) {
          std::memcpy(to->shared->Reserve(piece->size), piece->data, piece->size);
        }
      }
      Reader reply = to->asker->Ask(asked);
      return ReadStatus(&reply);
    } catch (const std::exception& error) {
      return Failure(kMXAccFailed, error.what());
    }
  };
  const Asker::Call call(asker_);
  return StatusOnly(
      Guarded([&] { return model.exportModel(model.state, weights, take, &context); }));
}

Writer ServedModels::Profile(Reader* request) {
  const auto device = request->Number<int32_t>();
  const bool begins = request->Number<bool>();
  if (begins) records_->Clear();
  const MXAccProfileSink sink = begins ? &Records::Take : nullptr;
  MXAccStatus status = api_.profile(api_.self, device, sink, records_.get());
  // A library that fails to end has given records nevertheless.
  Writer answer = StatusOnly(nullptr);
  WriteStatus(status, &answer);
  if (!begins) records_->Write(&answer);
  return answer;
}

Writer ServedModels::UnloadModel(Reader* request) {
  const auto found = models_.find(request->Number<uint64_t>());
  if (found == models_.end()) return StatusOnly(nullptr);
  const std::unique_ptr<Model> freed = std::move(found->second);
  models_.erase(found);
  if (freed->model.unloadModel == nullptr) return StatusOnly(nullptr);
  try {
    freed->model.unloadModel(freed->model.state);
  } catch (...) {
    WarnOfException("unloadModel");
  }
  return StatusOnly(nullptr);
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
