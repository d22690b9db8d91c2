/*!
 * \file products.cc
 * \brief Rules of convolutions and products of matrices.
 */
#include <iterator>

#include "lowering.h"
#include "window.h"

namespace onednn {
namespace {

using mxnet::onednn::Constant;
using mxnet::onednn::MakeConvolution;
using mxnet::onednn::MakeDeconvolution;
using mxnet::onednn::MakeMatMul;

/*! \brief The extents of a weight's window, which attributes say once more. */
Shape KernelOf(const NodeLowering& to) {
  const Shape& weight = to.ShapeOf(1);
  if (weight.size() < 3) Unsupported("a weight without spatial axes");
  Shape kernel(weight.begin() + 2, weight.end());
  const Shape told = to.node().Integers("kernel_shape");
  if (!told.empty() && told != kernel) Unsupported("a kernel_shape that is not the weight's");
  return kernel;
}

void Convolution(NodeLowering* to) {
  const WindowAttributes window = WindowOf(*to, KernelOf(*to));
  const GivenOperand x = to->Operand(size_t{0});
  const GivenOperand weight = to->Operand(size_t{1});
  const std::optional<GivenOperand> bias = to->OptionalOperand(2);
  to->Give(to->Run(MakeConvolution({x, weight, bias, window.strides, window.pads, window.dilations,
                                    to->node().Integer("group", 1), to->Followers()})));
}

void Deconvolution(NodeLowering* to) {
  const GraphNode& node = to->node();
  if (!node.Integers("output_shape").empty()) Unsupported("the attribute output_shape");
  const WindowAttributes window = WindowOf(*to, KernelOf(*to));
  if (window.follows_shape) Unsupported("pads that follow from the shape");
  const Shape more = node.Integers("output_padding");
  const GivenOperand x = to->Operand(size_t{0});
  const GivenOperand weight = to->Operand(size_t{1});
  const std::optional<GivenOperand> bias = to->OptionalOperand(2);
  to->Give(to->Run(MakeDeconvolution({x, weight, bias, window.strides, window.pads,
                                      window.dilations, node.Integer("group", 1), to->Followers()},
                                     more.empty() ? GivenInts() : more)));
}

void MatMul(NodeLowering* to) {
  if (to->ShapeOf(0).size() < 2 || to->ShapeOf(1).size() < 2) Unsupported("vectors");
  const GivenOperand a = to->Operand(size_t{0});
  const GivenOperand b = to->Operand(size_t{1});
  to->Give(to->Run(MakeMatMul(a, b, std::nullopt, false, false, 1, to->Followers())));
}

void Gemm(NodeLowering* to) {
  const GraphNode& node = to->node();
  const double beta = node.Number("beta", 1);
  const bool has_c = to->Has(2) && beta != 0;
  if (has_c && beta != 1) Unsupported("a beta other than 0 and 1");
  const GivenOperand a = to->Operand(size_t{0});
  const GivenOperand b = to->Operand(size_t{1});
  std::optional<GivenOperand> bias;
  GivenPostOps posts;
  if (has_c) {
    const int64_t columns = to->OutputShape().back();
    const Shape& c = to->ShapeOf(2);
    const bool is_row = !c.empty() && c.back() == columns && mxnet::onednn::SizeOf(c) == columns;
    GivenOperand added = to->Operand(size_t{2});
    if (is_row && to->IsWeight(2)) {
      auto& row = std::get<Constant>(added);
      row.shape = {columns};
      row.strides = {1};
      bias = std::move(added);
    } else {
      posts.push_back({"add", {}, {}, std::move(added)});
    }
  }
  for (PostOp& post : to->Followers()) posts.push_back(std::move(post));
  to->Give(to->Run(MakeMatMul(a, b, bias, node.Integer("transA", 0) != 0,
                              node.Integer("transB", 0) != 0, node.Number("alpha", 1), posts)));
}

constexpr Rule kRules[] = {
    {"Conv", 1, Convolution},
    {"ConvTranspose", 1, Deconvolution},
    {"Gemm", 7, Gemm},
    {"MatMul", 1, MatMul},
};

}  // namespace

Rules ProductRules() { return {kRules, std::size(kRules)}; }

}  // namespace onednn
