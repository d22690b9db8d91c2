/*!
 * \file normalizations.cc
 * \brief Rules of normalizations and softmax.
 */
#include <iterator>

#include "lowering.h"

namespace onednn {
namespace {

using mxnet::onednn::MakeBatchNormalization;
using mxnet::onednn::MakeLayerNormalization;
using mxnet::onednn::MakeLrn;
using mxnet::onednn::MakeSoftmax;

void BatchNormalization(NodeLowering* to) {
  const GraphNode& node = to->node();
  if (node.Integer("training_mode", 0) != 0) Unsupported("training_mode");
  const GivenOperand x = to->Operand(size_t{0});
  const GivenOperand scale = to->Operand(size_t{1});
  const GivenOperand shift = to->Operand(size_t{2});
  const GivenOperand mean = to->Operand(size_t{3});
  const GivenOperand variance = to->Operand(size_t{4});
  to->Give(to->Run(MakeBatchNormalization(x, scale, shift, mean, variance,
                                          node.Number("epsilon", 1e-5), to->Followers())));
}

void LayerNormalization(NodeLowering* to) {
  const GraphNode& node = to->node();
  const Shape& shape = to->ShapeOf(0);
  const auto ndim = static_cast<int64_t>(shape.size());
  const int64_t axis = node.Integer("axis", -1);
  const int64_t first = axis < 0 ? axis + ndim : axis;
  if (first < 0 || first >= ndim) Unsupported("an axis that is not there");
  if (node.Integer("stash_type", 1) != 1) Unsupported("a stash_type other than float32");
  const Shape normalized(shape.begin() + first, shape.end());
  for (size_t i = 1; i < 3; ++i) {
    if (to->Has(i) && to->ShapeOf(i) != normalized) {
      Unsupported("a scale or bias of another shape than the axes that are normalized");
    }
  }
  const GivenOperand x = to->Operand(size_t{0});
  const GivenOperand scale = to->Operand(size_t{1});
  const std::optional<GivenOperand> shift = to->OptionalOperand(2);
  to->Give(to->Run(MakeLayerNormalization(x, scale, shift, first, node.Number("epsilon", 1e-5),
                                          to->Followers())));
}

void Softmax(NodeLowering* to) {
  const GivenOperand x = to->Operand(size_t{0});
  const bool is_log = to->node().op == "LogSoftmax";
  to->Give(to->Run(MakeSoftmax(x, to->node().Integer("axis", -1), is_log, to->Followers())));
}

void Lrn(NodeLowering* to) {
  const GraphNode& node = to->node();
  const int64_t size = node.Integer("size", 0);
  if (size % 2 == 0) Unsupported("an even size");
  const GivenOperand x = to->Operand(size_t{0});
  to->Give(to->Run(MakeLrn(x, size, node.Number("alpha", 1e-4), node.Number("beta", 0.75),
                           node.Number("bias", 1))));
}

constexpr Rule kRules[] = {
    {"BatchNormalization", 9, BatchNormalization},
    {"LRN", 1, Lrn},
    {"LayerNormalization", 17, LayerNormalization},
    {"LogSoftmax", 13, Softmax},
    {"Softmax", 13, Softmax},
};

}  // namespace

Rules NormalizationRules() { return {kRules, std::size(kRules)}; }

}  // namespace onednn
