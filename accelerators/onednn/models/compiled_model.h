/*!
 * \file compiled_model.h
 * \brief Models as the table has them: compiled for the threads that the device allows then.
 */
#ifndef ONEDNN_MODELS_COMPILED_MODEL_H_
#define ONEDNN_MODELS_COMPILED_MODEL_H_

#include "../../sdk/skeleton/models.h"
#include "../device.h"
#include "lowering.h"

namespace onednn {

/*! \brief What loadModel gives. Any thread may run it. */
class CompiledModel {
 public:
  /*! \brief threads is the text of how many its primitives may take. */
  CompiledModel(Device* device, const Graph& graph, const mxacc::ModelOptions& options,
                const std::string& threads);

  uint64_t workspace_bytes() const { return model_.workspace_bytes(); }
  uint64_t weight_bytes() const { return model_.weight_bytes(); }
  /*! \brief As Model::Update. */
  void Update(const std::vector<size_t>& numbers, const MXTensor* weights);
  void Run(const MXTensor* inputs, const MXTensor* outputs, const MXTensor* workspace) const;

 private:
  Device* device_;
  int threads_;
  Model model_;
};

/*! \brief What models may be compiled with. */
void ListModelOptions(const MXAccOption** options, int32_t* count);

/*! \brief Failure, kMXAccUnsupported, with the reason where a node alone cannot be executed. */
void AskNode(Device* device, const Graph& graph, const GraphNode& node);

}  // namespace onednn

#endif  // ONEDNN_MODELS_COMPILED_MODEL_H_
