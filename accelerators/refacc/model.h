/*!
 * \file model.h
 * \brief A graph of ONNX's operators, executed by operators of the CPU one after the other.
 */
#ifndef REFACC_MODEL_H_
#define REFACC_MODEL_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "../sdk/graph/graph.h"
#include "library.h"
#include "operator.h"

namespace refacc {

/*! \brief Why a node is rejected whose tensors have extents with symbols. */
constexpr char kDynamic[] = "an extent is not known";

/*! \brief A tensor of a model, and where its elements are. */
struct ModelValue {
  enum class Where { kNowhere, kInput, kWeight, kOutput, kWorkspace };

  MXAccDataType dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; /*!< row-major */
  Where where = Where::kNowhere;
  size_t index = 0; /*!< among inputs, weights or outputs; bytes into the workspace */

  size_t bytes() const;
  /*! \brief Without elements; shape and strides are this object's. */
  MXTensor tensor();
};

/*! \brief An operator with the values that it reads and writes; a copy of bytes where there is
 * none. */
struct ModelStep {
  std::unique_ptr<Operator> op;
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
};

/*! \brief The steps of some nodes. */
class ModelSteps {
 public:
  explicit ModelSteps(const Graph& graph);

  /*! \brief Adds the steps of a node; Failure, kMXAccUnsupported, with the reason where it has
   * none. */
  void Add(const GraphNode& node);
  /*! \brief Makes the result of a node that was added wrong: its negative. */
  void Negate(const GraphNode& node);
  /*! \brief Decides where all values are: of the entries that are inputs, weights and outputs. */
  void Locate(const Graph& graph);

  std::deque<ModelValue>& values() { return values_; }
  const std::deque<ModelValue>& values() const { return values_; }
  const std::vector<ModelStep>& steps() const { return steps_; }
  size_t workspace_bytes() const { return workspace_bytes_; }
  /*! \brief A value of that spec besides the entries. */
  size_t NewValue(MXAccDataType dtype, const std::vector<int64_t>& shape);

 private:
  friend class StepMaker;

  const Graph* graph_;
  Runtime runtime_;
  std::deque<ModelValue> values_; /*!< the entries of the graph, and then others */
  std::vector<ModelStep> steps_;
  size_t workspace_bytes_{0};
};

}  // namespace refacc

#endif  // REFACC_MODEL_H_
