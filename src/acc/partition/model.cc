/*!
 * \file model.cc
 * \brief Running models, and unloading them in time.
 */
#include "acc/partition/model.h"

#include <algorithm>

#include "acc/device/accelerator.h"
#include "acc/device/arrays.h"
#include "acc/device/transfers.h"
#include "acc/partition/model_run.h"
#include "acc/plugin/guard.h"
#include "acc/plugin/model_call.h"

namespace mxnet {
namespace acc {
namespace {

std::vector<int64_t> ShapeOf(const NDArray& array) {
  return {array.shape().begin(), array.shape().end()};
}

}  // namespace

LoadedModel::LoadedModel(Device* device, const MXAccModel& model, const ModelGraph& graph,
                         const char* function, std::shared_ptr<const MappedPieces> pieces)
    : device_(device),
      model_(model),
      graph_inputs_(graph.inputs()),
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

Context LoadedModel::ContextOf(bool on_host) const {
  // A library without memory of its own computes in that of the host.
  return on_host || device_->api().mx_alloc == nullptr ? kHost : device_->context();
}

void LoadedModel::Prepare(NDArray* input, size_t index) const {
  const NDArray& given = *input;
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
  const Context ctx = ContextOf(spec.on_host);
  const bool is_ready =
      given.ctx() == ctx && IsContiguous(given.tensor()) &&
      (ctx == kHost || DeviceOf(reinterpret_cast<const ArrayObject*>(given.get())) == device_);
  if (is_ready) return;
  NDArray copy = NDArray::Empty(given.shape(), given.dtype(), ctx);
  CopyArray(copy, given);
  *input = std::move(copy);
}

MXAccStatus LoadedModel::StatusOfThrown() const {
  if (device_->accelerator()->plugin().isolated()) throw;
  return StatusOfException();
}

MXAccStatus LoadedModel::Call(Run* run, MXAccStream stream) {
  std::unique_lock<std::mutex> one_call(serial_, std::defer_lock);
  if ((model_.flags & kMXAccModelConcurrent) == 0) one_call.lock();
  DeviceCall lock(device_);
  return run->Infer(model_, stream);
}

MXAccStatus LoadedModel::GiveOrCall(Run* run) {
  if (device_->stream() == nullptr) return Call(run, nullptr);
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
    run->set_work(work);
    return Call(run, device_->stream());
  });
}

std::vector<NDArray> LoadedModel::Infer(std::vector<NDArray> inputs) {
  uint64_t work = 0;
  return Infer(std::move(inputs), &work);
}

bool LoadedModel::Takes(const std::vector<NDArray>& inputs) const {
  const auto fits = [](const NDArray& given, const ModelTensor& spec) {
    return given.dtype() == spec.dtype && Fits(given.shape(), spec);
  };
  return std::equal(inputs.begin(), inputs.end(), graph_inputs_.begin(), graph_inputs_.end(), fits);
}

ProfiledRun LoadedModel::InferProfiled(std::vector<NDArray> inputs) {
  Profiling profiling(device_);
  ProfiledRun run;
  uint64_t work = 0;
  run.outputs = Infer(std::move(inputs), &work);
  device_->Settle();
  run.records = profiling.End(work);
  run.problem = profiling.problem();
  return run;
}

std::vector<NDArray> LoadedModel::Infer(std::vector<NDArray> inputs, uint64_t* work) {
  if (inputs.size() != inputs_.size()) {
    MXNET_THROW("TypeError") << "infer: expected " << inputs_.size() << " inputs, got "
                             << inputs.size();
  }
  const UpdateGate::Shared inside(&gate_);
  CheckWeights();
  for (size_t i = 0; i < inputs.size(); ++i) Prepare(&inputs[i], i);
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
  *work = run.work();
  std::vector<NDArray> results = run.TakeOutputs();
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
  const UpdateGate::Shared inside(&gate_);
  CheckWeights();
  std::unique_lock<std::mutex> one_call(serial_, std::defer_lock);
  if ((model_.flags & kMXAccModelConcurrent) == 0) one_call.lock();
  device_->Settle();
  MXAccStatus status;
  DeviceCall lock(device_);
  try {
    status = model_.exportModel(model_.state, weights ? 1 : 0, &PieceSink::Take, sink);
  } catch (...) {
    status = StatusOfThrown();
  }
  sink->Check();
  Check(status, device_->name(), "exportModel");
}

void LoadedModel::CheckWeights() const {
  if (!is_spoiled_) return;
  MXNET_THROW("RuntimeError") << device_->name()
                              << ": updateWeights of the model has failed; it has to be loaded "
                                 "again";
}

void LoadedModel::UpdateWeights(const ModelGraph& graph, const std::vector<int64_t>& which) {
  if (!updates()) {
    MXNET_THROW("NotImplementedError")
        << device_->name() << " does not update the weights of this model";
  }
  const ModelGraph::View view(graph);
  std::vector<MXTensor> weights;
  std::vector<std::shared_ptr<const void>> owners;
  for (const int64_t number : which) {
    if (number < 0 || number >= static_cast<int64_t>(graph.weights().size())) {
      MXNET_THROW("IndexError") << "update_weights: there is no weight " << number << " of "
                                << graph.weights().size();
    }
    weights.push_back(view.weights()[number]);
    owners.push_back(std::make_shared<NDArray>(graph.weights()[static_cast<size_t>(number)]));
  }
  if (weights.empty()) return;
  const UpdateGate::Alone inside(&gate_);
  CheckWeights();
  device_->Settle();
  is_spoiled_ = true;
  {
    const OfferedWeights offered(weights.data(), std::move(owners));
    MXAccStatus status;
    DeviceCall lock(device_);
    try {
      status =
          model_.updateWeights(model_.state, weights.data(), static_cast<int32_t>(weights.size()));
    } catch (...) {
      status = StatusOfThrown();
    }
    Check(status, device_->name(), "updateWeights");
  }
  is_spoiled_ = false;
  // What the library goes on reading. Others of the graph are not what it was given.
  if ((model_.flags & kMXAccModelKeepsWeights) != 0) return;
  for (const int64_t number : which) {
    const auto at = static_cast<size_t>(number);
    if (weights_.size() <= at) weights_.resize(at + 1);
    weights_[at] = graph.weights()[at];
  }
}

bool LoadedModel::is_lost() const { return !device_->HasModel(model_.state); }

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

bool Model::is_lost() const {
  const InUse used(slot_);
  CheckLoaded(*loaded_, *slot_);
  return loaded_->is_lost();
}

void Model::UpdateWeights(const ModelGraph& graph, const std::vector<int64_t>& which) const {
  const InUse used(slot_);
  CheckLoaded(*loaded_, *slot_);
  loaded_->UpdateWeights(graph, which);
}

std::vector<NDArray> Model::Infer(std::vector<NDArray> inputs) const {
  const InUse used(slot_);
  CheckLoaded(*loaded_, *slot_);
  return loaded_->Infer(std::move(inputs));
}

std::optional<std::vector<NDArray>> Model::TryInfer(std::vector<NDArray> inputs) const {
  const InUse used(slot_);
  CheckLoaded(*loaded_, *slot_);
  if (!loaded_->Takes(inputs)) return std::nullopt;
  return loaded_->Infer(std::move(inputs));
}

ProfiledRun Model::InferProfiled(std::vector<NDArray> inputs) const {
  const InUse used(slot_);
  CheckLoaded(*loaded_, *slot_);
  return loaded_->InferProfiled(std::move(inputs));
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
