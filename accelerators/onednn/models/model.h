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
        std::vector<mxnet::onednn::Buffer> constants);

  uint64_t workspace_bytes() const { return workspace_bytes_; }
  uint64_t weight_bytes() const;
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
  std::vector<mxnet::onednn::Buffer> constants_;
  size_t workspace_bytes_{0};
};

}  // namespace onednn

#endif  // ONEDNN_MODELS_MODEL_H_
