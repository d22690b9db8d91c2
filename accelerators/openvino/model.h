/*!
 * \file model.h
 * \brief A model that OpenVINO has compiled.
 */
#ifndef OVACC_MODEL_H_
#define OVACC_MODEL_H_

#include <mxnet_acc.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device.h"
#include "element.h"

namespace ovacc {

/*! \brief An input or output. */
struct Port {
  const Element* element;
  std::vector<int64_t> shape; /*!< -1 for an extent that only a run tells */
  bool has_rank = true;
  bool is_shared = false;

  bool is_static() const;
};

/*! \brief What a model was compiled of, besides the graph. */
struct Origin {
  std::string key; /*!< of the device, then */
  Options options;
  /*! \brief OnnxGraph::SharedOutputs: OpenVINO does not write those to memory that it is given, and
   * so they are copied from its own. */
  std::vector<uint8_t> shared;
  std::string weights; /*!< what they are, as WeightsText says */
};

/*! \brief Types, shapes and hashes of weights. */
std::string WeightsText(const MXTensor* weights, int32_t count);

/*! \brief Any number of threads may run it at once: each run has an infer request of its own. */
class Model {
 public:
  Model(const MXAccRuntime* runtime, std::shared_ptr<const Core> core, Origin origin,
        Handle<ov_compiled_model_t> compiled);

  /*! \brief Fills in what MXAccModel says of inputs and outputs. */
  void Tell(MXAccModel* out) const;
  void Infer(const MXTensor* inputs, int32_t num_in, MXTensor* outputs, int32_t num_out,
             void* call);
  /*! \brief Gives out what Import makes a model of. */
  void Export(MXAccTakePiece take, void* context) const;
  static std::unique_ptr<Model> Import(const MXAccRuntime* runtime, const Device* device,
                                       const char* key, const MXAccPiece* pieces, int32_t count,
                                       const MXTensor* weights, int32_t num_weights);

 private:
  using Request = Handle<ov_infer_request_t>;
  using GetPort = decltype(Api::ov_compiled_model_input_by_index);
  using GetCount = decltype(Api::ov_compiled_model_inputs_size);

  std::vector<Port> Ports(GetCount get_count, GetPort get_port) const;
  Port ReadPort(const ov_output_const_port_t* told) const;
  Request TakeRequest();
  Handle<ov_tensor_t> Wrapped(const Port& port, const MXAccDLTensor& tensor) const;
  void CopyOutput(ov_infer_request_t* request, size_t index, MXTensor* output, void* call) const;

  const MXAccRuntime* runtime_;
  std::shared_ptr<const Core> core_;
  const Api& api_;
  Origin origin_;
  Handle<ov_compiled_model_t> compiled_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::vector<MXTensor> told_; /*!< the same for MXNet: the inputs, then the outputs */
  std::mutex mutex_;           /*!< of what follows */
  std::vector<Request> unused_;
};

}  // namespace ovacc

#endif  // OVACC_MODEL_H_
