/*!
 * \file models.cc
 * \brief Graphs and models in the process that has the library.
 */
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "acc/isolated/answers.h"
#include "acc/isolated/library.h"
#include "acc/plugin/model_call.h"

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

MXTensor ReadSpec(Reader* answer) {
  MXTensor tensor{};
  tensor.struct_size = sizeof(tensor);
  tensor.tensor.dtype = answer->Number<MXAccDataType>();
  const auto ndim = answer->Number<int32_t>();
  const bool has_shape = answer->Number<bool>();
  tensor.tensor.ndim = ndim;
  tensor.tensor.shape = has_shape ? answer->Extents(ndim) : nullptr;
  tensor.info = answer->Info(has_shape ? ndim : 0);
  return tensor;
}

std::vector<MXTensor> ReadSpecs(Reader* answer, int32_t count, bool are_there) {
  std::vector<MXTensor> specs;
  for (int32_t i = 0; are_there && i < count; ++i) specs.push_back(ReadSpec(answer));
  return specs;
}

}  // namespace

/*! \brief State of a model: its number in a process, and what the library has told of it. */
struct Library::Model {
  Library* library;
  uint64_t number;
  uint64_t generation;
  std::unique_ptr<Reader> told;
  std::vector<MXTensor> inputs;
  std::vector<MXTensor> outputs;

  bool is_there() const { return generation == library->generation_; }
  MXAccStatus Check() const {
    if (is_there()) return nullptr;
    return Failure(kMXAccFailed,
                   "the model was lost when the process of the accelerator ended; it has to be "
                   "loaded again");
  }
};

/*! \brief The tensors of a call of a model, and the replies to what is asked meanwhile. */
class Library::ModelRun {
 public:
  explicit ModelRun(Library* library) : library_(library) {}

  /*! \brief Adds tensors to the request. What is the host's goes through the shared memory. */
  MXAccStatus Add(const MXTensor* tensors, int32_t count, bool are_read, Writer* request) {
    request->Number(count);
    for (int32_t i = 0; i < count; ++i) {
      const MXAccDLTensor& tensor = tensors[i].tensor;
      uint64_t handle = 0;
      Held held = tensor.data == nullptr ? Held::kNowhere : Held::kDevice;
      if (held == Held::kDevice && tensor.device.device_type == kMXAccHost) {
        held = Held::kShared;
        if (are_read) {
          handle = end_;
          sources_.push_back(&tensor);
          end_ += AlignedUp(SizeOf(tensor));
        }
      } else if (MXAccStatus status = library_->HandleOf(tensors[i], &handle)) {
        return status;
      }
      request->Number(held);
      MXTensor sent = tensors[i];
      // What comes through the shared memory begins where it lies there.
      if (held == Held::kShared) sent.tensor.byte_offset = 0;
      request->Tensor(sent, handle);
    }
    return nullptr;
  }

  /*! \brief Copies what is read to the shared memory. */
  void Send() {
    char* to = library_->process_->shared()->Reserve(end_);
    for (const MXAccDLTensor* source : sources_) {
      std::memcpy(to, FirstOf(*source), SizeOf(*source));
      to += AlignedUp(SizeOf(*source));
    }
  }
  size_t size() const { return end_; }

  /*! \brief Copies the outputs that the process has put into the shared memory. */
  void TakeOutputs(MXTensor* outputs, Reader* answer) {
    const auto count = answer->Number<uint64_t>();
    for (uint64_t i = 0; i < count; ++i) {
      const auto index = answer->Number<int32_t>();
      const auto offset = static_cast<size_t>(answer->Number<uint64_t>());
      const auto made = made_.find(index);
      const MXAccDLTensor& to = made == made_.end() ? outputs[index].tensor : made->second.tensor;
      const size_t size = SizeOf(to);
      std::memcpy(FirstOf(to), library_->process_->shared()->Reserve(offset + size) + offset, size);
    }
  }

  Writer Answer(Question question, Reader* asked, void* call) {
    auto* model_call = static_cast<ModelCall*>(call);
    Writer reply;
    if (question == Question::kShouldStop) {
      reply.Number<int32_t>(model_call != nullptr && model_call->ShouldStop() ? 1 : 0);
      return reply;
    }
    if (question != Question::kAllocOutput) MXNET_THROW("RuntimeError") << "an unknown question";
    const auto index = asked->Number<int32_t>();
    const auto dtype = asked->Number<MXAccDataType>();
    const auto ndim = asked->Number<int32_t>();
    MXTensor made{};
    uint64_t handle = 0;
    MXAccStatus status =
        model_call->AllocOutput(index, dtype, ndim, asked->Extents(std::max(ndim, 0)), &made);
    const bool is_on_host = made.tensor.device.device_type == kMXAccHost;
    if (status == nullptr && !is_on_host) status = library_->HandleOf(made, &handle);
    WriteStatus(status, &reply);
    if (status != nullptr) return reply;
    made_[index] = made;
    reply.Number(is_on_host);
    if (is_on_host) made.tensor.byte_offset = 0;
    reply.Tensor(made, handle);
    return reply;
  }

 private:
  static char* FirstOf(const MXAccDLTensor& tensor) {
    return static_cast<char*>(tensor.data) + tensor.byte_offset;
  }

  Library* library_;
  size_t end_{0};
  std::vector<const MXAccDLTensor*> sources_;
  std::map<int32_t, MXTensor> made_;
};

bool Library::HoldsModel(const void* state) { return static_cast<const Model*>(state)->is_there(); }

MXAccStatus Library::SendBytes(const void* data, size_t size) {
  if (size != 0) std::memcpy(process_->shared()->Reserve(size), data, size);
  Writer request(Request::kBytes);
  request.Number<uint64_t>(size);
  return AskOnce(request);
}

MXAccStatus Library::SendWeights(const MXTensor* weights, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const MXAccDLTensor& tensor = weights[i].tensor;
    MXAccStatus status =
        SendBytes(static_cast<const char*>(tensor.data) + tensor.byte_offset, SizeOf(tensor));
    if (status != nullptr) return status;
  }
  process_->shared()->Trim();
  return nullptr;
}

MXAccStatus Library::SendGraph(int32_t dev_id, const MXAccGraph& graph, Writer* request) {
  const int32_t num_weights = graph.num_data - graph.num_inputs;
  if (MXAccStatus status = SendWeights(graph.data + graph.num_inputs, num_weights)) return status;
  request->Number(dev_id);
  request->Number(num_weights);
  request->Text(graph.json);
  request->Text(std::string(static_cast<const char*>(graph.onnx), graph.onnx_size));
  request->Number(graph.num_nodes);
  request->Number(graph.version);
  request->Number(graph.num_inputs);
  request->Tensors(graph.data, graph.num_data);
  request->Tensors(graph.outputs, graph.num_outputs);
  return nullptr;
}

MXAccStatus Library::SupportedOps(int32_t dev_id, const MXAccGraph* graph,
                                  MXAccNodeSupport* nodes) {
  // Texts are valid until the thread's next call. By a pointer, as memory of threads is scarce
  // where libraries are loaded late that need some.
  static thread_local std::unique_ptr<Reader> kept;
  kept = std::make_unique<Reader>("");
  Reader& answer = *kept;
  const Turn turn(this);
  Writer request(Request::kSupportedOps);
  if (MXAccStatus status = SendGraph(dev_id, *graph, &request)) return status;
  if (MXAccStatus status = Ask(request, &answer)) return status;
  for (int32_t i = 0; i < graph->num_nodes; ++i) {
    MXAccNodeSupport& node = nodes[i];
    node.id = answer.Number<int32_t>();
    node.why = answer.Number<int32_t>();
    node.dtype = answer.Number<MXAccDataType>();
    node.cost = answer.Number<float>();
    node.group_cost = answer.Number<float>();
    node.byte_cost = answer.Number<float>();
    node.layout = answer.OptionalText();
    node.reason = answer.OptionalText();
  }
  return nullptr;
}

MXAccStatus Library::TakeModel(const Writer& request, const Reply& reply, MXAccModel* out) {
  auto model = std::make_unique<Model>();
  model->told = std::make_unique<Reader>("");
  Reader* told = model->told.get();
  if (MXAccStatus status = Ask(request, told, reply)) return status;
  model->library = this;
  model->number = told->Number<uint64_t>();
  model->generation = generation_;
  // Calls of several threads wait for their turn here, and the process keeps the weights.
  out->flags = told->Number<uint32_t>() | kMXAccModelConcurrent | kMXAccModelKeepsWeights;
  out->workspace_bytes = told->Number<uint64_t>();
  out->weight_bytes = told->Number<uint64_t>();
  const bool infers = told->Number<bool>();
  const bool infers_shapes = told->Number<bool>();
  const bool exports = told->Number<bool>();
  const bool updates = told->Number<bool>();
  out->num_in = told->Number<int32_t>();
  out->num_out = told->Number<int32_t>();
  const bool has_inputs = told->Number<bool>();
  const bool has_outputs = told->Number<bool>();
  model->inputs = ReadSpecs(told, out->num_in, has_inputs);
  model->outputs = ReadSpecs(told, out->num_out, has_outputs);
  out->inputs = has_inputs ? model->inputs.data() : nullptr;
  out->outputs = has_outputs ? model->outputs.data() : nullptr;
  if (infers) out->infer = &Infer;
  if (infers_shapes) out->inferShapes = &InferShapes;
  if (exports) out->exportModel = &ExportModel;
  if (updates) out->updateWeights = &UpdateWeights;
  out->unloadModel = [](void* state) {
    const std::unique_ptr<Model> freed(static_cast<Model*>(state));
    Library* library = freed->library;
    const std::lock_guard<std::recursive_timed_mutex> hold(library->calls_);
    if (freed->generation != library->generation_) return;
    Writer unload(Request::kUnloadModel);
    unload.Number(freed->number);
    library->Tell(unload);
  };
  out->state = model.release();
  return nullptr;
}

MXAccStatus Library::LoadModel(int32_t dev_id, const MXAccGraph* graph,
                               const MXAccAttribute* options, int32_t num_options, void* call,
                               MXAccModel* out) {
  const Turn turn(this);
  Writer request(Request::kLoadModel);
  if (MXAccStatus status = SendGraph(dev_id, *graph, &request)) return status;
  request.Number(num_options);
  for (int32_t i = 0; i < num_options; ++i) request.Attribute(options[i]);
  ModelRun run(this);
  const Reply reply = [&](Question question, Reader* asked) {
    return run.Answer(question, asked, call);
  };
  return TakeModel(request, reply, out);
}

MXAccStatus Library::ImportModel(int32_t dev_id, const char* key, const MXAccPiece* pieces,
                                 int32_t num_pieces, const MXTensor* weights, int32_t num_weights,
                                 MXAccModel* out) {
  const Turn turn(this);
  Writer request(Request::kImportModel);
  request.Number(dev_id);
  request.Number(num_pieces + num_weights);
  request.Text(key);
  request.Number(num_pieces);
  for (int32_t i = 0; i < num_pieces; ++i) {
    if (MXAccStatus status = SendBytes(pieces[i].data, pieces[i].size)) return status;
    request.Text(pieces[i].key);
  }
  for (int32_t i = 0; i < num_pieces; ++i) request.Number<uint64_t>(pieces[i].size);
  if (MXAccStatus status = SendWeights(weights, num_weights)) return status;
  request.Tensors(weights, num_weights);
  return TakeModel(request, nullptr, out);
}

MXAccStatus Library::ListOptions(const MXAccOption** options, int32_t* count) {
  const Turn turn(this);
  if (told_options_ == nullptr) {
    auto told = std::make_unique<Reader>("");
    if (MXAccStatus status = Ask(Writer(Request::kListOptions), told.get())) return status;
    options_.resize(static_cast<size_t>(told->Number<int32_t>()));
    for (MXAccOption& option : options_) {
      option.struct_size = sizeof(option);
      option.value = told->Attribute();
      option.doc = told->OptionalText();
      option.choices = told->OptionalText();
    }
    told_options_ = std::move(told);
  }
  *options = options_.data();
  *count = static_cast<int32_t>(options_.size());
  return nullptr;
}

MXAccStatus Library::ModelKey(int32_t dev_id, char* key, size_t size) {
  const Turn turn(this);
  Writer request(Request::kModelKey);
  request.Number(dev_id);
  request.Number<uint64_t>(size);
  Reader answer("");
  if (MXAccStatus status = Ask(request, &answer)) return status;
  const std::string text = answer.Text();
  std::strncpy(key, text.c_str(), size - 1);
  return nullptr;
}

MXAccStatus Library::CheckModel(int32_t dev_id, const char* key, int32_t* verdict) {
  const Turn turn(this);
  Writer request(Request::kCheckModel);
  request.Number(dev_id);
  request.Text(key);
  Reader answer("");
  if (MXAccStatus status = Ask(request, &answer)) return status;
  *verdict = answer.Number<int32_t>();
  return nullptr;
}

MXAccStatus Library::Infer(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                           int32_t num_out, const MXTensor* workspace, MXAccStream, void* call) {
  const auto* model = static_cast<const Model*>(state);
  Library* library = model->library;
  const Turn turn(library);
  if (MXAccStatus status = model->Check()) return status;
  ModelRun run(library);
  Writer tensors;
  if (MXAccStatus status = run.Add(inputs, num_in, true, &tensors)) return status;
  if (MXAccStatus status = run.Add(outputs, num_out, false, &tensors)) return status;
  const int32_t num_workspaces = workspace == nullptr ? 0 : 1;
  if (MXAccStatus status = run.Add(workspace, num_workspaces, false, &tensors)) return status;
  run.Send();
  Writer request(Request::kInfer);
  request.Number(model->number);
  request.Number<uint64_t>(run.size());
  request.Append(tensors);
  Reader answer("");
  const Reply reply = [&](Question question, Reader* asked) {
    return run.Answer(question, asked, call);
  };
  if (MXAccStatus status = library->Ask(request, &answer, reply)) return status;
  run.TakeOutputs(outputs, &answer);
  return nullptr;
}

MXAccStatus Library::InferShapes(void* state, const MXTensor* inputs, int32_t num_in,
                                 MXTensor* outputs, int32_t num_out) {
  const auto* model = static_cast<const Model*>(state);
  Library* library = model->library;
  const Turn turn(library);
  if (MXAccStatus status = model->Check()) return status;
  ModelRun run(library);
  Writer tensors;
  if (MXAccStatus status = run.Add(inputs, num_in, true, &tensors)) return status;
  if (MXAccStatus status = run.Add(outputs, num_out, false, &tensors)) return status;
  run.Send();
  Writer request(Request::kInferShapes);
  request.Number(model->number);
  request.Number<uint64_t>(run.size());
  request.Append(tensors);
  Reader answer("");
  if (MXAccStatus status = library->Ask(request, &answer)) return status;
  for (int32_t i = 0; i < num_out; ++i) {
    MXAccDLTensor& tensor = outputs[i].tensor;
    tensor.ndim = answer.Number<int32_t>();
    const int32_t count = std::min(std::max(tensor.ndim, 0), MXACC_MAX_DIMS);
    for (int32_t axis = 0; axis < count; ++axis) tensor.shape[axis] = answer.Number<int64_t>();
  }
  return nullptr;
}

MXAccStatus Library::UpdateWeights(void* state, const MXTensor* weights, int32_t count) {
  const auto* model = static_cast<const Model*>(state);
  Library* library = model->library;
  const Turn turn(library);
  if (MXAccStatus status = model->Check()) return status;
  if (MXAccStatus status = library->SendWeights(weights, count)) return status;
  Writer request(Request::kUpdateWeights);
  request.Number(model->number);
  request.Number(count);
  request.Tensors(weights, count);
  return library->AskOnce(request);
}

MXAccStatus Library::ExportModel(void* state, int32_t weights, MXAccTakePiece take, void* context) {
  const auto* model = static_cast<const Model*>(state);
  Library* library = model->library;
  const Turn turn(library);
  if (MXAccStatus status = model->Check()) return status;
  Writer request(Request::kExportModel);
  request.Number(model->number);
  request.Number(weights);
  Reader answer("");
  const Reply reply = [&](Question question, Reader* asked) {
    if (question != Question::kTakePiece) MXNET_THROW("RuntimeError") << "an unknown question";
    MXAccPiece piece{};
    const bool is_there = asked->Number<bool>();
    if (is_there) {
      piece.key = asked->OptionalText();
      piece.size = static_cast<size_t>(asked->Number<uint64_t>());
      const bool has_data = asked->Number<bool>();
      piece.data = has_data ? library->process_->shared()->Reserve(piece.size) : nullptr;
    }
    return StatusOnly(take(context, is_there ? &piece : nullptr));
  };
  MXAccStatus status = library->Ask(request, &answer, reply);
  library->process_->shared()->Trim();
  return status;
}

MXAccStatus Library::Profile(int32_t dev_id, MXAccProfileSink sink, void* context) {
  const Turn turn(this);
  Writer request(Request::kProfile);
  request.Number(dev_id);
  request.Number(sink != nullptr);
  Reader answer("");
  if (MXAccStatus status = Ask(request, &answer)) return status;
  MXAccStatus status = ReadStatus(&answer);
  if (sink != nullptr) {
    sink_ = sink;
    sink_context_ = context;
    return status;
  }
  const auto count = answer.Number<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) {
    MXAccProfileRecord record{};
    record.struct_size = sizeof(record);
    record.name = answer.OptionalText();
    record.node = answer.Number<int64_t>();
    record.begin_ns = answer.Number<int64_t>();
    record.end_ns = answer.Number<int64_t>();
    if (sink_ != nullptr) sink_(sink_context_, &record);
  }
  sink_ = nullptr;
  return status;
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
