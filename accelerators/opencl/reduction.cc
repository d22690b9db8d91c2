/*!
 * \file reduction.cc
 * \brief The steps of reductions, as OpenCL C.
 */
#include "reduce.h"

namespace opencl {
namespace {

Reducer TotalReducer(const Reduction& reduction) {
  const bool is_sum = reduction.kind == ReduceKind::kSum;
  const std::string op = is_sum ? " + " : " * ";
  // Integers are added up without a sign, in which they wrap.
  const std::string type = IsFloat(reduction.element) ? "C" : "ulong";
  return {"typedef " + type + " ACC;\n",
          is_sum ? "(ACC)0" : "(ACC)1",
          "acc" + op + "(ACC)x",
          "acc" + op + "other",
          "acc",
          reduction.element,
          reduction.total,
          reduction.stored,
          false};
}

Reducer MeanReducer(DType dtype) {
  return {"typedef C ACC;\n",
          "(ACC)0",
          "acc + x",
          "acc + other",
          "acc / (C)count",
          dtype,
          dtype,
          dtype,
          false};
}

Reducer VarianceReducer(const Reduction& reduction) {
  const DType element = reduction.element;
  const std::string less = std::to_string(reduction.ddof);
  return {R"(
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
  const std::string bits = std::to_string(BitsOf(dtype) - 1);
  if (ClassOf(dtype) == Class::kUnsigned) return largest ? "0" : "((C)-1)";
  const std::string least = "((C)((W)1 << " + bits + "))";
  return largest ? least : "((C)~" + least + ")";
}

Reducer ExtremumReducer(bool largest, DType dtype) {
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

Reducer LogicReducer(bool any) {
  const std::string op = any ? " | " : " & ";
  return {"typedef int ACC;\n", any ? "0" : "1", "acc" + op + "x",
          "acc" + op + "other", "acc",           DType::kBool,
          DType::kBool,         DType::kBool,    false};
}

Reducer ArgReducer(bool largest, DType dtype) {
  const std::string order = largest ? " > " : " < ";
  return {R"(
typedef struct {
  C value;
  long position;
} ACC;
ACC position_of(C x, long position) {
  const ACC acc = {x, position};
  return acc;
}
ACC earlier_of(ACC a, ACC b) {
  if (a.position < 0) return b;
  if (b.position < 0) return a;
  const int a_is_nan = a.value != a.value;
  const int b_is_nan = b.value != b.value;
  if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
  if (b.value)" +
              order + R"(a.value) return b;
  if (a.value)" +
              order + R"(b.value) return a;
  return a.position < b.position ? a : b;
}
)",
          "position_of(0, -1)",
          "earlier_of(acc, position_of(x, position))",
          "earlier_of(acc, other)",
          "acc.position",
          dtype,
          DType::kInt64,
          DType::kInt64,
          false};
}

Reducer ReducerOf(const Reduction& reduction) {
  switch (reduction.kind) {
    case ReduceKind::kSum:
    case ReduceKind::kProduct:
      return TotalReducer(reduction);
    case ReduceKind::kMean:
      return MeanReducer(reduction.element);
    case ReduceKind::kVariance:
    case ReduceKind::kStd:
      return VarianceReducer(reduction);
    case ReduceKind::kMax:
    case ReduceKind::kMin:
      return ExtremumReducer(reduction.kind == ReduceKind::kMax, reduction.element);
    case ReduceKind::kAny:
    case ReduceKind::kAll:
      return LogicReducer(reduction.kind == ReduceKind::kAny);
    default:
      return ArgReducer(reduction.kind == ReduceKind::kArgmax, reduction.element);
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
