#include "elementwise.h"

#include <mxnet/op/promotion.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "../status.h"

namespace mxacc {
namespace {

namespace promotion = mxnet::op::promotion;

enum class Result { kSame, kReal, kBool };

constexpr struct Entry {
  const char* name;
  int operands;
  MXNetTypeRule rule; /*!< what the operands are converted to */
  Result result;

  /*! \brief Whether it compares integers by value, of types that have no common one. */
  bool compares() const {
    return operands == 2 && rule == kMXNetTypesCommon && result == Result::kBool;
  }
} kEntries[] = {
#define MXNET_ELEMENTWISE(name, operands, rule, result) \
  {#name, operands, kMXNetTypes##rule, Result::k##result},
#include <mxnet/op/formulas.inc>
};

enum class Family { kBool, kInt, kFloat };

Family FamilyOf(DType dtype) {
  if (ClassOf(dtype) == Class::kBool) return Family::kBool;
  return IsInt(dtype) ? Family::kInt : Family::kFloat;
}

constexpr struct {
  const char* name;
  Family family;
  Formula formula;
} kFormulas[] = {
#define MXNET_FORMULA(name, family, ...) {#name, Family::k##family, Formula::k_##name##_##family},
#include <mxnet/op/formulas.inc>
};

/*! \brief The formula of that name for elements of a type, if there is one. */
std::optional<Formula> FindFormula(const std::string& name, DType dtype) {
  for (const auto& entry : kFormulas) {
    if (entry.family == FamilyOf(dtype) && name == entry.name) return entry.formula;
  }
  return std::nullopt;
}

/*! \brief The parameter of that name; kMXAccUnsupported where it is neither. */
Operand FindOperand(const Request& request, const char* name) {
  const MXAccDLTensor* input = request.FindInput(name);
  if (input != nullptr) return {input, {}, DTypeOf(input->dtype)};
  std::optional<AttributeValue> value = request.Attribute(name);
  if (!value || !IsNumber(*value)) {
    Unsupported(request.name() + " with a '" + name + "' that is neither an array nor a number");
  }
  return {nullptr, *std::move(value), DType::kBool};
}

const Entry* FindEntry(const std::string& name) {
  for (const Entry& entry : kEntries) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

DType CommonOf(const Operand& a, const Operand& b) {
  if (a.input == nullptr) return PromoteWeak(b.dtype, a.number.kind);
  if (b.input == nullptr) return PromoteWeak(a.dtype, b.number.kind);
  return Promote(a.dtype, b.dtype);
}

/*! \brief The type that the operands of an operator are converted to. */
DType LoopType(MXNetTypeRule rule, const std::vector<Operand>& operands, DType common) {
  const MXAccDataType type = TypeOf(common);
  if (rule != kMXNetTypesFloat || operands.size() != 2) {
    return DTypeOf(promotion::TypeByRule(rule, type));
  }
  const bool with_number = operands[0].input == nullptr || operands[1].input == nullptr;
  return DTypeOf(promotion::FloatOfBoth(TypeOf(operands[0].dtype), TypeOf(operands[1].dtype),
                                        with_number, type));
}

Elementwise Make(std::vector<Operand> operands, Formula formula, DType dtype) {
  std::vector<DType> dtypes(operands.size(), dtype);
  return {std::move(operands), formula, std::move(dtypes), dtype};
}

/*! \brief Whether it is one number for all elements of the output. */
bool IsSingle(const Operand& operand) {
  if (operand.input == nullptr) return true;
  const int64_t* shape = operand.input->shape;
  return std::all_of(shape, shape + operand.input->ndim,
                     [](int64_t extent) { return extent == 1; });
}

Elementwise MakeOf(const Entry& entry, std::vector<Operand> operands, DType common) {
  const DType dtype = LoopType(entry.rule, operands, common);
  std::optional<Formula> formula = FindFormula(entry.name, dtype);
  if (!formula) Unsupported(std::string(entry.name) + " of " + NameOf(common));
  if (std::strcmp(entry.name, "power") == 0 && IsSingle(operands[1])) {
    const std::optional<Formula> of_one = FindFormula("power_of_one", dtype);
    if (of_one) formula = of_one;
  }
  Elementwise made = Make(std::move(operands), *formula, dtype);
  if (entry.result == Result::kBool) made.result = DType::kBool;
  return made;
}

/*! \brief Rejects what the CPU decides by looking at elements, and what it compares by value. */
void CheckBinary(const Entry& entry, const Operand& a, const Operand& b) {
  const std::string name = entry.name;
  const bool both = a.input != nullptr && b.input != nullptr;
  if (!both && a.input == b.input) Unsupported(name + " of two numbers");
  if (name == "power" && IsInt(CommonOf(a, b))) {
    const bool may_be_negative =
        b.input != nullptr ? ClassOf(b.dtype) == Class::kSigned : IsNegative(b.number);
    if (may_be_negative) Unsupported("power of integers whose exponents may be negative");
  }
  const bool by_value =
      both && IsInt(a.dtype) && IsInt(b.dtype) && CommonOf(a, b) == DType::kFloat64;
  if (by_value && entry.compares()) {
    Unsupported(name + " of uint64 and signed integers");
  }
}

Elementwise FindWhere(const Request& request) {
  request.CheckNames({"condition", "x", "y"});
  Operand condition = FindOperand(request, "condition");
  Operand x = FindOperand(request, "x");
  Operand y = FindOperand(request, "y");
  if (x.input == nullptr && y.input == nullptr) Unsupported("where of two numbers");
  const DType dtype = CommonOf(x, y);
  Elementwise made =
      Make({std::move(condition), std::move(x), std::move(y)}, FormulaOf("where", dtype), dtype);
  made.dtypes[0] = DType::kBool;
  return made;
}

Elementwise FindClip(const Request& request) {
  request.CheckNames({"a", "a_min", "a_max"});
  std::vector<Operand> operands;
  operands.push_back(FindOperand(request, "a"));
  if (operands[0].input == nullptr) Unsupported("clip of a number");
  const DType dtype = operands[0].dtype;
  const char* formula = "identity";
  const struct {
    const char* name;
    const char* formula;
  } limits[] = {{"a_min", "maximum"}, {"a_max", "minimum"}};
  for (const auto& limit : limits) {
    if (request.FindInput(limit.name) == nullptr && !request.Attribute(limit.name)) continue;
    operands.push_back(FindOperand(request, limit.name));
    if (CommonOf(operands[0], operands.back()) != dtype) {
      Unsupported("clip to limits of another type");
    }
    formula = operands.size() == 2 ? limit.formula : "clip";
  }
  return Make(std::move(operands), FormulaOf(formula, dtype), dtype);
}

Elementwise FindAsType(const Request& request) {
  request.CheckNames({"a", "dtype", "copy"});
  const std::optional<AttributeValue> copy = request.Attribute("copy");
  const Operand a = FindOperand(request, "a");
  const DType dtype = DTypeOf(request.output().dtype);
  if (a.input == nullptr) Unsupported("astype of a number");
  if (copy && copy->integer == 0 && a.dtype == dtype) Unsupported("astype without a copy");
  return Make({a}, FormulaOf("identity", dtype), dtype);
}

Elementwise FindCopy(const Request& request) {
  request.CheckNames({"a"});
  const Operand a = FindOperand(request, "a");
  if (a.input == nullptr) Unsupported("copy of a number");
  return Make({a}, FormulaOf("identity", a.dtype), a.dtype);
}

Elementwise FindRound(const Request& request) {
  request.CheckNames({"a", "decimals"});
  const std::optional<AttributeValue> decimals = request.Attribute("decimals");
  const Operand a = FindOperand(request, "a");
  if (a.input == nullptr || a.dtype == DType::kBool) Unsupported("round of bool, or of a number");
  const int64_t digits = decimals ? decimals->integer : 0;
  if (!IsFloat(a.dtype)) {
    // The CPU does it by way of float64, which not all devices have.
    if (digits < 0) Unsupported("round of integers to tens");
    return Make({a}, FormulaOf("identity", a.dtype), a.dtype);
  }
  if (digits == 0) return Make({a}, FormulaOf("rint", a.dtype), a.dtype);
  Operand scale{nullptr, {}, DType::kBool};
  scale.number.kind = AttributeValue::Kind::kFloat;
  scale.number.real = std::pow(10.0, std::abs(static_cast<double>(digits)));
  const char* formula = digits > 0 ? "round_decimals" : "round_tens";
  Elementwise made = Make({a, std::move(scale)}, FormulaOf(formula, a.dtype), a.dtype);
  // Not rounded to two bytes, where it may be infinite.
  if (a.dtype != DType::kFloat64) made.dtypes[1] = DType::kFloat32;
  return made;
}

/*! \brief Operators that make arrays of one number, or of the elements of an argument. */
enum class Content { kAny, kZero, kOne, kGiven };

constexpr struct Fill {
  const char* name;
  const char* model; /*!< the parameter that says the shape */
  Content content;
} kFills[] = {
    {"empty", "shape", Content::kAny},  {"empty_like", "prototype", Content::kAny},
    {"zeros", "shape", Content::kZero}, {"zeros_like", "a", Content::kZero},
    {"ones", "shape", Content::kOne},   {"ones_like", "a", Content::kOne},
    {"full", "shape", Content::kGiven}, {"full_like", "a", Content::kGiven},
};

Elementwise FindFill(const Request& request, const Fill& fill) {
  request.CheckNames({fill.model, "fill_value", "dtype"});
  if (fill.content == Content::kAny) return {};
  const DType dtype = DTypeOf(request.output().dtype);
  Operand value{nullptr, {}, DType::kBool};
  if (fill.content == Content::kGiven) {
    value = FindOperand(request, "fill_value");
  } else {
    value.number.kind = AttributeValue::Kind::kInt;
    value.number.integer = fill.content == Content::kOne ? 1 : 0;
  }
  return Make({std::move(value)}, FormulaOf("identity", dtype), dtype);
}

}  // namespace

Formula FormulaOf(const std::string& name, DType dtype) {
  const std::optional<Formula> formula = FindFormula(name, dtype);
  if (!formula) Unsupported(name + " of " + NameOf(dtype));
  return *formula;
}

std::optional<Elementwise> FindElementwise(const Request& request) {
  const std::string name = request.name();
  for (const Fill& fill : kFills) {
    if (name == fill.name) return FindFill(request, fill);
  }
  if (name == "where") return FindWhere(request);
  if (name == "clip") return FindClip(request);
  if (name == "astype") return FindAsType(request);
  if (name == "round") return FindRound(request);
  if (name == "copy") return FindCopy(request);
  const Entry* entry = FindEntry(name);
  if (entry == nullptr) return std::nullopt;
  if (entry->operands == 1) {
    request.CheckNames({"x"});
    Operand x = FindOperand(request, "x");
    if (x.input == nullptr) Unsupported(name + " of a number");
    const DType dtype = x.dtype;
    return MakeOf(*entry, {std::move(x)}, dtype);
  }
  request.CheckNames({"x1", "x2"});
  Operand a = FindOperand(request, "x1");
  Operand b = FindOperand(request, "x2");
  CheckBinary(*entry, a, b);
  const DType common = CommonOf(a, b);
  return MakeOf(*entry, {std::move(a), std::move(b)}, common);
}

Axes BroadcastAxes(const Request& request, const std::vector<Operand>& operands) {
  const MXAccDLTensor& output = request.output();
  Axes axes(1);
  axes.shape.assign(output.shape, output.shape + output.ndim);
  axes.strides[0].assign(output.strides, output.strides + output.ndim);
  for (const Operand& operand : operands) {
    if (operand.input == nullptr) continue;
    const MXAccDLTensor& input = *operand.input;
    std::vector<int64_t>& strides = axes.strides.emplace_back(axes.shape.size(), 0);
    const int32_t offset = output.ndim - input.ndim;
    for (int32_t axis = 0; axis < input.ndim; ++axis) {
      const int64_t extent = input.shape[axis];
      const bool fits = offset >= 0 && (extent == 1 || extent == output.shape[offset + axis]);
      if (!fits) {
        Unsupported(SpecText(input) + " does not broadcast to " + SpecText(output));
      }
      if (extent != 1) strides[static_cast<size_t>(offset + axis)] = input.strides[axis];
    }
  }
  return axes;
}

}  // namespace mxacc
