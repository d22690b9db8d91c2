/*!
 * \file normalization.cc
 * \brief Normalizations, composed of reductions and elementwise operators.
 */
#include "node_steps.h"

namespace mxacc {
namespace {

/*! \brief 1 / sqrt(variance + epsilon). */
Value Inverse(NodeSteps& at, const Value& variance) {
  const double epsilon = at.node().Number("epsilon", 1e-5);
  return at.Unary("reciprocal", at.Unary("sqrt", at.Binary("add", variance, epsilon)));
}

struct Normalized {
  Value values;
  Value mean;
  Value inverse;
};

Normalized Normalize(NodeSteps& at, const Value& x, const Extents& axes) {
  if (x.count() == 0) at.Decline("of no elements");
  const Value mean = at.Reduce("mean", x, axes, true);
  const Value inverse = Inverse(at, at.Reduce("var", x, axes, true));
  return {at.Binary("multiply", at.Binary("subtract", x, mean), inverse), mean, inverse};
}

/*! \brief One number for each channel, as what broadcasts to ndim axes. */
Value PerChannel(NodeSteps& at, size_t index, size_t ndim) {
  const Value value = at.Input(index);
  Extents shape(ndim - 1, 1);
  shape[0] = value.count();
  return at.Reshape(value, shape);
}

Value ScaledAndShifted(NodeSteps& at, const Value& x, const Value& scale, const Value& shift) {
  return at.Binary("add", at.Binary("multiply", x, scale), shift);
}

void BatchNormalization(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  if (at.node().Integer("training_mode", 0) != 0 || at.Gives(1)) at.Decline("in training");
  if (x.ndim() < 2) at.Decline("of what has no channels");
  const auto channel = [&](size_t index) { return PerChannel(at, index, x.ndim()); };
  const Value scale = at.Binary("multiply", channel(1), Inverse(at, channel(4)));
  const Value shift = at.Binary("subtract", channel(2), at.Binary("multiply", channel(3), scale));
  at.Give(ScaledAndShifted(at, x, scale, shift));
}

void InstanceNormalization(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  if (x.ndim() < 3) at.Decline("of what is no picture");
  const Value values = Normalize(at, x, Range(2, x.ndim())).values;
  at.Give(ScaledAndShifted(at, values, PerChannel(at, 1, x.ndim()), PerChannel(at, 2, x.ndim())));
}

void GroupNormalization(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  const int64_t groups = at.node().Integer("num_groups", 1);
  if (at.node().version < 21) at.Decline("of before version 21");
  if (x.ndim() < 3 || groups < 1 || x.count() == 0 || x.shape[1] % groups != 0) {
    at.Decline("of what has no such groups");
  }
  const Value grouped = at.Reshape(x, {x.shape[0], groups, x.count() / (x.shape[0] * groups)});
  const Value values = at.Reshape(Normalize(at, grouped, {2}).values, x.shape);
  at.Give(ScaledAndShifted(at, values, PerChannel(at, 1, x.ndim()), PerChannel(at, 2, x.ndim())));
}

void LayerNormalization(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  const size_t axis = at.Axis(at.node().Integer("axis", -1), x.ndim());
  const bool tells = at.Gives(1) || at.Gives(2);
  if (tells && x.dtype.bits != 32) at.Decline("that gives means in another type");
  const Normalized normalized = Normalize(at, x, Range(axis, x.ndim()));
  Value out = at.Binary("multiply", normalized.values, at.Input(1));
  if (at.Has(2)) out = at.Binary("add", out, at.Input(2));
  at.Give(out);
  if (at.Gives(1)) at.Give(normalized.mean, 1);
  if (at.Gives(2)) at.Give(normalized.inverse, 2);
}

void RMSNormalization(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  if (x.count() == 0) at.Decline("of no elements");
  const size_t axis = at.Axis(at.node().Integer("axis", -1), x.ndim());
  const Value squares = at.Reduce("mean", at.Unary("square", x), Range(axis, x.ndim()), true);
  at.Give(at.Binary("multiply", at.Binary("multiply", x, Inverse(at, squares)), at.Input(1)));
}

void LpNormalization(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  const auto axis = static_cast<int64_t>(at.Axis(at.node().Integer("axis", -1), x.ndim()));
  const bool squares = at.node().Integer("p", 2) == 2;
  Value norm = at.Reduce("sum", at.Unary(squares ? "square" : "absolute", x), {axis}, true);
  if (squares) norm = at.Unary("sqrt", norm);
  // What has the norm 0 stays 0.
  at.Give(at.Binary("divide", x, at.Where(at.Compare("equal", norm, 0.0), 1.0, norm)));
}

}  // namespace

void AddNormalizationRules(Rules* to) {
  Rules& rules = *to;
  rules["BatchNormalization"] = BatchNormalization;
  rules["InstanceNormalization"] = InstanceNormalization;
  rules["GroupNormalization"] = GroupNormalization;
  rules["LayerNormalization"] = LayerNormalization;
  rules["RMSNormalization"] = RMSNormalization;
  rules["LpNormalization"] = LpNormalization;
}

}  // namespace mxacc
