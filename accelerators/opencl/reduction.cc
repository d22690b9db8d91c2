/*!
 * \file reduction.cc
 * \brief Reductions over axes.
 */
#include <algorithm>

#include "fold.h"
#include "scalar.h"

namespace opencl {
namespace {

/*! \brief The axes that are folded: the attribute axis. */
std::vector<bool> FoldedAxes(const Request& request, const MXAccGeometry& a) {
  const std::optional<JsonValue> axis = request.Attribute("axis");
  const auto ndim = static_cast<size_t>(a.ndim);
  if (!axis) return std::vector<bool>(ndim, true);
  std::vector<bool> folded(ndim, false);
  const bool is_list = axis->kind == JsonValue::Kind::kArray;
  const std::vector<JsonValue> items = is_list ? axis->items : std::vector<JsonValue>{*axis};
  for (const JsonValue& item : items) {
    const int64_t given = item.integer < 0 ? item.integer + a.ndim : item.integer;
    const bool right = item.kind == JsonValue::Kind::kInt && given >= 0 && given < a.ndim &&
                       !folded[static_cast<size_t>(given)];
    if (!right) Unsupported(request.name() + " over axes that the array has not");
    folded[static_cast<size_t>(given)] = true;
  }
  return folded;
}

FoldAxes SplitAxes(const Request& request, const MXAccGeometry& a) {
  const std::vector<bool> folded = FoldedAxes(request, a);
  const bool keeps = request.Flag("keepdims");
  const MXAccGeometry& out = request.output();
  FoldAxes axes{Axes(3), Axes(2), false};
  int32_t at_out = 0;
  for (int32_t i = 0; i < a.ndim; ++i) {
    if (folded[static_cast<size_t>(i)]) {
      axes.folded.Add(a.shape[i], {a.strides[i], 0});
      at_out += keeps ? 1 : 0;
    } else {
      if (at_out >= out.ndim || out.shape[at_out] != a.shape[i]) {
        Unsupported(request.name() + " into an output of another shape");
      }
      axes.kept.Add(a.shape[i], {out.strides[at_out++], a.strides[i], 0});
    }
  }
  return axes;
}

/*! \brief The attribute dtype, or another. */
DType DTypeOr(const Request& request, DType otherwise) {
  const std::optional<JsonValue> dtype = request.Attribute("dtype");
  return dtype ? DTypeOf(dtype->text) : otherwise;
}

Fold TotalFold(const Request& request, DType dtype) {
  const bool is_sum = request.name() == "sum";
  const DType element = DTypeOr(request, dtype);
  const DType total = IsFloat(element)                       ? element
                      : ClassOf(element) == Class::kUnsigned ? DType::kUInt64
                                                             : DType::kInt64;
  const std::string op = is_sum ? " + " : " * ";
  // Integers are added up without a sign, in which they wrap.
  const std::string type = IsFloat(element) ? "C" : "ulong";
  return {"typedef " + type + " ACC;\n",
          is_sum ? "(ACC)0" : "(ACC)1",
          "acc" + op + "(ACC)x",
          "acc" + op + "other",
          "acc",
          element,
          total,
          request.Attribute("dtype") ? element : total,
          false};
}

Fold MeanFold(const Request& request, DType dtype) {
  const DType element = DTypeOr(request, IsFloat(dtype) ? dtype : DType::kFloat64);
  if (!IsFloat(element)) Unsupported("mean as integers");
  return {"typedef C ACC;\n",
          "(ACC)0",
          "acc + x",
          "acc + other",
          "acc / (C)count",
          element,
          element,
          element,
          false};
}

Fold VarianceFold(const Request& request, DType dtype) {
  const DType element = DTypeOr(request, IsFloat(dtype) ? dtype : DType::kFloat64);
  if (!IsFloat(element)) Unsupported(request.name() + " as integers");
  const std::optional<JsonValue> ddof = request.Attribute("ddof");
  if (ddof && ddof->kind != JsonValue::Kind::kInt) Unsupported("a ddof that is no integer");
  const std::string less = std::to_string(ddof ? ddof->integer : 0);
  return {R"(
typedef struct {
  C mean;
  C squares;
  long count;
} ACC;
ACC combine(ACC acc, C x) {
  const C deviation = x - acc.mean;
  acc.count += 1;
  acc.mean += deviation / (C)acc.count;
  acc.squares += deviation * (x - acc.mean);
  return acc;
}
ACC merge(ACC acc, ACC other) {
  if (acc.count == 0) return other;
  if (other.count == 0) return acc;
  const C deviation = other.mean - acc.mean;
  const C share = (C)other.count / (C)(acc.count + other.count);
  acc.squares += other.squares + deviation * deviation * (C)acc.count * share;
  acc.mean += deviation * share;
  acc.count += other.count;
  return acc;
}
ACC nothing() {
  const ACC acc = {0, 0, 0};
  return acc;
}
)",
          "nothing()",
          "combine(acc, x)",
          "merge(acc, other)",
          (request.name() == "std" ? "sqrt" : "") +
              ("(acc.squares / (C)max(count - (" + less + "L), 0L))"),
          element,
          element,
          element,
          false};
}

/*! \brief The value that no element of a type is before. */
std::string LastValue(DType dtype, bool largest) {
  if (IsFloat(dtype)) return largest ? "-INFINITY" : "INFINITY";
  if (dtype == DType::kBool) return largest ? "0" : "1";
  const std::string bits = std::to_string(BitsOf(dtype) - 1);
  if (ClassOf(dtype) == Class::kUnsigned) return largest ? "0" : "((C)-1)";
  const std::string least = "((C)((W)1 << " + bits + "))";
  return largest ? least : "((C)~" + least + ")";
}

Fold ExtremumFold(const Request& request, DType dtype) {
  const bool largest = request.name() == "max";
  const std::string order = largest ? " >= " : " <= ";
  const auto choose = [&](const std::string& other) {
    return "acc != acc || acc" + order + other + " ? acc : " + other;
  };
  return {"typedef C ACC;\n",
          LastValue(dtype, largest),
          choose("x"),
          choose("other"),
          "acc",
          dtype,
          dtype,
          dtype,
          false};
}

Fold LogicFold(const Request& request) {
  const bool any = request.name() == "any";
  const std::string op = any ? " | " : " & ";
  return {"typedef int ACC;\n", any ? "0" : "1", "acc" + op + "x",
          "acc" + op + "other", "acc",           DType::kBool,
          DType::kBool,         DType::kBool,    false};
}

Fold PositionFold(const Request& request, DType dtype) {
  const std::string order = request.name() == "argmax" ? " > " : " < ";
  return {R"(
typedef struct {
  C value;
  long place;
} ACC;
ACC position_of(C x, long place) {
  const ACC acc = {x, place};
  return acc;
}
ACC earlier_of(ACC a, ACC b) {
  if (a.place < 0) return b;
  if (b.place < 0) return a;
  const int a_is_nan = a.value != a.value;
  const int b_is_nan = b.value != b.value;
  if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
  if (b.value)" +
              order + R"(a.value) return b;
  if (a.value)" +
              order + R"(b.value) return a;
  return a.place < b.place ? a : b;
}
)",
          "position_of(0, -1)",
          "earlier_of(acc, position_of(x, place))",
          "earlier_of(acc, other)",
          "acc.place",
          dtype,
          DType::kInt64,
          DType::kInt64,
          false};
}

}  // namespace

std::unique_ptr<Work> MakeReduction(const Request& request) {
  static const char* const kNames[] = {"sum", "prod", "mean", "var",    "std",   "max",
                                       "min", "any",  "all",  "argmax", "argmin"};
  const std::string name = request.name();
  if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) return nullptr;
  request.CheckNames({"a", "axis", "dtype", "keepdims", "ddof"});
  const MXAccGeometry* a = request.FindInput("a");
  if (a == nullptr || a->ndim == 0) Unsupported(name + " of a number");
  const DType dtype = DTypeOf(a->dtype);
  FoldAxes axes = SplitAxes(request, *a);
  const bool is_position = name == "argmax" || name == "argmin";
  const bool needs_elements = is_position || name == "max" || name == "min";
  axes.in_order = is_position;
  if (needs_elements && axes.folded.count() == 0 && (axes.kept.count() != 0 || is_position)) {
    Unsupported(name + " of no elements");
  }
  const auto fold = [&]() -> Fold {
    if (name == "sum" || name == "prod") return TotalFold(request, dtype);
    if (name == "mean") return MeanFold(request, dtype);
    if (name == "var" || name == "std") return VarianceFold(request, dtype);
    if (name == "any" || name == "all") return LogicFold(request);
    return is_position ? PositionFold(request, dtype) : ExtremumFold(request, dtype);
  };
  return MakeFold(request, fold(), axes, {request.IndexOf(*a)});
}

}  // namespace opencl
