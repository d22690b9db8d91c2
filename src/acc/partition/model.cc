/*!
 * \file model.cc
 * \brief Running models, and unloading them in time.
 */
#include "acc/partition/model.h"

#include <algorithm>

#include "acc/device/accelerator.h"
#include "acc/device/arrays.h"
#include "acc/device/transfers.h"
#include "acc/plugin/adapter.h"
#include "acc/plugin/guard.h"
#include "acc/plugin/model_call.h"

namespace mxnet {
namespace acc {
namespace {

std::string SpecText(DLDataType dtype, const std::vector<int64_t>& shape) {
  std::string text = DataTypeName(dtype) + "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + (shape[i] < 0 ? "?" : std::to_string(shape[i]));
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string SpecText(const ModelTensor& tensor) {
  return tensor.has_rank ? SpecText(tensor.dtype, tensor.shape) : DataTypeName(tensor.dtype);
}

std::vector<int64_t> ShapeOf(const NDArray& array) {
  return {array.shape().begin(), array.shape().end()};
}

/*! \brief Whether a shape, a vector or an array's own, is one of those of a tensor. */
template <typename Shape>
bool Fits(const Shape& shape, const ModelTensor& tensor) {
  if (!tensor.has_rank) return true;
  if (shape.size() != tensor.shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (tensor.shape[i] >= 0 && tensor.shape[i] != shape.begin()[i]) return false;
  }
  return true;
}

/*! \brief What a library says of an input or output, where that goes with what the graph has. */
ModelTensor ReadTensor(const MXTensor& told, const ModelTensor* graphs, const std::string& what) {
  const MXAccDLTensor& tensor = told.tensor;
  ModelTensor read;
  if (graphs != nullptr) read.name = graphs->name;
  read.dtype = DLDataType{tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes};
  read.has_rank = tensor.ndim >= 0;
  if (tensor.ndim > MXACC_MAX_DIMS || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    MXNET_THROW("RuntimeError") << what << " has no shape, or more than " << MXACC_MAX_DIMS
                                << " dimensions";
  }
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    read.shape.push_back(std::max<int64_t>(tensor.shape[i], -1));
  }
  read.on_host = told.info != nullptr && told.info->memory == kMXAccHostMemory;
  if (graphs == nullptr) return read;
  bool fits = read.dtype == graphs->dtype;
  if (read.has_rank) {
    fits = fits && read.shape.size() == graphs->shape.size();
    for (size_t i = 0; fits && i < read.shape.size(); ++i) {
      const int64_t extent = graphs->shape[i];
      fits = extent < 0 || read.shape[i] < 0 || extent == read.shape[i];
    }
  }
  if (!fits) {
    MXNET_THROW("RuntimeError") << what << " is " << SpecText(read) << ", and " << SpecText(*graphs)
                                << " in the graph";
  }
  return read;
}

/*! \brief A tensor without elements, over a shape that outlives it. */
MXTensor WithoutMemory(const ModelTensor& spec, const int64_t* strides) {
  MXTensor tensor{};
  tensor.struct_size = sizeof(tensor);
  tensor.tensor.device = MXAccDevice{kMXAccHost, 0};
  tensor.tensor.ndim = spec.has_rank ? static_cast<int32_t>(spec.shape.size()) : -1;
  tensor.tensor.dtype = MXAccDataType{spec.dtype.code, spec.dtype.bits, spec.dtype.lanes};
  tensor.tensor.shape = const_cast<int64_t*>(spec.shape.data());
  tensor.tensor.strides = const_cast<int64_t*>(strides);
  tensor.name = spec.name.c_str();
  return tensor;
}

/*! \brief Memory of a device while it lasts. */
class Memory {
 public:
  Memory(Device* device, uint64_t bytes)
      : device_(device), memory_(bytes == 0 ? nullptr : device->Alloc(bytes, false)) {}
  ~Memory() {
    if (memory_ != nullptr) device_->Free(memory_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data() const { return memory_ == nullptr ? nullptr : memory_->data; }

 private:
  Device* device_;
  DeviceMemory* memory_;
};

}  // namespace

/*! \brief The tensors of one call of infer. */
class LoadedModel::Run : public ModelCall {
 public:
  /*! \brief `outputs` outlives the call. */
  Run(LoadedModel* model, std::vector<NDArray> inputs, const std::vector<ModelTensor>& outputs)
      : model_(model),
        inputs_(std::move(inputs)),
        specs_(outputs),
        memory_(model->device_, model->model_.workspace_bytes) {
    tensors_.reserve(inputs_.size() + specs_.size());
    outputs_.reserve(specs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      tensors_.push_back(TensorOf(inputs_[i]));
      tensors_.back().name = model_->inputs_[i].name.c_str();
    }
    for (const ModelTensor& spec : specs_) {
      outputs_.push_back(spec.is_static() ? NewOutput(spec) : NDArray());
      is_dynamic_ = is_dynamic_ || !spec.is_static();
    }
    if (model_->workspace_) {
      workspace_ = model_->workspace_->tensor;
      workspace_.tensor.data = memory_.data();
    }
    ResetOutputs();
  }

  /*! \brief Whether the library makes outputs, which it can only do outside of a stream. */
  bool is_dynamic() const { return is_dynamic_; }
  const std::vector<NDArray>& inputs() const { return inputs_; }
  const std::vector<NDArray>& outputs() const { return outputs_; }
  MXTensor* output_tensors() { return tensors_.data() + inputs_.size(); }

  MXAccStatus Infer(const MXAccModel& model, MXAccStream stream) {
    const auto num_in = static_cast<int32_t>(inputs_.size());
    const auto num_out = static_cast<int32_t>(outputs_.size());
    const MXTensor* workspace = model_->workspace_ ? &workspace_ : nullptr;
    ModelCall* call = this;
    try {
      return model.infer(model.state, tensors_.data(), num_in, output_tensors(), num_out, workspace,
                         stream, call);
    } catch (...) {
      return StatusOfException();
    }
  }

  /*! \brief Drops what a call that failed has made. */
  void ResetOutputs() {
    tensors_.resize(inputs_.size());
    for (size_t i = 0; i < specs_.size(); ++i) {
      if (!specs_[i].is_static()) outputs_[i] = NDArray();
      tensors_.push_back(outputs_[i].get() != nullptr
                             ? TensorOf(outputs_[i])
                             : WithoutMemory(specs_[i], specs_[i].shape.data()));
      tensors_.back().name = specs_[i].name.c_str();
      tensors_.back().role = kMXAccOutput;
    }
  }

  MXAccStatus AllocOutput(int32_t index, MXAccDataType dtype, int32_t ndim, const int64_t* shape,
                          MXTensor* out) override {
    const auto at = static_cast<size_t>(index);
    if (index < 0 || at >= specs_.size()) {
      return Failure(kMXAccBadArgument, "alloc_output: there is no output " +
                                            std::to_string(index) + " of " +
                                            std::to_string(specs_.size()));
    }
    if (ndim < 0 || ndim > MXACC_MAX_DIMS || std::any_of(shape, shape + ndim, IsNegative)) {
      return Failure(kMXAccBadArgument, "alloc_output: this is no shape");
    }
    const ModelTensor wanted{specs_[at].name, DLDataType{dtype.code, dtype.bits, dtype.lanes},
                             std::vector<int64_t>(shape, shape + ndim)};
    if (specs_[at].is_static() || outputs_[at].get() != nullptr) {
      return Failure(kMXAccBadArgument,
                     "alloc_output: output " + std::to_string(index) + " is there already");
    }
    if (wanted.dtype != specs_[at].dtype || !Fits(wanted.shape, specs_[at])) {
      return Failure(kMXAccBadArgument, "alloc_output: output " + std::to_string(index) + " is " +
                                            SpecText(specs_[at]) + ", not " + SpecText(wanted));
    }
    try {
      outputs_[at] = NewOutput(wanted, specs_[at].on_host);
      // Memory of arrays that are gone may still be written to by work in the stream.
      model_->device_->Settle();
    } catch (const Error& error) {
      return Failure(error.kind() == "MemoryError" ? kMXAccOutOfMemory : kMXAccFailed,
                     error.message());
    }
    *out = TensorOf(outputs_[at]);
    out->name = specs_[at].name.c_str();
    out->role = kMXAccOutput;
    return nullptr;
  }

 private:
  static bool IsNegative(int64_t extent) { return extent < 0; }

  NDArray NewOutput(const ModelTensor& spec) const { return NewOutput(spec, spec.on_host); }
  NDArray NewOutput(const ModelTensor& spec, bool on_host) const {
    const ShapeView shape(spec.shape.data(), spec.shape.size());
    const ModelTensor like{"", spec.dtype, {}, true, on_host};
    return NDArray::Empty(shape, spec.dtype, model_->ContextOf(like));
  }

  LoadedModel* model_;
  std::vector<NDArray> inputs_;
  const std::vector<ModelTensor>& specs_; /*!< of the outputs */
  std::vector<NDArray> outputs_;
  Memory memory_;
  MXTensor workspace_{};
  std::vector<MXTensor> tensors_; /*!< the inputs, then the outputs */
  bool is_dynamic_{false};
};

LoadedModel::LoadedModel(Device* device, const MXAccModel& model, const ModelGraph& graph,
                         const char* function, std::shared_ptr<const MappedPieces> pieces)
    : device_(device),
      model_(model),
      num_results_(graph.outputs().size()),
      pieces_(std::move(pieces)) {
  try {
    ReadTensors(graph, function);
  } catch (...) {
    Free();
    throw;
  }
  if ((model_.flags & kMXAccModelKeepsWeights) == 0) weights_ = graph.weights();
  if (model_.workspace_bytes != 0) {
    workspace_.emplace(nullptr, MXAccDevice{device->type(), device->id()}, 0,
                       model_.workspace_bytes);
  }
}

LoadedModel::~LoadedModel() = default;

void LoadedModel::ReadTensors(const ModelGraph& graph, const char* function) {
  const std::string what = device_->name() + ": " + function + " gave ";
  if (model_.infer == nullptr) MXNET_THROW("RuntimeError") << what << "no infer";
  const auto num_in = static_cast<int32_t>(graph.inputs().size());
  const auto num_out = static_cast<int32_t>(graph.outputs().size());
  if (model_.num_in != num_in || model_.num_out < num_out) {
    MXNET_THROW("RuntimeError") << what << model_.num_in << " inputs and " << model_.num_out
                                << " outputs, the graph has " << num_in << " and " << num_out;
  }
  if ((num_in != 0 && model_.inputs == nullptr) ||
      (model_.num_out != 0 && model_.outputs == nullptr)) {
    MXNET_THROW("RuntimeError") << what << "no inputs or outputs";
  }
  if (model_.workspace_bytes != 0 && device_->api().mx_alloc == nullptr) {
    MXNET_THROW("RuntimeError") << what << "a workspace, but it has no mx_alloc";
  }
  for (int32_t i = 0; i < num_in; ++i) {
    inputs_.push_back(ReadTensor(model_.inputs[i], &graph.inputs()[static_cast<size_t>(i)],
                                 what + "input " + std::to_string(i) + " that"));
  }
  for (int32_t i = 0; i < model_.num_out; ++i) {
    const ModelTensor* graphs = i < num_out ? &graph.outputs()[static_cast<size_t>(i)] : nullptr;
    outputs_.push_back(
        ReadTensor(model_.outputs[i], graphs, what + "output " + std::to_string(i) + " that"));
  }
}

void LoadedModel::Free() {
  if (model_.unloadModel == nullptr) return;
  DeviceCall lock(device_);
  try {
    model_.unloadModel(model_.state);
  } catch (...) {
    WarnOfException("unloadModel");
  }
}

void LoadedModel::Release() {
  is_released_.store(true, std::memory_order_release);
  device_->Settle();
  Free();
  weights_.clear();
  pieces_.reset();
}

Context LoadedModel::ContextOf(const ModelTensor& tensor) const {
  // A library without memory of its own computes in that of the host.
  const bool on_host = tensor.on_host || device_->api().mx_alloc == nullptr;
  return on_host ? kHost : device_->context();
}

NDArray LoadedModel::Prepared(const NDArray& given, size_t index) const {
  const ModelTensor& spec = inputs_[index];
  if (given.dtype() != spec.dtype) {
    MXNET_THROW("TypeError") << "infer: input " << index << " ('" << spec.name << "'): expected "
                             << DataTypeName(spec.dtype) << ", got " << DataTypeName(given.dtype());
  }
  if (!Fits(given.shape(), spec)) {
    MXNET_THROW("ValueError") << "infer: input " << index << " ('" << spec.name << "'): expected "
                              << SpecText(spec) << ", got "
                              << SpecText(given.dtype(), ShapeOf(given));
  }
  const Context ctx = ContextOf(spec);
  const bool is_ready =
      given.ctx() == ctx && IsContiguous(given.tensor()) &&
      (ctx == kHost || DeviceOf(reinterpret_cast<const ArrayObject*>(given.get())) == device_);
  if (is_ready) return given;
  NDArray copy = NDArray::Empty(given.shape(), given.dtype(), ctx);
  CopyArray(copy, given);
  return copy;
}

std::vector<ModelTensor> LoadedModel::AskedOutputs(const MXTensor* inputs) {
  std::vector<ModelTensor> asked = outputs_;
  std::vector<MXTensor> tensors;
  for (ModelTensor& output : asked) {
    output.shape.resize(MXACC_MAX_DIMS, -1);
    tensors.push_back(WithoutMemory(output, output.shape.data()));
  }
  std::unique_lock<std::mutex> one_call(serial_, std::defer_lock);
  if ((model_.flags & kMXAccModelConcurrent) == 0) one_call.lock();
  MXAccStatus status;
  {
    DeviceCall lock(device_);
    try {
      status = model_.inferShapes(model_.state, inputs, static_cast<int32_t>(inputs_.size()),
                                  tensors.data(), static_cast<int32_t>(tensors.size()));
    } catch (...) {
      status = StatusOfException();
    }
    Check(status, device_->name(), "inferShapes");
  }
  for (size_t i = 0; i < asked.size(); ++i) {
    asked[i] = ReadTensor(tensors[i], &outputs_[i],
                          device_->name() + ": by inferShapes output " + std::to_string(i));
    asked[i].on_host = outputs_[i].on_host;
  }
  return asked;
}

const std::vector<ModelTensor>& LoadedModel::OutputsFor(const std::vector<NDArray>& inputs,
                                                        std::vector<ModelTensor>* asked) {
  const auto is_static = [](const ModelTensor& output) { return output.is_static(); };
  const bool all = std::all_of(outputs_.begin(), outputs_.end(), is_static);
  if (all || model_.inferShapes == nullptr) return outputs_;
  std::vector<MXTensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const MXTensor& told = model_.inputs[i];
    const bool is_read = told.info != nullptr && (told.info->flags & kMXAccShapeInput) != 0;
    // Elements on the device are of no use to who computes a shape.
    const bool has_elements = is_read && inputs[i].ctx() == kHost;
    tensors.push_back(has_elements ? TensorOf(inputs[i]) : WithoutElements(inputs[i].tensor()));
    tensors.back().name = inputs_[i].name.c_str();
  }
  *asked = AskedOutputs(tensors.data());
  return *asked;
}

std::vector<std::vector<int64_t>> LoadedModel::InferShapes(
    const std::vector<std::vector<int64_t>>& inputs) {
  if (inputs.size() != inputs_.size()) {
    MXNET_THROW("TypeError") << "infer_shapes: expected " << inputs_.size() << " inputs, got "
                             << inputs.size();
  }
  std::vector<ModelTensor> specs = inputs_;
  std::vector<MXTensor> tensors;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!Fits(inputs[i], specs[i])) {
      MXNET_THROW("ValueError") << "infer_shapes: input " << i << " ('" << specs[i].name
                                << "'): expected " << SpecText(specs[i]) << ", got "
                                << SpecText(specs[i].dtype, inputs[i]);
    }
    specs[i].shape = inputs[i];
    specs[i].has_rank = true;
    tensors.push_back(WithoutMemory(specs[i], specs[i].shape.data()));
  }
  std::vector<std::vector<int64_t>> shapes;
  const std::vector<ModelTensor> found =
      model_.inferShapes == nullptr ? outputs_ : AskedOutputs(tensors.data());
  for (size_t i = 0; i < num_results_; ++i) shapes.push_back(found[i].shape);
  return shapes;
}

MXAccStatus LoadedModel::Call(Run* run, MXAccStream stream) {
  std::unique_lock<std::mutex> one_call(serial_, std::defer_lock);
  if ((model_.flags & kMXAccModelConcurrent) == 0) one_call.lock();
  DeviceCall lock(device_);
  return run->Infer(model_, stream);
}

MXAccStatus LoadedModel::GiveOrCall(Run* run) {
  std::vector<Content*> sources;
  std::vector<Content*> targets;
  bool all_there = !run->is_dynamic();
  for (const NDArray& input : run->inputs()) {
    if (input.ctx() != kHost) sources.push_back(&MemoryOf(input)->content);
  }
  for (const NDArray& output : run->outputs()) {
    all_there = all_there && output.get() != nullptr && output.ctx() != kHost;
    if (all_there) targets.push_back(&MemoryOf(output)->content);
  }
  if (device_->stream() == nullptr) return Call(run, nullptr);
  if (targets.empty() || !all_there) {
    // Who has to know how large an output is, or reads it at once, waits for all in any case.
    device_->Settle();
    for (const NDArray& input : run->inputs()) {
      if (input.ctx() != kHost) device_->CheckContent(*MemoryOf(input));
    }
    return Call(run, nullptr);
  }
  const Access access{"infer",           targets[0],     false,
                      sources.data(),    sources.size(), targets.data() + 1,
                      targets.size() - 1};
  return device_->Give(access, [&](uint64_t work) {
    for (size_t i = 0; i < run->outputs().size(); ++i) run->output_tensors()[i].work = work;
    return Call(run, device_->stream());
  });
}

std::vector<NDArray> LoadedModel::Infer(const std::vector<NDArray>& given) {
  if (given.size() != inputs_.size()) {
    MXNET_THROW("TypeError") << "infer: expected " << inputs_.size() << " inputs, got "
                             << given.size();
  }
  std::vector<NDArray> inputs;
  inputs.reserve(given.size());
  for (size_t i = 0; i < given.size(); ++i) inputs.push_back(Prepared(given[i], i));
  std::vector<ModelTensor> asked;
  const std::vector<ModelTensor>& specs = OutputsFor(inputs, &asked);
  Run run(this, std::move(inputs), specs);
  MXAccStatus status = GiveOrCall(&run);
  if (status != nullptr) {
    const Error error = ErrorOf(status, device_->name(), "infer");
    if (error.kind() != "MemoryError") throw error;
    run.ResetOutputs();
    device_->TrimPool();
    Check(GiveOrCall(&run), device_->name(), "infer");
  }
  std::vector<NDArray> results = run.outputs();
  results.resize(num_results_);
  for (size_t i = 0; i < num_results_; ++i) {
    if (results[i].get() != nullptr) continue;
    MXNET_THROW("RuntimeError") << device_->name() << ": infer succeeded and did not make output "
                                << i << " ('" << outputs_[i].name << "') by alloc_output";
  }
  return results;
}

void LoadedModel::Export(bool weights, PieceSink* sink) {
  if (model_.exportModel == nullptr) {
    MXNET_THROW("NotImplementedError") << device_->name() << " does not export this model";
  }
  std::unique_lock<std::mutex> one_call(serial_, std::defer_lock);
  if ((model_.flags & kMXAccModelConcurrent) == 0) one_call.lock();
  device_->Settle();
  MXAccStatus status;
  DeviceCall lock(device_);
  try {
    status = model_.exportModel(model_.state, weights ? 1 : 0, &PieceSink::Take, sink);
  } catch (...) {
    status = StatusOfException();
  }
  sink->Check();
  Check(status, device_->name(), "exportModel");
}

Model::~Model() {
  try {
    const InUse used(slot_);
    if (!loaded_->is_released()) used->attachments().Remove(loaded_.get());
  } catch (const Error&) {
    // The library is gone, or is on its way: then it unloads all that is left.
  }
}

namespace {

void CheckLoaded(const LoadedModel& loaded, const Slot& slot) {
  if (!loaded.is_released()) return;
  MXNET_THROW("RuntimeError") << "the model was unloaded with the accelerator " << slot.name;
}

}  // namespace

std::vector<NDArray> Model::Infer(const std::vector<NDArray>& inputs) const {
  const InUse used(slot_);
  CheckLoaded(*loaded_, *slot_);
  return loaded_->Infer(inputs);
}

std::vector<PieceRow> Model::Export(int64_t file, int64_t offset, bool weights) const {
  const InUse used(slot_);
  CheckLoaded(*loaded_, *slot_);
  PieceSink sink(static_cast<int>(file), offset);
  loaded_->Export(weights, &sink);
  return sink.rows();
}

std::vector<std::vector<int64_t>> Model::InferShapes(
    const std::vector<std::vector<int64_t>>& inputs) const {
  const InUse used(slot_);
  CheckLoaded(*loaded_, *slot_);
  return loaded_->InferShapes(inputs);
}

}  // namespace acc
}  // namespace mxnet
