/*!
 * \file activations.cc
 * \brief Activations, composed of elementwise operators.
 */
#include "node_steps.h"

namespace mxacc {
namespace {

/*! \brief x where it is above 0, and otherwise what is made of it. */
Value OrBelow(NodeSteps& at, const Value& x, const Value& below) {
  return at.Where(at.Compare("less", x, 0.0), below, x);
}

/*! \brief alpha * (exp(x) - 1). */
Value Exponential(NodeSteps& at, const Value& x, double alpha) {
  return at.Binary("multiply", at.Unary("expm1", x), alpha);
}

Value Between(NodeSteps& at, const Value& x, double low, double high) {
  return at.Call("clip", {{"a", x}},
                 {Attribute::Number("a_min", low), Attribute::Number("a_max", high)}, x.dtype,
                 x.shape);
}

/*! \brief A line through 0 and 1, cut there. */
Value HardSigmoid(NodeSteps& at, const Value& x, double alpha, double beta) {
  return Between(at, at.Binary("add", at.Binary("multiply", x, alpha), beta), 0, 1);
}

Value Softplus(NodeSteps& at, const Value& x) { return at.Binary("logaddexp", x, 0.0); }

Value Gelu(NodeSteps& at, const Value& x) {
  Value inside = x;
  const char* function = "erf";
  if (at.Text("approximate", "none") == "tanh") {
    function = "tanh";
    const Value cube = at.Binary("multiply", at.Unary("square", x), x);
    inside = at.Binary("add", x, at.Binary("multiply", cube, 0.044715));
    inside = at.Binary("multiply", inside, 0.7978845608028654);  // the root of 2 / pi
  } else {
    inside = at.Binary("multiply", inside, 0.7071067811865476);  // the root of 1 / 2
  }
  const Value share = at.Binary("add", at.Unary(function, inside), 1.0);
  return at.Binary("multiply", at.Binary("multiply", x, 0.5), share);
}

Value Shrink(NodeSteps& at, const Value& x) {
  const double limit = at.node().Number("lambd", 0.5);
  const double bias = at.node().Number("bias", 0);
  const Value below = at.Where(at.Compare("less", x, -limit), at.Binary("add", x, bias), 0.0);
  return at.Where(at.Compare("greater", x, limit), at.Binary("subtract", x, bias), below);
}

}  // namespace

void AddActivationRules(Rules* rules) {
  const auto add = [&](const char* onnx, auto made) {
    (*rules)[onnx] = [made](NodeSteps& at) {
      at.NeedFloats();
      at.Give(made(at, at.Input(0)));
    };
  };
  const auto alpha_of = [](NodeSteps& at, double otherwise) {
    return at.node().Number("alpha", otherwise);
  };
  add("LeakyRelu", [=](NodeSteps& at, const Value& x) {
    return OrBelow(at, x, at.Binary("multiply", x, alpha_of(at, 0.01)));
  });
  add("PRelu", [](NodeSteps& at, const Value& x) {
    return OrBelow(at, x, at.Binary("multiply", x, at.Input(1)));
  });
  add("Elu", [=](NodeSteps& at, const Value& x) {
    return OrBelow(at, x, Exponential(at, x, alpha_of(at, 1)));
  });
  add("Celu", [=](NodeSteps& at, const Value& x) {
    const double alpha = alpha_of(at, 1);
    return OrBelow(at, x, Exponential(at, at.Binary("divide", x, alpha), alpha));
  });
  add("Selu", [=](NodeSteps& at, const Value& x) {
    const Value whole = OrBelow(at, x, Exponential(at, x, alpha_of(at, 1.6732632423543772)));
    return at.Binary("multiply", whole, at.node().Number("gamma", 1.0507009873554805));
  });
  add("ThresholdedRelu", [=](NodeSteps& at, const Value& x) {
    return at.Where(at.Compare("greater", x, alpha_of(at, 1)), x, 0.0);
  });
  add("HardSigmoid", [=](NodeSteps& at, const Value& x) {
    return HardSigmoid(at, x, alpha_of(at, 0.2), at.node().Number("beta", 0.5));
  });
  add("HardSwish", [](NodeSteps& at, const Value& x) {
    return at.Binary("multiply", x, HardSigmoid(at, x, 1.0 / 6, 0.5));
  });
  add("Swish", [=](NodeSteps& at, const Value& x) {
    const Value scaled = at.Binary("multiply", x, alpha_of(at, 1));
    return at.Binary("multiply", x, at.Unary("sigmoid", scaled));
  });
  add("Mish", [](NodeSteps& at, const Value& x) {
    return at.Binary("multiply", x, at.Unary("tanh", Softplus(at, x)));
  });
  add("Softplus", Softplus);
  add("Gelu", Gelu);
  add("Shrink", Shrink);
}

}  // namespace mxacc
