/*!
 * \file model_run.cc
 * \brief Tensors for a run of a model, and outputs that it asks for while it runs.
 */
#include "acc/partition/model_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "acc/device/arrays.h"
#include "acc/plugin/adapter.h"
#include "acc/plugin/guard.h"

namespace mxnet {
namespace acc {
namespace {

bool IsNegative(int64_t extent) { return extent < 0; }

}  // namespace

LoadedModel::Run::Run(LoadedModel* model, std::vector<NDArray> inputs,
                      const std::vector<ModelTensor>& outputs)
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

MXAccStatus LoadedModel::Run::Infer(const MXAccModel& model, MXAccStream stream) {
  const auto num_in = static_cast<int32_t>(inputs_.size());
  const auto num_out = static_cast<int32_t>(outputs_.size());
  const MXTensor* workspace = model_->workspace_ ? &workspace_ : nullptr;
  ModelCall* call = this;
  MXAccStatus status;
  try {
    status = model.infer(model.state, tensors_.data(), num_in, output_tensors(), num_out, workspace,
                         stream, call);
  } catch (...) {
    status = model_->StatusOfThrown();
  }
  if (interruption_) throw *interruption_;
  return status;
}

void LoadedModel::Run::ResetOutputs() {
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

MXAccStatus LoadedModel::Run::AllocOutput(int32_t index, MXAccDataType dtype, int32_t ndim,
                                          const int64_t* shape, MXTensor* out) {
  const auto at = static_cast<size_t>(index);
  if (index < 0 || at >= specs_.size()) {
    return Failure(kMXAccBadArgument, "alloc_output: there is no output " + std::to_string(index) +
                                          " of " + std::to_string(specs_.size()));
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
    // The library that is called between may say anything of it, or nothing; it may be Ctrl-C.
    if (error.kind() != "MemoryError") interruption_ = error;
    return Failure(error.kind() == "MemoryError" ? kMXAccOutOfMemory : kMXAccFailed,
                   error.message());
  }
  *out = TensorOf(outputs_[at]);
  out->name = specs_[at].name.c_str();
  out->role = kMXAccOutput;
  return nullptr;
}

NDArray LoadedModel::Run::NewOutput(const ModelTensor& spec, bool on_host) const {
  const ShapeView shape(spec.shape.data(), spec.shape.size());
  return NDArray::Empty(shape, spec.dtype, model_->ContextOf(on_host));
}

}  // namespace acc
}  // namespace mxnet
