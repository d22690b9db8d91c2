/*!
 * \file reductions.cc
 * \brief Operators that combine the elements along axes, and softmax.
 */
#include <utility>

#include "node_steps.h"

namespace mxacc {
namespace {

/*! \brief A reduction with what is done to the elements before and to the result. */
struct Reduction {
  const char* onnx;
  const char* before; /*!< NULL for nothing */
  const char* function;
  const char* after;
  bool integers; /*!< whether integers have the same meaning */
};

constexpr Reduction kReductions[] = {
    {"ReduceSum", nullptr, "sum", nullptr, true},
    {"ReduceProd", nullptr, "prod", nullptr, true},
    {"ReduceMean", nullptr, "mean", nullptr, false},
    {"ReduceMax", nullptr, "max", nullptr, true},
    {"ReduceMin", nullptr, "min", nullptr, true},
    {"ReduceL1", "absolute", "sum", nullptr, true},
    {"ReduceL2", "square", "sum", "sqrt", false},
    {"ReduceSumSquare", "square", "sum", nullptr, true},
    {"ReduceLogSum", nullptr, "sum", "log", false},
};

/*! \brief The axes that are reduced; false where the operator leaves its input as it is. */
bool FindAxes(NodeSteps& at, size_t ndim, Extents* axes) {
  for (const int64_t axis : at.Integers(1, "axes")) {
    axes->push_back(static_cast<int64_t>(at.Axis(axis, ndim)));
  }
  if (!axes->empty()) return true;
  if (at.node().Integer("noop_with_empty_axes", 0) != 0) return false;
  *axes = Range(0, ndim);
  return true;
}

void Reduce(NodeSteps& at, const Reduction& reduction) {
  if (!reduction.integers) at.NeedFloats();
  Value value = at.Input(0);
  Extents axes;
  const bool reduces = FindAxes(at, value.ndim(), &axes);
  if (reduction.before != nullptr) value = at.Unary(reduction.before, value);
  if (reduces) {
    value = at.Reduce(reduction.function, value, axes, at.node().Integer("keepdims", 1) != 0);
  }
  if (reduction.after != nullptr) value = at.Unary(reduction.after, value);
  at.Give(value);
}

/*! \brief log(sum(exp(x))), from the largest element on so that it does not overflow. */
void LogSumExp(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  Extents axes;
  if (!FindAxes(at, x.ndim(), &axes)) at.Decline("along no axis");
  const bool keepdims = at.node().Integer("keepdims", 1) != 0;
  if (x.count() == 0) at.Decline("of no elements");
  const Value largest = at.Reduce("max", x, axes, true);
  // Infinite ones would make NaN of themselves.
  const Value finite = at.Call("isfinite", {{"x", largest}}, {}, {kMXAccBool, 8, 1}, largest.shape);
  const Value base = at.Where(finite, largest, 0.0);
  const Value powers = at.Unary("exp", at.Binary("subtract", x, base));
  const Value sum = at.Unary("log", at.Reduce("sum", powers, axes, true));
  const Value whole = at.Binary("add", sum, base);
  at.Give(keepdims ? whole : at.Reshape(whole, at.output().shape));
}

void FindPosition(NodeSteps& at, const char* function) {
  const Value x = at.Input(0);
  if (at.node().Integer("select_last_index", 0) != 0) at.Decline("that finds the last position");
  const size_t axis = at.Axis(at.node().Integer("axis", 0), x.ndim());
  at.Give(at.Call(function, {{"a", x}},
                  {Attribute::Integer("axis", static_cast<int64_t>(axis)),
                   Attribute::Flag("keepdims", at.node().Integer("keepdims", 1) != 0)},
                  {kMXAccInt, 64, 1}, at.output().shape));
}

/*! \brief Before version 13 all axes from one on are one. */
void Softmax(NodeSteps& at, const char* function) {
  at.NeedFloats();
  const Value x = at.Input(0);
  const bool flattens = at.node().version < 13;
  const size_t axis = at.Axis(at.node().Integer("axis", flattens ? 1 : -1), x.ndim());
  const auto apply = [&](const Value& data, int64_t along) {
    return at.Call(function, {{"data", data}}, {Attribute::Integer("axis", along)}, x.dtype,
                   data.shape);
  };
  if (!flattens) return at.Give(apply(x, static_cast<int64_t>(axis)));
  int64_t rows = 1;
  for (size_t i = 0; i < axis; ++i) rows *= x.shape[i];
  if (x.count() == 0) at.Decline("of no elements");
  at.Give(at.Reshape(apply(at.Reshape(x, {rows, x.count() / rows}), 1), x.shape));
}

}  // namespace

void AddReductionRules(Rules* rules) {
  for (const Reduction& reduction : kReductions) {
    (*rules)[reduction.onnx] = [&reduction](NodeSteps& at) { Reduce(at, reduction); };
  }
  (*rules)["ReduceLogSumExp"] = LogSumExp;
  using Names = std::initializer_list<std::pair<const char*, const char*>>;
  for (const auto& [onnx, name] : Names{{"ArgMax", "argmax"}, {"ArgMin", "argmin"}}) {
    (*rules)[onnx] = [function = name](NodeSteps& at) { FindPosition(at, function); };
  }
  for (const auto& [onnx, name] : Names{{"Softmax", "softmax"}, {"LogSoftmax", "log_softmax"}}) {
    (*rules)[onnx] = [function = name](NodeSteps& at) { Softmax(at, function); };
  }
}

}  // namespace mxacc
