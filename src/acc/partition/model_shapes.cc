/*!
 * \file model_shapes.cc
 * \brief Which shapes the outputs of a model have, as the library tells before a run.
 */
#include <algorithm>

#include "acc/device/arrays.h"
#include "acc/device/device.h"
#include "acc/partition/model.h"
#include "acc/plugin/guard.h"

namespace mxnet {
namespace acc {

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
      status = StatusOfThrown();
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
  const UpdateGate::Shared inside(&gate_);
  CheckWeights();
  const std::vector<ModelTensor> found =
      model_.inferShapes == nullptr ? outputs_ : AskedOutputs(tensors.data());
  for (size_t i = 0; i < num_results_; ++i) shapes.push_back(found[i].shape);
  return shapes;
}

}  // namespace acc
}  // namespace mxnet
