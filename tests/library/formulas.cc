/*!
 * \file formulas.cc
 * \brief The formulas of elementwise operators and reductions, one element at a time: what all who
 * compute with them are compared with.
 */
#include <mxnet/op/c_operator_api.h>
#include <mxnet/op/conversions.h>
#include <mxnet/op/formulas.h>
#include <mxnet/runtime/registry.h>

#include <string_view>

namespace testing {
namespace {

using namespace mxnet::runtime;  // NOLINT(build/namespaces): tests of all of it
using mxnet::op::Formulas;

enum class Family { Bool, Int, Float };

template <typename C>
constexpr Family kFamilyOf = std::is_same_v<C, bool> ? Family::Bool
                             : std::is_integral_v<C> ? Family::Int
                                                     : Family::Float;

template <typename C>
using Formula = void (*)(const C* a, const C* b, const C* c, int64_t n, DLTensor* out);

template <typename C>
void Store(DLTensor* out, int64_t i, C value) {
  // Comparisons, and what is asked of a number, give bool.
  if (out->dtype.code == kDLBool) {
    static_cast<bool*>(TensorData(*out))[i] = value != C(0);
  } else {
    static_cast<C*>(TensorData(*out))[i] = value;
  }
}

/*! \brief The formula of that name for what is computed in C; NULL where there is none. */
template <typename C>
Formula<C> Find(std::string_view name) {
#define MXNET_FORMULA(formula, family, ...)                                                 \
  if constexpr (kFamilyOf<C> == Family::family) {                                           \
    if (name == #formula) {                                                                 \
      return [](const C* a, const C* b, const C* c, int64_t n, DLTensor* out) {             \
        for (int64_t i = 0; i < n; ++i) {                                                   \
          Store(out, i, static_cast<C>(Formulas<C>::formula##_##family(a[i], b[i], c[i]))); \
        }                                                                                   \
      };                                                                                    \
    }                                                                                       \
  }
#include <mxnet/op/formulas.inc>
  return nullptr;
}

template <typename C>
void Compute(std::string_view name, DLTensor* out, const DLTensor& a, const DLTensor& b,
             const DLTensor& c) {
  const Formula<C> formula = Find<C>(name);
  if (formula == nullptr) {
    MXNET_THROW("TypeError") << name << " has no formula for " << DataTypeName(a.dtype);
  }
  const auto at = [](const DLTensor& x) { return static_cast<const C*>(TensorData(x)); };
  formula(at(a), at(b), at(c), out->shape[0], out);
}

/*! \brief Calls f with a value of the type of the elements. */
template <typename F>
void WithType(DLDataType dtype, F&& f) {
  if (dtype == kBool) return f(bool{});
  if (dtype == kInt8) return f(int8_t{});
  if (dtype == kInt16) return f(int16_t{});
  if (dtype == kInt32) return f(int32_t{});
  if (dtype == kInt64) return f(int64_t{});
  if (dtype == kUInt8) return f(uint8_t{});
  if (dtype == kUInt16) return f(uint16_t{});
  if (dtype == kUInt32) return f(uint32_t{});
  if (dtype == kUInt64) return f(uint64_t{});
  if (dtype == kFloat32) return f(float{});
  if (dtype == kFloat64) return f(double{});
  MXNET_THROW("TypeError") << "nothing is computed in " << DataTypeName(dtype);
}

MXNET_REGISTER_API("testing.formula")
    .describe("Writes a formula's results for each element of operands of one type.")
    .add_argument("name", "str", "Of the formula.")
    .add_argument("out", "ndarray", "What is written, of that type or bool.")
    .add_argument("a", "ndarray", "The first operand.")
    .add_argument("b", "ndarray", "The second, or any other.")
    .add_argument("c", "ndarray", "The third, or any other.")
    .returns("None")
    .set_body_typed([](std::string_view name, DLTensor* out, const DLTensor* a, const DLTensor* b,
                       const DLTensor* c) {
      for (const DLTensor* x : {a, b, c}) {
        const bool fits = x->ndim == 1 && x->dtype == a->dtype && x->shape[0] == out->shape[0];
        if (!fits || !IsContiguous(*x)) MXNET_THROW("ValueError") << "the operands differ";
      }
      if (!IsContiguous(*out) || (out->dtype != a->dtype && out->dtype != kBool)) {
        MXNET_THROW("ValueError") << "the output is not of the operands' type";
      }
      WithType(a->dtype, [&](auto zero) { Compute<decltype(zero)>(name, out, *a, *b, *c); });
    });

template <typename To, typename From>
void ConvertTo(DLTensor* out, const DLTensor& a) {
  for (int64_t i = 0; i < out->shape[0]; ++i) {
    static_cast<To*>(TensorData(*out))[i] =
        mxnet::op::IntegerOfFloat<To>(static_cast<const From*>(TensorData(a))[i]);
  }
}

MXNET_REGISTER_API("testing.integer_of_float")
    .describe("Writes what integers the elements of an array of floats are.")
    .add_argument("out", "ndarray", "What is written, of integers or bool.")
    .add_argument("a", "ndarray", "The floats, of float32 or float64.")
    .returns("None")
    .set_body_typed([](DLTensor* out, const DLTensor* a) {
      const bool fits = a->ndim == 1 && out->ndim == 1 && a->shape[0] == out->shape[0];
      if (!fits || !IsContiguous(*a) || !IsContiguous(*out)) {
        MXNET_THROW("ValueError") << "the arrays differ";
      }
      WithType(out->dtype, [&](auto to) {
        using To = decltype(to);
        if constexpr (std::is_integral_v<To>) {
          if (a->dtype == kFloat32) return ConvertTo<To, float>(out, *a);
          if (a->dtype == kFloat64) return ConvertTo<To, double>(out, *a);
        }
        MXNET_THROW("TypeError") << "no conversion of a float to an integer";
      });
    });

std::string TextOf(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (const std::string& word : row) text += word + " ";
    text += "\n";
  }
  return text;
}

MXNET_REGISTER_API("testing.elementwise_operators")
    .describe("Of each operator that has formulas a line: name, operands, type rule and result.")
    .returns("str")
    .set_body_typed([] {
      return TextOf({
#define MXNET_ELEMENTWISE(name, operands, rule, result) {#name, #operands, #rule, #result},
#include <mxnet/op/formulas.inc>
      });
    });

MXNET_REGISTER_API("testing.is_elementwise")
    .describe("Whether a function is an operator that describes itself as elementwise.")
    .add_argument("function", "Callable[..., Any]", "The function.")
    .returns("bool")
    .set_body_typed([](PackedFunc function) {
      const MXNetFuncInfo* info = nullptr;
      MXNET_CHECK_CALL(MXNetFuncGetInfo(function.get(), &info));
      const auto* op = static_cast<const MXNetOperator*>(info->op);
      return op != nullptr && (op->properties & kMXNetOpElementwise) != 0;
    });

MXNET_REGISTER_API("testing.formulas")
    .describe("Of each formula a line: name and family.")
    .returns("str")
    .set_body_typed([] {
      return TextOf({
#define MXNET_FORMULA(name, family, ...) {#name, #family},
#include <mxnet/op/formulas.inc>
      });
    });

MXNET_REGISTER_API("testing.reductions")
    .describe("Of each reduction that has a formula a line: its name and that of the formula.")
    .returns("str")
    .set_body_typed([] {
      return TextOf({
#define MXNET_REDUCTION(name, formula) {#name, #formula},
#include <mxnet/op/formulas.inc>
      });
    });

}  // namespace
}  // namespace testing
