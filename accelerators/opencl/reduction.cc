/*!
 * \file reduction.cc
 * \brief The steps of reductions, as OpenCL C.
 */
#include "reduce.h"

namespace opencl {
namespace {

/*! \brief Integers are added up and multiplied without a sign, in which they wrap. */
Reducer TotalReducer(const Reduction& reduction, const char* start, const char* result) {
  const DType computed = IsFloat(reduction.element) ? reduction.element : DType::kUInt64;
  Reducer reducer = FormulaReducer(*reduction.formula, computed, start, result);
  reducer.element = reduction.element;
  reducer.total = reduction.total;
  reducer.stored = reduction.stored;
  return reducer;
}

Reducer VarianceReducer(const Reduction& reduction) {
  const DType element = reduction.element;
  const std::string less = std::to_string(reduction.ddof);
  return {"",
          R"(
typedef struct {
  C mean;
  C squares;
  long count;
} ACC;
ACC combine(ACC acc, C x) {
  const C difference = x - acc.mean;
  acc.count += 1;
  acc.mean += difference / (C)acc.count;
  acc.squares += difference * (x - acc.mean);
  return acc;
}
ACC merge(ACC acc, ACC other) {
  if (acc.count == 0) return other;
  if (other.count == 0) return acc;
  const C difference = other.mean - acc.mean;
  const C share = (C)other.count / (C)(acc.count + other.count);
  acc.squares += other.squares + difference * difference * (C)acc.count * share;
  acc.mean += difference * share;
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
          (reduction.kind == ReduceKind::kStd ? "sqrt" : "") +
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
  if (ClassOf(dtype) == Class::kUnsigned) return largest ? "0" : "((C)-1)";
  const std::string bits = std::to_string(BitsOf(dtype) - 1);
  const std::string least = std::string("((C)((") + WrappingType(dtype) + ")1 << " + bits + "))";
  return largest ? least : "((C)~" + least + ")";
}

Reducer ArgReducer(const Reduction& reduction) {
  return {FormulaFunction("is_found", *reduction.formula, reduction.element),
          R"(
typedef struct {
  C value;
  long position;
} ACC;
ACC position_of(C x, long position) {
  const ACC acc = {x, position};
  return acc;
}
ACC found_of(ACC a, ACC b) {
  if (a.position < 0) return b;
  if (b.position < 0) return a;
  const ACC first = a.position < b.position ? a : b;
  const ACC later = a.position < b.position ? b : a;
  return is_found(first.value, later.value) != 0 ? later : first;
}
)",
          "position_of(0, -1)",
          "found_of(acc, position_of(x, position))",
          "found_of(acc, other)",
          "acc.position",
          reduction.element,
          DType::kInt64,
          DType::kInt64,
          false};
}

Reducer ReducerOf(const Reduction& reduction) {
  const DType element = reduction.element;
  switch (reduction.kind) {
    case ReduceKind::kSum:
      return TotalReducer(reduction, "(ACC)0", "acc");
    case ReduceKind::kProduct:
      return TotalReducer(reduction, "(ACC)1", "acc");
    case ReduceKind::kMean:
      return TotalReducer(reduction, "(ACC)0", "acc / (C)count");
    case ReduceKind::kVariance:
    case ReduceKind::kStd:
      return VarianceReducer(reduction);
    case ReduceKind::kMax:
    case ReduceKind::kMin: {
      const bool largest = reduction.kind == ReduceKind::kMax;
      return FormulaReducer(*reduction.formula, element, LastValue(element, largest), "acc");
    }
    case ReduceKind::kAny:
      return FormulaReducer(*reduction.formula, element, "0", "acc");
    case ReduceKind::kAll:
      return FormulaReducer(*reduction.formula, element, "1", "acc");
    default:
      return ArgReducer(reduction);
  }
}

}  // namespace

std::unique_ptr<Work> MakeReduction(const Request& request) {
  const std::optional<Reduction> reduction = FindReduction(request);
  if (!reduction) return nullptr;
  return MakeReduceWork(request, ReducerOf(*reduction), reduction->axes,
                        reduction->finds_position(), {reduction->input});
}

}  // namespace opencl
