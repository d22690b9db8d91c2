/*!
 * \file node_steps.h
 * \brief What the rules of ONNX's operators are written with.
 */
#ifndef MXACC_SDK_GRAPH_RULES_NODE_STEPS_H_
#define MXACC_SDK_GRAPH_RULES_NODE_STEPS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../status.h"
#include "../graph.h"
#include "../steps/steps.h"
#include "../steps/value.h"

namespace mxacc {

/*! \brief A tensor, or a number, which does not widen the type of a tensor beside it. */
struct Operand {
  Operand(const Value& given) : value(given) {}  // NOLINT: so that both can be written
  Operand(double given) : number(given) {}       // NOLINT

  std::optional<Value> value;
  double number = 0;
};

/*! \brief Makes the steps of one node. */
class NodeSteps {
 public:
  NodeSteps(Steps* steps, const GraphNode& node) : steps_(steps), node_(node) {}

  /*! \brief By the rule of the node's operator; Failure where it has none, or that declines. */
  void Make();

  const GraphNode& node() const { return node_; }
  const std::string& op() const { return node_.op; }
  size_t num_inputs() const { return node_.inputs.size(); }
  size_t num_outputs() const { return node_.outputs.size(); }
  bool Has(size_t index) const { return index < num_inputs() && node_.inputs[index] >= 0; }
  bool Gives(size_t index) const { return index < num_outputs() && node_.outputs[index] >= 0; }
  /*! \brief kMXAccUnsupported where it is left out. */
  Value Input(size_t index) const;
  /*! \brief What the graph says of an input, and of an output. */
  const GraphEntry& entry(size_t index) const;
  const GraphEntry& output(size_t index = 0) const;

  /*! \brief The elements of an input of int64, or the attribute of that name; none where neither is
   * there. kMXAccUnsupported where they are computed by the graph. */
  Extents Integers(size_t index, const char* attribute) const;
  /*! \brief The same of one number of any type, or the attribute. */
  double Number(size_t index, const char* attribute, double otherwise) const;
  /*! \brief The elements of an input of float32; none where it is left out. */
  std::vector<float> Floats(size_t index) const;
  /*! \brief An axis as an index of ndim; kMXAccUnsupported where it is none. */
  size_t Axis(int64_t axis, size_t ndim) const;
  std::string Text(const char* attribute, const char* otherwise) const;
  /*! \brief kMXAccUnsupported where one is so far from 0 that sums of products would overflow. */
  void NeedSmall(const Extents& numbers) const;
  void NeedFloats() const;
  [[noreturn]] void Decline(const std::string& what) const { Unsupported(op() + " " + what); }

  /*! \name Steps, of which the result is given */
  /*! \{ */
  Value Call(const char* function, std::vector<Argument> inputs, std::vector<Attribute> attributes,
             MXAccDataType dtype, const Extents& shape);
  Value Unary(const char* function, const Value& x);
  /*! \brief Of two operands of one type that broadcast; one may be a number. */
  Value Binary(const char* function, const Operand& a, const Operand& b);
  /*! \brief The same, with bool as its result. */
  Value Compare(const char* function, const Operand& a, const Operand& b);
  Value Where(const Value& condition, const Operand& a, const Operand& b);
  Value Cast(const Value& value, MXAccDataType dtype);
  Value Reduce(const char* function, const Value& value, const Extents& axes, bool keepdims);
  Value MatMul(const Value& a, const Value& b);
  Value Full(MXAccDataType dtype, const Extents& shape, const Operand& number);
  Value Packed(const Value& value);
  /*! \brief In another shape; copied where that takes it. */
  Value Reshape(const Value& value, const Extents& shape);
  /*! \brief With as many more elements along each axis, before and behind, of one number. */
  Value Pad(const Value& value, const Extents& before, const Extents& behind,
            const Operand& number);
  void Copy(const Value& from, const Value& to) { steps_->Copy(from, to); }
  Value NewValue(MXAccDataType dtype, const Extents& shape) {
    return steps_->NewValue(dtype, shape);
  }
  /*! \} */

  /*! \brief Makes a value an output of the node; kMXAccUnsupported where it is not of its spec. */
  void Give(const Value& value, size_t index = 0);

 private:
  /*! \brief kMXAccUnsupported where it is no weight. */
  const GraphEntry& WeightOf(size_t index) const;
  template <typename T>
  std::vector<T> ElementsOf(size_t index, MXAccDataType dtype) const;

  Steps* steps_;
  const GraphNode& node_;
};

using Rule = std::function<void(NodeSteps&)>;
/*! \brief By ONNX's names of operators. */
using Rules = std::map<std::string, Rule>;

/*! \brief They add the rules of their files. */
void AddElementwiseRules(Rules* rules);
void AddActivationRules(Rules* rules);
void AddReductionRules(Rules* rules);
void AddMovementRules(Rules* rules);
void AddProductRules(Rules* rules);
void AddWindowRules(Rules* rules);
void AddNormalizationRules(Rules* rules);

}  // namespace mxacc

#endif  // MXACC_SDK_GRAPH_RULES_NODE_STEPS_H_
