/*!
 * \file elementwise.cc
 * \brief Operators that compute each element from one of each input.
 */
#include <cmath>
#include <utility>

#include "node_steps.h"

namespace mxacc {
namespace {

using Names = std::initializer_list<std::pair<const char*, const char*>>;

void IsInf(NodeSteps& at) {
  const Value x = at.Input(0);
  const Value infinite = at.Compare("equal", at.Unary("absolute", x), HUGE_VAL);
  const bool positive = at.node().Integer("detect_positive", 1) != 0;
  const bool negative = at.node().Integer("detect_negative", 1) != 0;
  if (positive && negative) return at.Give(infinite);
  if (!positive && !negative) at.Decline("of no infinity");
  at.Give(at.Compare("equal", x, positive ? HUGE_VAL : -HUGE_VAL));
}

void Power(NodeSteps& at) {
  const Value base = at.Input(0);
  const Value exponent = at.Input(1);
  if (!IsFloatType(base.dtype) && IsFloatType(exponent.dtype)) {
    at.Decline("of an integer to a float");
  }
  at.Give(at.Binary("power", base, at.Cast(exponent, base.dtype)));
}

void Divide(NodeSteps& at) {
  const Value a = at.Input(0);
  if (a.dtype.code == kMXAccInt) at.Decline("of signed integers, which rounds towards 0");
  at.Give(at.Binary(IsFloatType(a.dtype) ? "divide" : "floor_divide", a, at.Input(1)));
}

void Modulo(NodeSteps& at) {
  const bool is_signed = at.Input(0).dtype.code != kMXAccUInt;
  if (is_signed && at.node().Integer("fmod", 0) != 0) at.Decline("with the sign of the dividend");
  at.Give(at.Binary("remainder", at.Input(0), at.Input(1)));
}

void BitShift(NodeSteps& at) {
  const bool left = at.Text("direction", "LEFT") == "LEFT";
  at.Give(at.Binary(left ? "left_shift" : "right_shift", at.Input(0), at.Input(1)));
}

/*! \brief Of any number of inputs, two at a time. */
Value Joined(NodeSteps& at, const char* function) {
  Value all = at.Input(0);
  for (size_t i = 1; i < at.num_inputs(); ++i) all = at.Binary(function, all, at.Input(i));
  return all;
}

void Mean(NodeSteps& at) {
  at.NeedFloats();
  const auto count = static_cast<double>(at.num_inputs());
  at.Give(at.Binary("divide", Joined(at, "add"), count));
}

void Clip(NodeSteps& at) {
  const Value x = at.Input(0);
  std::vector<Argument> inputs{{"a", x}};
  std::vector<Attribute> attributes;
  const char* const limits[] = {"a_min", "a_max"};
  const char* const names[] = {"min", "max"};
  for (size_t i = 0; i < 2; ++i) {
    if (at.Has(i + 1)) {
      inputs.push_back({limits[i], at.Input(i + 1)});
    } else if (at.node().Find(names[i]) != nullptr) {
      attributes.push_back(Attribute::Number(limits[i], at.node().Number(names[i], 0)));
    } else {
      attributes.push_back(Attribute::None(limits[i]));
    }
  }
  at.Give(at.Call("clip", inputs, attributes, x.dtype, x.shape));
}

}  // namespace

void AddElementwiseRules(Rules* to) {
  Rules& rules = *to;
  const Names floats = {{"Exp", "exp"},          {"Log", "log"},       {"Sqrt", "sqrt"},
                        {"Sin", "sin"},          {"Cos", "cos"},       {"Tan", "tan"},
                        {"Asin", "arcsin"},      {"Acos", "arccos"},   {"Atan", "arctan"},
                        {"Sinh", "sinh"},        {"Cosh", "cosh"},     {"Tanh", "tanh"},
                        {"Asinh", "arcsinh"},    {"Acosh", "arccosh"}, {"Atanh", "arctanh"},
                        {"Sigmoid", "sigmoid"},  {"Erf", "erf"},       {"Round", "rint"},
                        {"Ceil", "ceil"},        {"Floor", "floor"},   {"Reciprocal", "reciprocal"},
                        {"Softsign", "softsign"}};
  for (const auto& [onnx, name] : floats) {
    rules[onnx] = [function = name](NodeSteps& at) {
      at.NeedFloats();
      at.Give(at.Unary(function, at.Input(0)));
    };
  }
  const Names numbers = {{"Neg", "negative"}, {"Abs", "absolute"},      {"Relu", "relu"},
                         {"Sign", "sign"},    {"BitwiseNot", "invert"}, {"Not", "logical_not"}};
  for (const auto& [onnx, name] : numbers) {
    rules[onnx] = [function = name](NodeSteps& at) { at.Give(at.Unary(function, at.Input(0))); };
  }
  const Names pairs = {{"Add", "add"},
                       {"Sub", "subtract"},
                       {"Mul", "multiply"},
                       {"BitwiseAnd", "bitwise_and"},
                       {"BitwiseOr", "bitwise_or"},
                       {"BitwiseXor", "bitwise_xor"},
                       {"And", "logical_and"},
                       {"Or", "logical_or"},
                       {"Xor", "logical_xor"}};
  for (const auto& [onnx, name] : pairs) {
    rules[onnx] = [function = name](NodeSteps& at) {
      at.Give(at.Binary(function, at.Input(0), at.Input(1)));
    };
  }
  const Names comparisons = {{"Equal", "equal"},
                             {"Less", "less"},
                             {"Greater", "greater"},
                             {"LessOrEqual", "less_equal"},
                             {"GreaterOrEqual", "greater_equal"}};
  for (const auto& [onnx, name] : comparisons) {
    rules[onnx] = [function = name](NodeSteps& at) {
      at.Give(at.Compare(function, at.Input(0), at.Input(1)));
    };
  }
  const Names several = {{"Max", "maximum"}, {"Min", "minimum"}, {"Sum", "add"}};
  for (const auto& [onnx, name] : several) {
    rules[onnx] = [function = name](NodeSteps& at) { at.Give(Joined(at, function)); };
  }
  rules["IsNaN"] = [](NodeSteps& at) {
    const Value x = at.Input(0);
    at.Give(at.Call("isnan", {{"x", x}}, {}, at.output().dtype, x.shape));
  };
  rules["IsInf"] = IsInf;
  rules["Pow"] = Power;
  rules["Div"] = Divide;
  rules["Mod"] = Modulo;
  rules["BitShift"] = BitShift;
  rules["Mean"] = Mean;
  rules["Clip"] = Clip;
  rules["Where"] = [](NodeSteps& at) { at.Give(at.Where(at.Input(0), at.Input(1), at.Input(2))); };
  for (const char* onnx : {"Cast", "CastLike"}) {
    rules[onnx] = [](NodeSteps& at) { at.Give(at.Cast(at.Input(0), at.output().dtype)); };
  }
}

}  // namespace mxacc
