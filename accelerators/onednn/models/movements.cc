/*!
 * \file movements.cc
 * \brief Rules of what joins, rearranges and reduces arrays.
 */
#include <algorithm>
#include <iterator>

#include "lowering.h"

namespace onednn {
namespace {

using mxnet::onednn::MakeConcat;
using mxnet::onednn::MakeReduction;

/*! \brief oneDNN adds up one after the other, so that more elements lose digits. */
constexpr int64_t kMostElements = 8192;

void Reshape(NodeLowering* to) { to->Give(to->Reshaped(to->Read(0), to->OutputShape())); }

void Transpose(NodeLowering* to) {
  std::vector<int64_t> axes = to->node().Integers("perm");
  if (axes.empty()) {
    for (size_t i = to->ShapeOf(0).size(); i-- > 0;) axes.push_back(static_cast<int64_t>(i));
  }
  to->Give(to->Permuted(to->Read(0), axes));
}

void Concat(NodeLowering* to) {
  std::vector<GivenOperand> parts;
  for (size_t i = 0; i < to->node().inputs.size(); ++i) parts.push_back(to->Operand(i));
  to->Give(to->Run(MakeConcat(parts, to->node().Integer("axis", 0))));
}

void Reduce(NodeLowering* to, const char* kind) {
  const GraphNode& node = to->node();
  const Shape& shape = to->ShapeOf(0);
  std::vector<int64_t> axes = to->Has(1) ? to->Integers(1) : node.Integers("axes");
  if (axes.empty() && node.Integer("noop_with_empty_axes", 0) != 0) {
    return to->Give(to->Read(0));
  }
  if (axes.empty()) {
    for (size_t i = 0; i < shape.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  int64_t count = 1;
  for (const int64_t axis : axes) {
    count *= shape[mxnet::onednn::AxisOf(axis, static_cast<int>(shape.size()), "axes")];
  }
  if (count > kMostElements) {
    Unsupported("more than " + std::to_string(kMostElements) + " elements are reduced to one");
  }
  const GivenOperand x = to->Operand(size_t{0});
  const bool keeps_axes = node.Integer("keepdims", 1) != 0;
  // What follows sees the axes that are gone otherwise.
  to->Give(to->Run(MakeReduction(x, kind, axes, keeps_axes ? to->Followers() : GivenPostOps())));
}

void ReduceSum(NodeLowering* to) { Reduce(to, "sum"); }
void ReduceMean(NodeLowering* to) { Reduce(to, "mean"); }
void ReduceProd(NodeLowering* to) { Reduce(to, "prod"); }

constexpr Rule kRules[] = {
    {"Concat", 4, Concat},         {"Flatten", 1, Reshape},       {"Identity", 1, Reshape},
    {"ReduceMean", 1, ReduceMean}, {"ReduceProd", 1, ReduceProd}, {"ReduceSum", 1, ReduceSum},
    {"Reshape", 5, Reshape},       {"Squeeze", 1, Reshape},       {"Transpose", 1, Transpose},
    {"Unsqueeze", 1, Reshape},
};

}  // namespace

Rules MovementRules() { return {kRules, std::size(kRules)}; }

}  // namespace onednn
