/*!
 * \file elements.cc
 * \brief Rules of operators of single elements.
 *
 * oneDNN's relu and clip give a number for NaN, and its maximum and minimum the second operand
 * where either is NaN. What ONNX has as NaN stays NaN: elu with a factor of 0 is relu that keeps
 * it, and a bound is compared with what it bounds once more, which changes nothing but NaN.
 */
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "lowering.h"

namespace onednn {
namespace {

using mxnet::onednn::MakeBinary;
using mxnet::onednn::MakeEltwise;
using mxnet::onednn::MakePrelu;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

PostOp Alone(const char* kind, std::optional<double> alpha = {}, std::optional<double> beta = {}) {
  return PostOp{kind, alpha, beta, std::nullopt};
}

void Unary(NodeLowering* to) {
  const std::optional<PostOp> post = ElementPostOp(*to, to->node());
  if (!post) Unsupported("not with these attributes");
  const GivenOperand x = to->Operand(size_t{0});
  to->Give(to->Run(MakeEltwise(x, post->kind, post->alpha, post->beta, {})));
}

/*! \brief One pass, of a function of each element and what keeps its NaN: the larger or smaller one
 * of both, which changes nothing else. The code of two operands has post-ops, that of one has none.
 */
Value Pass(const Value& value, const PostOp& function, const char* keeps_nan, GivenPostOps more,
           NodeLowering* to) {
  const GivenOperand x = to->Operand(value);
  const GivenOperand same = to->Operand(value);
  GivenPostOps posts{function, {keeps_nan, {}, {}, to->Operand(value)}};
  for (PostOp& post : more) posts.push_back(std::move(post));
  return to->Run(MakeBinary(x, same, "max", posts));
}

void Exp(NodeLowering* to) {
  // The result is larger than x.
  to->Give(Pass(to->Read(0), Alone("exp"), "max", {}, to));
}

Value Bounded(Value value, double low, double high, NodeLowering* to) {
  if (!(low <= high)) Unsupported("bounds of which none is the lower one");
  if (high != kInfinity) {
    GivenPostOps more;
    if (low == 0) {
      more.push_back(Alone("elu", 0.0));
      low = -kInfinity;
    }
    value = Pass(value, Alone("clip", -kInfinity, high), "min", std::move(more), to);
  }
  if (low != -kInfinity) value = Pass(value, Alone("clip", low, kInfinity), "max", {}, to);
  return value;
}

struct Bounds {
  double low;
  double high;
};

Bounds BoundsOf(const NodeLowering& to, const GraphNode& node) {
  if (node.version < 11) {
    return {node.Number("min", -kInfinity), node.Number("max", kInfinity)};
  }
  const auto bound = [&](size_t index, double otherwise) {
    const bool is_given = index < node.inputs.size() && node.inputs[index] >= 0;
    return is_given ? static_cast<double>(to.Number(node, index)) : otherwise;
  };
  return {bound(1, -kInfinity), bound(2, kInfinity)};
}

void Clip(NodeLowering* to) {
  const auto [low, high] = BoundsOf(*to, to->node());
  if (to->keeps_nan()) return to->Give(Bounded(to->Read(0), low, high, to));
  Unary(to);
}

void HardSigmoid(NodeLowering* to) {
  const GraphNode& node = to->node();
  const GivenOperand x = to->Operand(size_t{0});
  const Value line =
      to->Run(MakeEltwise(x, "linear", node.Number("alpha", 0.2), node.Number("beta", 0.5), {}));
  to->Give(Bounded(line, 0, 1, to));
}

void Binary(NodeLowering* to, const char* kind) {
  const GivenOperand a = to->Operand(size_t{0});
  const GivenOperand b = to->Operand(size_t{1});
  to->Give(to->Run(MakeBinary(a, b, kind, to->Followers())));
}

void Add(NodeLowering* to) { Binary(to, "add"); }
void Subtract(NodeLowering* to) { Binary(to, "sub"); }
void Multiply(NodeLowering* to) { Binary(to, "mul"); }
void Divide(NodeLowering* to) { Binary(to, "div"); }

void Sum(NodeLowering* to) {
  Value sum = to->Read(0);
  for (size_t i = 1; i < to->node().inputs.size(); ++i) {
    const GivenOperand before = to->Operand(sum);
    sum = to->Run(MakeBinary(before, to->Operand(i), "add", {}));
  }
  to->Give(sum);
}

void Prelu(NodeLowering* to) {
  const GivenOperand x = to->Operand(size_t{0});
  to->Give(to->Run(MakePrelu(x, to->Operand(size_t{1}))));
}

constexpr Rule kRules[] = {
    {"Abs", 6, Unary},        {"Add", 7, Add},
    {"Clip", 6, Clip},        {"Div", 7, Divide},
    {"Elu", 6, Unary},        {"Exp", 6, Exp},
    {"Gelu", 20, Unary},      {"HardSigmoid", 6, HardSigmoid},
    {"HardSwish", 14, Unary}, {"LeakyRelu", 6, Unary},
    {"Mish", 18, Unary},      {"Mul", 7, Multiply},
    {"Neg", 6, Unary},        {"PRelu", 9, Prelu},
    {"Reciprocal", 6, Unary}, {"Relu", 6, Unary},
    {"Sigmoid", 6, Unary},    {"Sqrt", 6, Unary},
    {"Sub", 7, Subtract},     {"Sum", 8, Sum},
    {"Swish", 24, Unary},     {"Tanh", 6, Unary},
};

}  // namespace

std::optional<PostOp> ElementPostOp(const NodeLowering& to, const GraphNode& node) {
  const std::string& op = node.op;
  if (node.version < 6) return std::nullopt;
  if (op == "Relu") return to.keeps_nan() ? Alone("elu", 0.0) : Alone("relu");
  if (op == "Clip" && !to.keeps_nan()) {
    const auto [low, high] = BoundsOf(to, node);
    if (low <= high) return Alone("clip", low, high);
  }
  if (op == "LeakyRelu") {
    const double alpha = node.Number("alpha", 0.01);
    return alpha == 0 ? Alone("elu", 0.0) : Alone("leaky_relu", alpha);
  }
  if (op == "Elu") return Alone("elu", node.Number("alpha", 1));
  if (op == "Abs") return Alone("abs");
  if (op == "HardSwish") return Alone("hardswish");
  if (op == "Mish") return Alone("mish");
  if (op == "Neg") return Alone("linear", -1.0, 0.0);
  if (op == "Reciprocal") return Alone("pow", 1.0, -1.0);
  if (op == "Sigmoid") return Alone("sigmoid");
  if (op == "Sqrt") return Alone("sqrt");
  if (op == "Swish") return Alone("swish", node.Number("alpha", 1));
  if (op == "Tanh") return Alone("tanh");
  if (op == "Gelu") {
    const auto* approximate = node.Find("approximate");
    const bool is_tanh = approximate != nullptr && approximate->text == "tanh";
    return Alone(is_tanh ? "gelu_tanh" : "gelu_erf");
  }
  return std::nullopt;
}

Rules ElementRules() { return {kRules, std::size(kRules)}; }

}  // namespace onednn
