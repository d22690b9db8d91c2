/*!
 * \file model_run.h
 * \brief One call of a model's infer.
 */
#ifndef MXNET_SRC_ACC_PARTITION_MODEL_RUN_H_
#define MXNET_SRC_ACC_PARTITION_MODEL_RUN_H_

#include <optional>
#include <utility>
#include <vector>

#include "acc/device/device.h"
#include "acc/partition/model.h"
#include "acc/plugin/model_call.h"

namespace mxnet {
namespace acc {

/*! \brief Memory of a device that a run works in, while it lasts. */
class RunMemory {
 public:
  RunMemory(Device* device, uint64_t bytes)
      : device_(device), memory_(bytes == 0 ? nullptr : device->Alloc(bytes, false)) {}
  ~RunMemory() {
    if (memory_ != nullptr) device_->Free(memory_);
  }
  RunMemory(const RunMemory&) = delete;
  RunMemory& operator=(const RunMemory&) = delete;
  void* data() const { return memory_ == nullptr ? nullptr : memory_->data; }

 private:
  Device* device_;
  DeviceMemory* memory_;
};

/*! \brief The tensors of one call of infer. */
class LoadedModel::Run : public ModelCall {
 public:
  /*! \brief `outputs` outlives the call. */
  Run(LoadedModel* model, std::vector<NDArray> inputs, const std::vector<ModelTensor>& outputs);

  /*! \brief Whether the library makes outputs, which it can only do outside of a stream. */
  bool is_dynamic() const { return is_dynamic_; }
  const std::vector<NDArray>& inputs() const { return inputs_; }
  const std::vector<NDArray>& outputs() const { return outputs_; }
  /*! \brief The outputs, when the run is over. */
  std::vector<NDArray> TakeOutputs() { return std::move(outputs_); }
  /*! \brief The number that the run has in the stream; 0 where it is in none. */
  uint64_t work() const { return work_; }
  void set_work(uint64_t work) {
    work_ = work;
    for (size_t i = 0; i < outputs_.size(); ++i) output_tensors()[i].work = work;
  }
  MXTensor* output_tensors() { return tensors_.data() + inputs_.size(); }

  MXAccStatus Infer(const MXAccModel& model, MXAccStream stream);
  /*! \brief Drops what a call that failed has made. */
  void ResetOutputs();
  MXAccStatus AllocOutput(int32_t index, MXAccDataType dtype, int32_t ndim, const int64_t* shape,
                          MXTensor* out) override;

 private:
  NDArray NewOutput(const ModelTensor& spec) const { return NewOutput(spec, spec.on_host); }
  NDArray NewOutput(const ModelTensor& spec, bool on_host) const;

  LoadedModel* model_;
  std::vector<NDArray> inputs_;
  const std::vector<ModelTensor>& specs_; /*!< of the outputs */
  std::vector<NDArray> outputs_;
  RunMemory memory_;
  MXTensor workspace_{};
  std::vector<MXTensor> tensors_; /*!< the inputs, then the outputs */
  bool is_dynamic_{false};
  /*! \brief What the allocation of an output was ended by. */
  std::optional<Error> interruption_;
  uint64_t work_{0};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PARTITION_MODEL_RUN_H_
