/*!
 * \file elementwise.cc
 * \brief Operators of single elements.
 *
 * oneDNN's maximum and minimum give the second operand where either is NaN, and its exp and relu
 * give a number for NaN. Where one pass can put the NaN back, that is done: exp(x) is at least x,
 * so that max(exp(x), x) changes nothing but NaN.
 */
#include <cmath>
#include <cstring>
#include <limits>

#include "operators.h"
#include "passes.h"

namespace onednn {
namespace {

/*! \brief An array, or a Python number. */
struct Operand {
  bool is_array;
  Array array;
  double number;
};

Operand OperandOf(const MXAccOperator& op, const char* name) {
  for (int32_t i = 0; i < op.num_in; ++i) {
    if (op.inputs[i].name != nullptr && std::strcmp(op.inputs[i].name, name) == 0) {
      return {true, InputOf(op, i), 0};
    }
  }
  const std::optional<AttributeValue> value = FindAttribute(op, name);
  if (!value) throw Failure(kMXAccBadArgument, std::string(op.name) + " without " + name);
  return {false, {}, NumberOf(*value, name)};
}

/*! \brief The number as the array's type has it. */
float RoundedLike(const Array& array, double number) {
  const float rounded = Plan::Rounded(array.dtype, number);
  if (std::isinf(rounded) && !std::isinf(number)) Unsupported("a number beyond the array's type");
  return rounded;
}

/*! \brief The operands of a binary operator as arrays that broadcast to the output. */
struct Operands {
  Operands(const MXAccOperator& op, Plan* plan)
      : x1(OperandOf(op, "x1")), x2(OperandOf(op, "x2")), out(TheOutput(op)) {
    if (!x1.is_array && !x2.is_array) Unsupported("numbers alone");
    for (Operand* operand : {&x1, &x2}) {
      if (operand->is_array) {
        CheckFloat(operand->array);
        operand->array = Broadcast(operand->array, out.shape);
      }
    }
    for (Operand* operand : {&x1, &x2}) {
      if (operand->is_array) continue;
      const Array& other = operand == &x1 ? x2.array : x1.array;
      operand->number = RoundedLike(other, operand->number);
      operand->array = plan->Constant(other.dtype, operand->number, out.shape);
    }
  }

  MXAccDataType dtype() const { return Promoted(x1.array.dtype, x2.array.dtype); }

  Operand x1;
  Operand x2;
  Array out;
};

void CheckType(const Array& out, MXAccDataType dtype) {
  if (!SameType(out.dtype, dtype)) Unsupported("an output of another type than the result's");
}

/* ---- binary ---- */

void AddArithmetic(algorithm alg, const MXAccOperator& op, Plan* plan) {
  const Operands operands(op, plan);
  CheckType(operands.out, operands.dtype());
  const Array& x2 = operands.x2.array;
  if (!operands.x1.is_array && alg == algorithm::binary_sub) {
    const auto number = static_cast<float>(operands.x1.number);
    return AddUnaryPass(algorithm::eltwise_linear, -1, number, x2, operands.out, plan);
  }
  if (!operands.x1.is_array && alg == algorithm::binary_div) {
    const auto number = static_cast<float>(operands.x1.number);
    return AddUnaryPass(algorithm::eltwise_pow, number, -1, x2, operands.out, plan);
  }
  AddBinaryPass({alg, {}}, operands.x1.array, x2, operands.out, plan);
}

void AddAdd(const MXAccOperator& op, Plan* plan) { AddArithmetic(algorithm::binary_add, op, plan); }
void AddSubtract(const MXAccOperator& op, Plan* plan) {
  AddArithmetic(algorithm::binary_sub, op, plan);
}
void AddMultiply(const MXAccOperator& op, Plan* plan) {
  AddArithmetic(algorithm::binary_mul, op, plan);
}
void AddDivide(const MXAccOperator& op, Plan* plan) {
  AddArithmetic(algorithm::binary_div, op, plan);
}

void AddComparison(algorithm alg, bool swapped, const MXAccOperator& op, Plan* plan) {
  const Operands operands(op, plan);
  CheckType(operands.out, MXAccDataType{kMXAccBool, 8, 1});
  const Array& x1 = operands.x1.array;
  const Array& x2 = operands.x2.array;
  AddBinaryPass({alg, {}}, swapped ? x2 : x1, swapped ? x1 : x2, operands.out, plan);
}

void AddEqual(const MXAccOperator& op, Plan* plan) {
  AddComparison(algorithm::binary_eq, false, op, plan);
}
void AddNotEqual(const MXAccOperator& op, Plan* plan) {
  AddComparison(algorithm::binary_ne, false, op, plan);
}
void AddLess(const MXAccOperator& op, Plan* plan) {
  AddComparison(algorithm::binary_lt, false, op, plan);
}
void AddLessEqual(const MXAccOperator& op, Plan* plan) {
  AddComparison(algorithm::binary_le, false, op, plan);
}
// binary_gt and binary_ge of oneDNN are true for NaN: less and less_equal with swapped operands are
// used.
void AddGreater(const MXAccOperator& op, Plan* plan) {
  AddComparison(algorithm::binary_lt, true, op, plan);
}
void AddGreaterEqual(const MXAccOperator& op, Plan* plan) {
  AddComparison(algorithm::binary_le, true, op, plan);
}

/*! \brief With keeps_nan, NaN where x is; else the number there. */
void AddExtremum(algorithm alg, bool keeps_nan, const MXAccOperator& op, Plan* plan) {
  const Operands operands(op, plan);
  CheckType(operands.out, operands.dtype());
  if (operands.x1.is_array && operands.x2.is_array) {
    if (!keeps_nan) Unsupported("two arrays: of a number and NaN oneDNN takes the second");
    // The second operand gets NaN where the first has it, by adding 0 * 1 / (x1 == x1).
    const Array second = plan->Scratch(operands.dtype(), operands.out.shape);
    const Pass mark{algorithm::binary_eq,
                    {{algorithm::eltwise_pow, false, 1, -1}, {algorithm::eltwise_linear, false}}};
    AddBinaryPass(mark, operands.x1.array, operands.x1.array, second, plan);
    AddBinaryPass({algorithm::binary_add, {}}, second, operands.x2.array, second, plan);
    return AddBinaryPass({alg, {}}, operands.x1.array, second, operands.out, plan);
  }
  const Operand& x = operands.x1.is_array ? operands.x1 : operands.x2;
  const Operand& number = operands.x1.is_array ? operands.x2 : operands.x1;
  if (std::isnan(number.number)) Unsupported("NaN as a number");
  Pass pass{alg, {}};
  if (keeps_nan) pass.posts.push_back({alg, true});
  AddBinaryPass(pass, x.array, number.array, operands.out, plan);
}

void AddMaximum(const MXAccOperator& op, Plan* plan) {
  AddExtremum(algorithm::binary_max, true, op, plan);
}
void AddMinimum(const MXAccOperator& op, Plan* plan) {
  AddExtremum(algorithm::binary_min, true, op, plan);
}
void AddFmax(const MXAccOperator& op, Plan* plan) {
  AddExtremum(algorithm::binary_max, false, op, plan);
}
void AddFmin(const MXAccOperator& op, Plan* plan) {
  AddExtremum(algorithm::binary_min, false, op, plan);
}

void AddPower(const MXAccOperator& op, Plan* plan) {
  const Operands operands(op, plan);
  CheckType(operands.out, operands.dtype());
  const Array& x = operands.x1.array;
  if (operands.x1.is_array && !operands.x2.is_array && operands.x2.number == 2) {
    return AddBinaryPass({algorithm::binary_mul, {}}, x, x, operands.out, plan);
  }
  if (operands.x1.is_array && !operands.x2.is_array && operands.x2.number == -1) {
    return AddUnaryPass(algorithm::eltwise_pow, 1, -1, x, operands.out, plan);
  }
  Unsupported("other exponents than 2 and -1");
}

/* ---- unary ---- */

struct Unary {
  Unary(const MXAccOperator& op, MXAccDataType* result) : x(OperandOf(op, "x").array) {
    if (op.num_in != 1) Unsupported("numbers alone");
    CheckFloat(x);
    out = TheOutput(op);
    x = Broadcast(x, out.shape);
    CheckType(out, result != nullptr ? *result : x.dtype);
  }

  Array x;
  Array out;
};

template <algorithm kAlgorithm>
void AddUnary(const MXAccOperator& op, Plan* plan) {
  const Unary unary(op, nullptr);
  AddUnaryPass(kAlgorithm, 0, 0, unary.x, unary.out, plan);
}

void AddReciprocal(const MXAccOperator& op, Plan* plan) {
  const Unary unary(op, nullptr);
  AddUnaryPass(algorithm::eltwise_pow, 1, -1, unary.x, unary.out, plan);
}

void AddNegative(const MXAccOperator& op, Plan* plan) {
  const Unary unary(op, nullptr);
  const Array minus = plan->Constant(unary.x.dtype, -1, unary.out.shape);
  AddBinaryPass({algorithm::binary_mul, {}}, unary.x, minus, unary.out, plan);
}

void AddSquare(const MXAccOperator& op, Plan* plan) {
  const Unary unary(op, nullptr);
  AddBinaryPass({algorithm::binary_mul, {}}, unary.x, unary.x, unary.out, plan);
}

void AddExp(const MXAccOperator& op, Plan* plan) {
  const Unary unary(op, nullptr);
  const Pass pass{algorithm::binary_max,
                  {{algorithm::eltwise_exp, false}, {algorithm::binary_max, true}}};
  AddBinaryPass(pass, unary.x, unary.x, unary.out, plan);
}

void AddLog(const MXAccOperator& op, Plan* plan) {
  const Unary unary(op, nullptr);
  if (unary.x.dtype.code != kMXAccFloat || unary.x.dtype.bits != 16) {
    Unsupported("oneDNN's logarithm is wrong for numbers below 1.2e-38, which only float16 lacks");
  }
  AddUnaryPass(algorithm::eltwise_log, 0, 0, unary.x, unary.out, plan);
}

void AddRelu(const MXAccOperator& op, Plan* plan) {
  const Unary unary(op, nullptr);
  const Array zero = plan->Constant(unary.x.dtype, 0, unary.out.shape);
  const Pass pass{algorithm::binary_max, {{algorithm::binary_max, true}}};
  AddBinaryPass(pass, unary.x, zero, unary.out, plan);
}

void AddIsNan(const MXAccOperator& op, Plan* plan) {
  MXAccDataType result{kMXAccBool, 8, 1};
  const Unary unary(op, &result);
  AddBinaryPass({algorithm::binary_ne, {}}, unary.x, unary.x, unary.out, plan);
}

void AddLogicalNot(const MXAccOperator& op, Plan* plan) {
  MXAccDataType result{kMXAccBool, 8, 1};
  const Unary unary(op, &result);
  const Array zero = plan->Constant(unary.x.dtype, 0, unary.out.shape);
  AddBinaryPass({algorithm::binary_eq, {}}, unary.x, zero, unary.out, plan);
}

constexpr Entry kEntries[] = {
    {"absolute", AddUnary<algorithm::eltwise_abs>},
    {"add", AddAdd},
    {"divide", AddDivide},
    {"equal", AddEqual},
    {"exp", AddExp},
    {"fmax", AddFmax},
    {"fmin", AddFmin},
    {"greater", AddGreater},
    {"greater_equal", AddGreaterEqual},
    {"isnan", AddIsNan},
    {"less", AddLess},
    {"less_equal", AddLessEqual},
    {"log", AddLog},
    {"logical_not", AddLogicalNot},
    {"maximum", AddMaximum},
    {"minimum", AddMinimum},
    {"multiply", AddMultiply},
    {"negative", AddNegative},
    {"not_equal", AddNotEqual},
    {"power", AddPower},
    {"reciprocal", AddReciprocal},
    {"relu", AddRelu},
    {"rint", AddUnary<algorithm::eltwise_round>},
    {"sigmoid", AddUnary<algorithm::eltwise_logistic>},
    {"sqrt", AddUnary<algorithm::eltwise_sqrt>},
    {"square", AddSquare},
    {"subtract", AddSubtract},
    {"tanh", AddUnary<algorithm::eltwise_tanh>},
};

}  // namespace

Family Elementwise() { return {kEntries, std::size(kEntries), kMXAccInPlace, ElementsOf}; }

}  // namespace onednn
