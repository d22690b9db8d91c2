/*!
 * \file windows.cc
 * \brief What slides over spatial axes, and the rules of pools.
 */
#include <algorithm>
#include <iterator>

#include "window.h"

namespace onednn {
namespace {

using mxnet::onednn::MakePooling;
using mxnet::onednn::PoolingArguments;

Shape IntegersOr(const GraphNode& node, const char* key, size_t count, int64_t otherwise) {
  Shape given = node.Integers(key);
  if (given.empty()) given.assign(count, otherwise);
  if (given.size() != count) {
    Unsupported(std::string(key) + " of " + std::to_string(given.size()) + " integers");
  }
  return given;
}

void Pool(NodeLowering* to, const char* kind) {
  const GraphNode& node = to->node();
  const Shape kernel = node.Integers("kernel_shape");
  const WindowAttributes window = WindowOf(*to, kernel);
  const GivenOperand x = to->Operand(size_t{0});
  const PoolingArguments given{kind,
                               kernel,
                               window.strides,
                               window.pads,
                               window.dilations,
                               node.Integer("ceil_mode", 0) != 0,
                               node.Integer("count_include_pad", 0) != 0};
  to->Give(to->Run(MakePooling(x, given, to->Followers())));
}

void MaxPool(NodeLowering* to) { Pool(to, "max"); }
void AveragePool(NodeLowering* to) { Pool(to, "avg"); }

void GlobalAveragePool(NodeLowering* to) {
  const GivenOperand x = to->Operand(size_t{0});
  to->Give(to->Run(MakePooling(x, {"avg", {}, {}, {}, {}, false, false}, to->Followers())));
}

void GlobalMaxPool(NodeLowering* to) {
  const GivenOperand x = to->Operand(size_t{0});
  to->Give(to->Run(MakePooling(x, {"max", {}, {}, {}, {}, false, false}, to->Followers())));
}

constexpr Rule kRules[] = {
    {"AveragePool", 7, AveragePool},
    {"GlobalAveragePool", 1, GlobalAveragePool},
    {"GlobalMaxPool", 1, GlobalMaxPool},
    {"MaxPool", 1, MaxPool},
};

}  // namespace

WindowAttributes WindowOf(const NodeLowering& to, const Shape& kernel) {
  const GraphNode& node = to.node();
  const Shape& x = to.ShapeOf(0);
  const size_t axes = kernel.size();
  if (x.size() != axes + 2) Unsupported("a window of another number of axes than its input");
  WindowAttributes window{IntegersOr(node, "strides", axes, 1),
                          IntegersOr(node, "dilations", axes, 1), Shape(2 * axes, 0), false};
  const auto* given = node.Find("auto_pad");
  const std::string padding = given == nullptr ? "NOTSET" : given->text;
  if (padding == "NOTSET" || padding.empty()) {
    window.pads = IntegersOr(node, "pads", 2 * axes, 0);
    return window;
  }
  if (padding == "VALID") return window;
  if (padding != "SAME_UPPER" && padding != "SAME_LOWER") Unsupported("auto_pad " + padding);
  window.follows_shape = true;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t stride = window.strides[i];
    if (stride < 1) Unsupported("strides below 1");
    const int64_t count = (x[i + 2] + stride - 1) / stride;
    const int64_t reach = (kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t missing = std::max<int64_t>((count - 1) * stride + reach - x[i + 2], 0);
    const int64_t less = missing / 2;
    const bool more_behind = padding == "SAME_UPPER";
    window.pads[i] = more_behind ? less : missing - less;
    window.pads[axes + i] = more_behind ? missing - less : less;
  }
  return window;
}

Rules WindowRules() { return {kRules, std::size(kRules)}; }

}  // namespace onednn
