/*!
 * \file steps.h
 * \brief A graph as steps: each an operator of MXNet's, on views of buffers.
 */
#ifndef MXACC_SDK_GRAPH_STEPS_STEPS_H_
#define MXACC_SDK_GRAPH_STEPS_STEPS_H_

#include <mxnet_acc.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "../graph.h"
#include "value.h"

namespace mxacc {

/*! \brief Why a node is rejected whose tensors have extents with symbols. */
constexpr char kDynamic[] = "an extent is not known";

/*! \brief Memory that the elements of values are in. */
struct Buffer {
  enum class Kind { kInput, kWeight, kOutput, kInner };

  Kind kind;
  size_t index; /*!< among inputs, weights or outputs */
  size_t bytes;
};

/*! \brief An input of a step, by the name of the operator's parameter. */
struct Argument {
  std::string name;
  Value value;
};

/*! \brief An attribute of a step: what its kind says. */
struct Attribute {
  static Attribute None(const char* name);
  static Attribute Flag(const char* name, bool value);
  static Attribute Integer(const char* name, int64_t value);
  static Attribute Number(const char* name, double value);
  static Attribute Integers(const char* name, Extents items);
  static Attribute Text(const char* name, const char* text);
  static Attribute Type(const char* name, MXAccDataType dtype);

  const char* name;
  int32_t kind = kMXAccNoValue;
  int64_t integer = 0;
  double number = 0;
  Extents items{};
  std::string text{};
  MXAccDataType dtype{};
};

/*! \brief One operator, as accGetExecutor is asked for it. */
struct Step {
  std::string op;
  std::vector<Argument> inputs;
  std::vector<Attribute> attributes;
  Value output;
};

/*! \brief The form of a step that executors are made of; valid as long as the step. */
class StepRequest {
 public:
  StepRequest(const Step& step, int32_t dev_id);
  StepRequest(const StepRequest&) = delete;
  StepRequest& operator=(const StepRequest&) = delete;

  const MXAccOperator& op() const { return op_; }

 private:
  std::vector<MXTensor> inputs_;
  MXTensor output_;
  std::vector<MXAccAttribute> attributes_;
  std::deque<std::vector<MXAccAttribute>> items_;
  MXAccOperator op_{};
};

/*!
 * \brief The steps of a graph's nodes.
 *
 * Nodes are added in the graph's order. What a node that was not added would give counts as given
 * from outside, so that a library can be asked about the others, too; Finish does not allow it.
 */
class Steps {
 public:
  /*! \brief The graph outlives this object. Failure where weights are of other specs than it says.
   */
  explicit Steps(const Graph& graph);

  /*! \brief Adds the steps of a node: none for one that only views its input otherwise. Failure,
   * kMXAccUnsupported with the reason where there is no rule for it; nothing is added then. */
  void Add(const GraphNode& node);
  /*! \brief Takes back the steps from first on, which are of that node. */
  void Drop(const GraphNode& node, size_t first);
  /*! \brief Decides which buffers are the graph's outputs, of which each is written row-major. */
  void Finish();

  const Graph& graph() const { return graph_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  /*! \brief Whether steps would be others if an entry, a weight, had other elements. */
  bool DependOn(int64_t entry) const { return deciding_[static_cast<size_t>(entry)]; }
  /*! \brief What an entry is; after Finish outputs are at the start of a buffer of their own. */
  const Value& output(size_t index) const { return outputs_[index]; }

  /*! \name For rules */
  /*! \{ */
  /*! \brief The elements of an entry. */
  Value Read(int64_t entry);
  /*! \brief Is told that a rule looks at the elements of a weight. */
  void NoteDeciding(int64_t entry) { deciding_[static_cast<size_t>(entry)] = true; }
  /*! \brief Row-major, in a buffer of its own. */
  Value NewValue(MXAccDataType dtype, const Extents& shape);
  void Append(Step step) { steps_.push_back(std::move(step)); }
  /*! \brief Copies elements of one type and shape. */
  void Copy(const Value& from, const Value& to);
  /*! \brief Decides what an entry is. */
  void Give(int64_t entry, const Value& value);
  /*! \} */

 private:
  Value NewValue(MXAccDataType dtype, const Extents& shape, Buffer::Kind kind, size_t index);

  const Graph& graph_;
  std::vector<std::optional<Value>> entries_;
  std::vector<bool> deciding_; /*!< by entries */
  std::vector<Buffer> buffers_;
  std::vector<Step> steps_;
  std::vector<Value> outputs_;
};

}  // namespace mxacc

#endif  // MXACC_SDK_GRAPH_STEPS_STEPS_H_
