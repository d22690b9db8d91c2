/*!
 * \file formulas.cc
 * \brief The elementwise operators: their types and their formulas, which are those of the CPU.
 */
#include <cstring>

#include "elementwise.h"

namespace opencl {
namespace {

/*! \brief What the operands are converted to. */
enum class Rule {
  kCommon,       /*!< their common type */
  kCommonNoBool, /*!< the same, int8 for bool */
  kTrueDivide,   /*!< the same, float64 for bool and integers */
  kFloat,        /*!< the smallest float that holds each */
  kBool,
  kCompare /*!< their common type, if it compares by value */
};

/*! \brief An operator; a formula is NULL where it does not have elements of that class. */
struct Entry {
  const char* name;
  Rule rule;
  const char* on_bool;
  const char* on_int;
  const char* on_float;
  bool gives_bool = false;
  const char* helper = "";
};

constexpr Entry kUnary[] = {
    {"absolute", Rule::kCommon, "a", "a < 0 ? (C)((W)0 - (W)a) : a", "fabs(a)"},
    {"arccos", Rule::kFloat, nullptr, nullptr, "acos(a)"},
    {"arccosh", Rule::kFloat, nullptr, nullptr, "acosh(a)"},
    {"arcsin", Rule::kFloat, nullptr, nullptr, "asin(a)"},
    {"arcsinh", Rule::kFloat, nullptr, nullptr, "asinh(a)"},
    {"arctan", Rule::kFloat, nullptr, nullptr, "atan(a)"},
    {"arctanh", Rule::kFloat, nullptr, nullptr, "atanh(a)"},
    {"cbrt", Rule::kFloat, nullptr, nullptr, "cbrt(a)"},
    {"ceil", Rule::kCommon, "a", "a", "ceil(a)"},
    {"conjugate", Rule::kCommonNoBool, nullptr, "a", "a"},
    {"copy", Rule::kCommon, "a", "a", "a"},
    {"cos", Rule::kFloat, nullptr, nullptr, "cos(a)"},
    {"cosh", Rule::kFloat, nullptr, nullptr, "cosh(a)"},
    {"exp", Rule::kFloat, nullptr, nullptr, "exp(a)"},
    {"exp2", Rule::kFloat, nullptr, nullptr, "exp2(a)"},
    {"expm1", Rule::kFloat, nullptr, nullptr, "expm1(a)"},
    {"floor", Rule::kCommon, "a", "a", "floor(a)"},
    {"invert", Rule::kCommon, "!a", "(C)~a", nullptr},
    {"isfinite", Rule::kCommon, "1", "1", "isfinite(a)", true},
    {"isinf", Rule::kCommon, "0", "0", "isinf(a)", true},
    {"isnan", Rule::kCommon, "0", "0", "isnan(a)", true},
    {"log", Rule::kFloat, nullptr, nullptr, "log(a)"},
    {"log10", Rule::kFloat, nullptr, nullptr, "log10(a)"},
    {"log1p", Rule::kFloat, nullptr, nullptr, "log1p(a)"},
    {"log2", Rule::kFloat, nullptr, nullptr, "log2(a)"},
    {"logical_not", Rule::kCommon, "!a", "a == 0", "a == 0", true},
    {"negative", Rule::kCommon, nullptr, "(C)((W)0 - (W)a)", "-a"},
    {"positive", Rule::kCommon, nullptr, "a", "a"},
    {"reciprocal", Rule::kCommonNoBool, nullptr, "a == 0 ? (C)0 : (C)(1 / a)", "(C)1 / a"},
    {"relu", Rule::kCommon, nullptr, "a < 0 ? (C)0 : a", "a < 0 ? (C)0 : a"},
    {"rint", Rule::kFloat, nullptr, nullptr, "rint(a)"},
    {"sigmoid", Rule::kFloat, nullptr, nullptr, "(C)1 / ((C)1 + exp(-a))"},
    {"sign", Rule::kCommon, nullptr, "(C)(a > 0 ? 1 : a < 0 ? -1 : 0)",
     "a > 0 ? (C)1 : a < 0 ? (C)-1 : a == 0 ? (C)0 : a"},
    {"sin", Rule::kFloat, nullptr, nullptr, "sin(a)"},
    {"sinh", Rule::kFloat, nullptr, nullptr, "sinh(a)"},
    {"softsign", Rule::kFloat, nullptr, nullptr, "a / ((C)1 + fabs(a))"},
    {"sqrt", Rule::kFloat, nullptr, nullptr, "sqrt(a)"},
    {"square", Rule::kCommonNoBool, nullptr, "(C)((W)a * (W)a)", "a * a"},
    {"tan", Rule::kFloat, nullptr, nullptr, "tan(a)"},
    {"tanh", Rule::kFloat, nullptr, nullptr, "tanh(a)"},
    {"trunc", Rule::kCommon, "a", "a", "trunc(a)"},
};

constexpr char kFloorDivideInt[] = R"(
C floor_divide(C a, C b) {
  if (b == 0) return 0;
  if ((C)-1 < 0 && b == (C)-1) return (C)((W)0 - (W)a);
  const C quotient = (C)(a / b);
  return (C)(quotient - (a % b != 0 && (a < 0) != (b < 0)));
}
)";
constexpr char kModInt[] = R"(
C mod(C a, C b) {
  if (b == 0 || ((C)-1 < 0 && b == (C)-1)) return 0;
  const C rest = (C)(a % b);
  return rest != 0 && (rest < 0) != (b < 0) ? (C)(rest + b) : rest;
}
)";
constexpr char kFloorDivideFloat[] = R"(
C floor_divide(C a, C b) {
  if (b == 0) return a / b;
  const C rest = fmod(a, b);
  C quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= (C)1;
  if (quotient == 0) return copysign((C)0, a / b);
  const C whole = floor(quotient);
  return quotient - whole > (C)0.5f ? whole + (C)1 : whole;
}
)";
constexpr char kModFloat[] = R"(
C mod(C a, C b) {
  const C rest = fmod(a, b);
  if (b == 0) return rest;
  if (rest == 0) return copysign((C)0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}
)";
constexpr char kPowerInt[] = R"(
C int_power(C a, C b) {
  W base = (W)a;
  W result = 1;
  for (U left = (U)b; left != 0; left >>= 1) {
    if (left & 1) result *= base;
    base *= base;
  }
  return (C)result;
}
)";
constexpr char kLogAddExp[] = R"(
C log_add_exp(C a, C b) {
  if (a == b) return a + log((C)2);
  const C difference = a - b;
  if (difference > 0) return a + log1p(exp(-difference));
  return difference <= 0 ? b + log1p(exp(difference)) : difference;
}
)";

constexpr Entry kBinary[] = {
    {"add", Rule::kCommon, "a | b", "(C)((W)a + (W)b)", "a + b"},
    {"arctan2", Rule::kFloat, nullptr, nullptr, "atan2(a, b)"},
    {"bitwise_and", Rule::kCommon, "a & b", "(C)(a & b)", nullptr},
    {"bitwise_or", Rule::kCommon, "a | b", "(C)(a | b)", nullptr},
    {"bitwise_xor", Rule::kCommon, "a ^ b", "(C)(a ^ b)", nullptr},
    {"copysign", Rule::kFloat, nullptr, nullptr, "copysign(a, b)"},
    {"divide", Rule::kTrueDivide, nullptr, nullptr, "a / b"},
    {"equal", Rule::kCompare, "a == b", "a == b", "a == b", true},
    {"floor_divide", Rule::kCommonNoBool, nullptr, "floor_divide(a, b)", nullptr, false,
     kFloorDivideInt},
    {"floor_divide", Rule::kCommonNoBool, nullptr, nullptr, "floor_divide(a, b)", false,
     kFloorDivideFloat},
    {"fmax", Rule::kCommon, "a | b", "a >= b ? a : b", "isnan(b) || a >= b ? a : b"},
    {"fmin", Rule::kCommon, "a & b", "a <= b ? a : b", "isnan(b) || a <= b ? a : b"},
    {"greater", Rule::kCompare, "a > b", "a > b", "a > b", true},
    {"greater_equal", Rule::kCompare, "a >= b", "a >= b", "a >= b", true},
    {"hypot", Rule::kFloat, nullptr, nullptr, "hypot(a, b)"},
    {"left_shift", Rule::kCommonNoBool, nullptr, "(U)b >= BITS ? (C)0 : (C)((W)a << b)", nullptr},
    {"less", Rule::kCompare, "a < b", "a < b", "a < b", true},
    {"less_equal", Rule::kCompare, "a <= b", "a <= b", "a <= b", true},
    {"logaddexp", Rule::kFloat, nullptr, nullptr, "log_add_exp(a, b)", false, kLogAddExp},
    {"logical_and", Rule::kBool, "a & b", nullptr, nullptr},
    {"logical_or", Rule::kBool, "a | b", nullptr, nullptr},
    {"logical_xor", Rule::kBool, "a ^ b", nullptr, nullptr},
    {"maximum", Rule::kCommon, "a | b", "a >= b ? a : b", "isnan(a) || a >= b ? a : b"},
    {"minimum", Rule::kCommon, "a & b", "a <= b ? a : b", "isnan(a) || a <= b ? a : b"},
    {"multiply", Rule::kCommon, "a & b", "(C)((W)a * (W)b)", "a * b"},
    {"not_equal", Rule::kCompare, "a != b", "a != b", "a != b", true},
    {"power", Rule::kCommonNoBool, nullptr, "int_power(a, b)", nullptr, false, kPowerInt},
    {"power", Rule::kCommonNoBool, nullptr, nullptr, "pow(a, b)"},
    {"remainder", Rule::kCommonNoBool, nullptr, "mod(a, b)", nullptr, false, kModInt},
    {"remainder", Rule::kCommonNoBool, nullptr, nullptr, "mod(a, b)", false, kModFloat},
    {"right_shift", Rule::kCommonNoBool, nullptr,
     "(U)b >= BITS ? (C)(a < 0 ? -1 : 0) : (C)(a >> b)", nullptr},
    {"subtract", Rule::kCommon, nullptr, "(C)((W)a - (W)b)", "a - b"},
};

const char* TextFor(const Entry& entry, DType dtype) {
  switch (ClassOf(dtype)) {
    case Class::kBool:
      return entry.on_bool;
    case Class::kFloat:
      return entry.on_float;
    default:
      return entry.on_int;
  }
}

bool IsNamed(const Entry& entry, const std::string& name) { return name == entry.name; }

DType CommonOf(const Operand& a, const Operand& b) {
  if (a.input == nullptr) return PromoteWeak(b.dtype, a.number.kind);
  if (b.input == nullptr) return PromoteWeak(a.dtype, b.number.kind);
  return Promote(a.dtype, b.dtype);
}

/*! \brief The type of the smallest floats, by the rules that bfloat16 and numbers have. */
DType FloatOfBoth(const Operand& a, const Operand& b) {
  const bool both = a.input != nullptr && b.input != nullptr;
  if (both && a.dtype != DType::kBFloat16 && b.dtype != DType::kBFloat16) {
    return Promote(FloatOf(a.dtype), FloatOf(b.dtype));
  }
  return FloatOf(CommonOf(a, b));
}

DType LoopType(Rule rule, DType common) {
  if (rule == Rule::kBool) return DType::kBool;
  if (rule == Rule::kFloat) return FloatOf(common);
  if (rule == Rule::kCommonNoBool && common == DType::kBool) return DType::kInt8;
  if (rule == Rule::kTrueDivide && !IsFloat(common)) return DType::kFloat64;
  return common;
}

template <size_t kSize>
std::unique_ptr<Work> MakeOf(const Entry (&table)[kSize], const Request& request,
                             const std::vector<Operand>& operands, DType common) {
  for (const Entry& entry : table) {
    if (!IsNamed(entry, request.name())) continue;
    const DType dtype = entry.rule == Rule::kFloat && operands.size() == 2
                            ? FloatOfBoth(operands[0], operands[1])
                            : LoopType(entry.rule, common);
    const char* text = TextFor(entry, dtype);
    if (text == nullptr) continue;
    const DType result = entry.gives_bool ? DType::kBool : dtype;
    return MakeFormula(request, operands,
                       {text, entry.helper, std::vector<DType>(operands.size(), dtype), result});
  }
  Unsupported(request.name() + " of " + NameOf(common));
}

/*! \brief What the CPU says of the elements it has to find out, and what it compares by value. */
void CheckBinary(const Request& request, const Operand& a, const Operand& b) {
  const std::string name = request.name();
  const bool both = a.input != nullptr && b.input != nullptr;
  if (!both && a.input == b.input) Unsupported(name + " of two numbers");
  if (name == "power" && IsInt(CommonOf(a, b))) {
    const bool may_be_negative =
        b.input != nullptr ? ClassOf(b.dtype) == Class::kSigned : IsNegative(b.number);
    if (may_be_negative) Unsupported("power of integers whose exponents may be negative");
  }
  if (both && IsInt(a.dtype) && IsInt(b.dtype) && CommonOf(a, b) == DType::kFloat64) {
    for (const Entry& entry : kBinary) {
      if (IsNamed(entry, name) && entry.rule == Rule::kCompare) {
        Unsupported(name + " of uint64 and signed integers");
      }
    }
  }
}

template <size_t kSize>
bool Has(const Entry (&table)[kSize], const std::string& name) {
  for (const Entry& entry : table) {
    if (IsNamed(entry, name)) return true;
  }
  return false;
}

std::unique_ptr<Work> MakeWhere(const Request& request) {
  request.CheckNames({"condition", "x", "y"});
  const Operand condition = FindOperand(request, "condition");
  const Operand x = FindOperand(request, "x");
  const Operand y = FindOperand(request, "y");
  if (x.input == nullptr && y.input == nullptr) Unsupported("where of two numbers");
  const DType dtype = CommonOf(x, y);
  return MakeFormula(request, {condition, x, y},
                     {"a ? b : c", "", {DType::kBool, dtype, dtype}, dtype});
}

std::unique_ptr<Work> MakeClip(const Request& request) {
  request.CheckNames({"a", "a_min", "a_max"});
  std::vector<Operand> operands;
  std::string text = "a";
  operands.push_back(FindOperand(request, "a"));
  if (operands[0].input == nullptr) Unsupported("clip of a number");
  const DType dtype = operands[0].dtype;
  const struct {
    const char* name;
    const char* order;
  } limits[] = {{"a_min", " >= "}, {"a_max", " <= "}};
  for (const auto& limit : limits) {
    if (request.FindInput(limit.name) == nullptr && !request.Attribute(limit.name)) continue;
    operands.push_back(FindOperand(request, limit.name));
    if (CommonOf(operands[0], operands.back()) != dtype) {
      Unsupported("clip to limits of another type");
    }
    const std::string other = operands.size() == 2 ? "b" : "c";
    text = "(" + text + " != " + text + " || " + text + limit.order + other + " ? " + text + " : " +
           other + ")";
  }
  return MakeFormula(request, operands,
                     {text, "", std::vector<DType>(operands.size(), dtype), dtype});
}

std::unique_ptr<Work> MakeAsType(const Request& request) {
  request.CheckNames({"a", "dtype", "copy"});
  const std::optional<JsonValue> copy = request.Attribute("copy");
  const Operand a = FindOperand(request, "a");
  const DType dtype = DTypeOf(request.output().dtype);
  if (a.input == nullptr) Unsupported("astype of a number");
  if (copy && copy->integer == 0 && a.dtype == dtype) Unsupported("astype without a copy");
  return MakeFormula(request, {a}, {"a", "", {dtype}, dtype});
}

std::unique_ptr<Work> MakeRound(const Request& request) {
  request.CheckNames({"a", "decimals"});
  const std::optional<JsonValue> decimals = request.Attribute("decimals");
  const Operand a = FindOperand(request, "a");
  if (a.input == nullptr || a.dtype == DType::kBool) Unsupported("round of bool, or of a number");
  if (decimals && decimals->integer != 0) Unsupported("round to decimals");
  return MakeFormula(request, {a}, {IsFloat(a.dtype) ? "rint(a)" : "a", "", {a.dtype}, a.dtype});
}

}  // namespace

std::unique_ptr<Work> MakeElementwise(const Request& request) {
  const std::string name = request.name();
  if (std::unique_ptr<Work> fill = MakeFill(request)) return fill;
  if (name == "where") return MakeWhere(request);
  if (name == "clip") return MakeClip(request);
  if (name == "astype") return MakeAsType(request);
  if (name == "round") return MakeRound(request);
  if (Has(kUnary, name)) {
    const char* param = name == "copy" ? "a" : "x";
    request.CheckNames({param});
    const Operand x = FindOperand(request, param);
    if (x.input == nullptr) Unsupported(name + " of a number");
    return MakeOf(kUnary, request, {x}, x.dtype);
  }
  if (!Has(kBinary, name)) return nullptr;
  request.CheckNames({"x1", "x2"});
  const Operand a = FindOperand(request, "x1");
  const Operand b = FindOperand(request, "x2");
  CheckBinary(request, a, b);
  return MakeOf(kBinary, request, {a, b}, CommonOf(a, b));
}

}  // namespace opencl
