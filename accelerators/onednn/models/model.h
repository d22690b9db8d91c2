/*!
 * \file model.h
 * \brief A compiled model: primitives in order, and where in memory each reads and writes.
 */
#ifndef ONEDNN_MODELS_MODEL_H_
#define ONEDNN_MODELS_MODEL_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../sdk/profiler.h"
#include "onednn/makers.h"

namespace onednn {

/*! \brief Memory that values of a model lie in. */
struct ModelMemory {
  enum class Where { kInput, kOutput, kWorkspace, kConstant };

  Where where;
  size_t index; /*!< of the input, output or constant; bytes into the workspace */
  size_t bytes;
  int first{0}; /*!< the step that writes it */
  int last{0};  /*!< the last one that reads it */
};

/*! \brief A weight of the graph, of which the model has copies. */
struct ModelWeight {
  const void* address; /*!< where its elements were when the model was made; they may be gone */
  size_t bytes;
  bool is_deciding; /*!< whether the model would be another one with other elements */
};

/*! \brief Memory that a model has of a weight as it is. */
struct ModelConstant {
  mxnet::onednn::Buffer buffer;
  const void* address; /*!< of the weight */
};

/*! \brief A primitive, and the memories of what it reads and writes. */
struct ModelStep {
  mxnet::onednn::Primitive primitive;
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
  int64_t node;        /*!< of the graph; 0 for none */
  size_t workspace{0}; /*!< of its own: bytes into that of the model */
};

/*! \brief Made by one thread; then any threads run it, several at once. */
class Model {
 public:
  Model(std::vector<ModelMemory> memories, std::vector<ModelStep> steps,
        std::vector<ModelConstant> constants, std::vector<ModelWeight> weights);

  uint64_t workspace_bytes() const { return workspace_bytes_; }
  uint64_t weight_bytes() const;
  /*! \brief Takes other elements for the weights of these numbers, which are as large as before; no
   * run is under way. Failure, kMXAccUnsupported, where the model has not just copies of one. */
  void Update(const std::vector<size_t>& numbers, const MXTensor* given);
  /*! \brief The names of the primitives, in order: "onednn.convolution jit:avx512_core". */
  std::vector<std::string> StepNames() const;
  /*! \brief Tensors are row-major, and of the specs that it was made for. */
  void Run(const MXTensor* inputs, const MXTensor* outputs, const MXTensor* workspace,
           mxacc::Profiler* profiler) const;

 private:
  /*! \brief Decides where in the workspace all that lies there is. */
  void PlanWorkspace();

  std::vector<ModelMemory> memories_;
  std::vector<ModelStep> steps_;
  std::vector<ModelConstant> constants_;
  std::vector<ModelWeight> weights_; /*!< in the graph's order */
  size_t workspace_bytes_{0};
};

}  // namespace onednn

#endif  // ONEDNN_MODELS_MODEL_H_
