/*!
 * \file lowering.h
 * \brief Turns a graph of ONNX's operators into primitives, node by node, by rules.
 *
 * Blocked layouts stay between neighbours: a value has the layout that the primitive before it
 * likes best, and is brought to another one where a primitive asks for that. What follows a node
 * alone, and can be done to each element of its result, becomes a post-op of its primitive.
 */
#ifndef ONEDNN_MODELS_LOWERING_H_
#define ONEDNN_MODELS_LOWERING_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../sdk/graph/graph.h"
#include "../../sdk/status.h"
#include "model.h"

namespace onednn {

using mxacc::Failure;
using mxacc::Graph;
using mxacc::GraphEntry;
using mxacc::GraphNode;
using mxacc::Unsupported;
using mxnet::onednn::GivenInts;
using mxnet::onednn::GivenOperand;
using mxnet::onednn::GivenPostOps;
using mxnet::onednn::Layout;
using mxnet::onednn::MaybeLayout;
using mxnet::onednn::PostOp;
using mxnet::onednn::Primitive;
using Shape = std::vector<int64_t>;

/*! \brief A tensor of float32 in a model. */
struct Value {
  Shape shape;
  MaybeLayout layout; /*!< none for row-major */
  size_t memory;
};

/*! \brief The steps of a graph, as far as they are made. */
class Lowering {
 public:
  /*! \brief The graph outlives it. With asks nothing is made that could run: then nodes are
   * lowered one by one, whatever comes before them. Without keeps_nan it may become a number in
   * Relu and Clip. */
  Lowering(const Graph& graph, bool asks, bool keeps_nan);

  /*! \brief Adds the steps of a node, and of those that become part of them. Failure,
   * kMXAccUnsupported, where it has none. */
  void Add(const GraphNode& node);
  /*! \brief The model of all nodes, which are added. */
  Model Compile();

  /* ---- for NodeLowering ---- */

  bool asks() const { return asks_; }
  bool keeps_nan() const { return keeps_nan_; }
  const GraphEntry& entry(int64_t position) const {
    return graph_.entries[static_cast<size_t>(position)];
  }
  /*! \brief Whether the value of an entry is there already. */
  bool Has(int64_t position) const;
  Value Read(int64_t position);
  /*! \brief Is told that what is made depends on the elements of a weight. */
  void NoteDeciding(int64_t position) { deciding_.insert(position); }
  void Give(int64_t position, Value value) { values_[position] = std::move(value); }
  /*! \brief The value in another layout, none for row-major; made once. */
  Value Brought(const Value& value, const MaybeLayout& layout);
  /*! \brief What a primitive gives. */
  std::vector<Value> Run(Primitive made, const std::vector<Value>& inputs);
  /*! \brief The node that alone uses an entry; NULL where there are others, or none. */
  const GraphNode* OnlyUser(int64_t position) const;

 private:
  /*! \brief How much there is, to take back what was added since. */
  struct Mark {
    size_t steps;
    size_t memories;
    size_t constants;
  };
  struct Attempt {
    bool fuses;
    bool keeps_layouts;
  };

  /*! \brief False where a primitive would be slow; then nothing is added, unless it is_last. */
  bool Try(const GraphNode& node, const Attempt& attempt, bool is_last);
  Mark Now() const { return {steps_.size(), memories_.size(), constants_.size()}; }
  void TakeBack(const Mark& mark);
  size_t NewMemory(ModelMemory::Where where, size_t index, size_t bytes);
  void BindOutput(size_t index);

  const Graph& graph_;
  const bool asks_;
  const bool keeps_nan_;
  std::map<int64_t, Value> values_; /*!< of entries */
  std::vector<ModelMemory> memories_;
  std::vector<ModelStep> steps_;
  std::vector<ModelConstant> constants_;
  std::set<int64_t> deciding_; /*!< weights */
  /*! \brief By memory: values in it, with what they are in other layouts. */
  std::map<size_t, std::vector<std::pair<Value, Value>>> brought_;
  std::map<int64_t, std::vector<const GraphNode*>> users_;
  int64_t node_{0};                 /*!< whose steps are made */
  std::set<const GraphNode*> done_; /*!< as parts of the primitives of others */
};

/*! \brief One try to lower a node: what rules are given. */
class NodeLowering {
 public:
  NodeLowering(Lowering* lowering, const GraphNode& node, bool fuses, bool keeps_layouts);

  const GraphNode& node() const { return node_; }
  /*! \brief Whether an input is given. */
  bool Has(size_t index) const { return index < node_.inputs.size() && node_.inputs[index] >= 0; }
  const Shape& ShapeOf(size_t index) const;
  const Shape& OutputShape() const;
  /*! \brief Elements of an input that is a weight; Failure where it is none. */
  std::vector<int64_t> Integers(size_t index) const;
  float Number(size_t index) const { return Number(node_, index); }
  /*! \brief The same of another node. */
  float Number(const GraphNode& node, size_t index) const;
  bool keeps_nan() const { return lowering_->keeps_nan(); }
  bool IsWeight(size_t index) const;
  /*! \brief Is told that of a weight more is kept than a copy in some layout. */
  void NoteDeciding(size_t index) const { lowering_->NoteDeciding(node_.inputs[index]); }

  /*! \name Operands, which have to be asked for in the order in which the maker binds them
   *  \{ */
  GivenOperand Operand(size_t index);
  std::optional<GivenOperand> OptionalOperand(size_t index);
  GivenOperand Operand(const Value& value);
  /*! \brief The nodes behind this one, as long as they are post-ops; behind all other operands. */
  GivenPostOps Followers();
  /*! \} */

  Value Read(size_t index);
  /*! \brief What a primitive gives of the operands that were asked for since the last one. */
  Value Run(Primitive made);
  /*! \brief The same of one that gives several. */
  std::vector<Value> RunAll(Primitive made);
  /*! \brief The same memory in another shape, and order. */
  Value Reshaped(const Value& value, const Shape& shape);
  Value Permuted(const Value& value, const std::vector<int64_t>& axes);
  /*! \brief Decides what the node gives, or the last of its followers. */
  void Give(const Value& value);
  /*! \brief Decides what all outputs are, of a node without followers. */
  void GiveAll(const std::vector<Value>& values);

  /*! \brief Whether a primitive walks by single elements. */
  const std::string& reference() const { return reference_; }
  const std::vector<const GraphNode*>& taken() const { return taken_; }

 private:
  GivenOperand OperandOf(int64_t position);
  std::optional<PostOp> PostOpOf(const GraphNode& node);

  Lowering* lowering_;
  const GraphNode& node_;
  const bool fuses_;
  const bool keeps_layouts_;
  int64_t output_;
  std::vector<Value> fed_;
  std::vector<const GraphNode*> taken_;
  std::string reference_;
};

/*! \brief How a node of an operator is lowered, as it is since a version of ONNX's set. */
struct Rule {
  const char* op;
  int64_t since;
  void (*lower)(NodeLowering* to);
  size_t most_outputs = 1;
};

struct Rules {
  const Rule* rules;
  size_t size;
};

/* Of one file each. */
Rules ElementRules();
Rules MovementRules();
Rules NormalizationRules();
Rules ProductRules();
Rules RecurrentRules();
Rules WindowRules();

/*! \brief The rule of an operator; Failure where there is none for its version. */
const Rule& RuleOf(const GraphNode& node);
/*! \brief The names of all operators with rules, with commas between them. */
std::string NodeNames();
/*! \brief What a node does to each element; none where no post-op does that. */
std::optional<PostOp> ElementPostOp(const NodeLowering& to, const GraphNode& node);

}  // namespace onednn

#endif  // ONEDNN_MODELS_LOWERING_H_
