/*!
 * \file reductions.cc
 * \brief Operators that reduce elements over axes.
 *
 * oneDNN reduces fast over axes that come last and are dense, and adds elements one by one in a few
 * lanes, so that the rounding of long sums grows: they are split. Its max and min lose NaN.
 */
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "operators.h"
#include "passes.h"

namespace onednn {
namespace {

/*! \brief How many elements are reduced one after another: preferably, at most, and at least. */
constexpr int64_t kGoodRun = 1024;
constexpr int64_t kLongRun = 8192;
constexpr int64_t kShortRun = 32;

std::vector<bool> ReducedAxes(const MXAccOperator& op, size_t ndim) {
  const std::optional<AttributeValue> axis = FindAttribute(op, "axis");
  if (!axis || axis->kind == AttributeValue::Kind::kNull) return std::vector<bool>(ndim, true);
  std::vector<bool> reduced(ndim, false);
  const std::vector<AttributeValue> single{*axis};
  for (const AttributeValue& item :
       axis->kind == AttributeValue::Kind::kArray ? axis->items : single) {
    if (item.kind != AttributeValue::Kind::kInt) Unsupported("axes that are no integers");
    const int64_t at = item.integer < 0 ? item.integer + static_cast<int64_t>(ndim) : item.integer;
    if (at < 0 || at >= static_cast<int64_t>(ndim)) Unsupported("axes that are not there");
    if (reduced[static_cast<size_t>(at)]) Unsupported("axes that repeat");
    reduced[static_cast<size_t>(at)] = true;
  }
  return reduced;
}

/*! \brief The largest divisor of count that is at most most; 1 where all are small. */
int64_t DivisorOf(int64_t count, int64_t most) {
  for (int64_t run = std::min(count, most); run >= kShortRun; --run) {
    if (count % run == 0) return run;
  }
  return 1;
}

/*! \brief The length of the runs into which count elements are split; 1 if count has no suitable
 * divisor. */
int64_t RunOf(int64_t count) {
  if (count <= kGoodRun) return count;
  const int64_t run = DivisorOf(count, kGoodRun);
  if (run > 1) return run;
  return count <= kLongRun ? count : DivisorOf(count, kLongRun);
}

/*! \brief Part of a dense array, seen in a shape. */
Array PartOf(Array dense, int64_t first, Dims shape) {
  dense.location.offset += static_cast<size_t>(first * ItemSize(dense.dtype));
  return Shaped(dense, std::move(shape));
}

/*! \brief Reduces dense elements (outer, inner) in runs, and what comes of that again. */
void AddReducePasses(algorithm alg, Array elements, int64_t outer, int64_t inner, const Array& out,
                     Plan* plan) {
  while (RunOf(inner) != inner) {
    int64_t run = RunOf(inner);
    if (run == 1 && outer != 1) Unsupported("so many elements that do not divide evenly");
    if (run == 1) run = kGoodRun;
    const int64_t runs = inner / run;
    const int64_t rest = inner - runs * run;
    const Array partial = plan->Scratch(kFloat32, {outer * runs + (rest != 0)});
    AddRowsPass(alg, Shaped(elements, {outer * runs, run}), PartOf(partial, 0, {outer * runs}),
                plan);
    if (rest != 0) {
      AddRowsPass(alg, PartOf(elements, runs * run, {1, rest}), PartOf(partial, runs, {1}), plan);
    }
    elements = partial;
    inner = runs + (rest != 0);
  }
  AddRowsPass(alg, Shaped(elements, {outer, inner}), out, plan);
}

/*!
 * \brief Adds sums of columns, as products of a row of ones with matrices, so that elements need
 * not be moved; false, and nothing added, where they are no such matrices.
 */
bool AddColumnSums(const Array& a, const std::vector<bool>& reduced, const Array& out, Plan* plan) {
  const Array kept = Merged(Chosen(a, reduced, false));
  const Array summed = Merged(Chosen(a, reduced, true));
  const size_t ndim = kept.shape.size();
  if (ndim == 0 || ndim > 2 || summed.shape.size() != 1 || summed.shape[0] > kLongRun) return false;
  const int64_t rows = summed.shape[0];
  const int64_t columns = kept.shape[ndim - 1];
  const int64_t batch = ndim == 2 ? kept.shape[0] : 1;
  const int64_t step = ndim == 2 ? kept.strides[0] : rows * columns;
  if (kept.strides[ndim - 1] != 1 || summed.strides[0] < columns || step < 0) return false;
  Array ones = plan->Scratch(a.dtype, {1, 1, rows});
  const Array matrices{a.location, a.dtype, {batch, rows, columns}, {step, summed.strides[0], 1}};
  const Array sums = Shaped(out, {batch, 1, columns});
  const dnnl::matmul::primitive_desc desc(Engine(), DescOf(ones), DescOf(matrices), DescOf(sums),
                                          AttributesWith(), true);
  if (!IsFast(desc)) return false;
  plan->Copy(plan->Constant(a.dtype, 1, ones.shape), ones);
  plan->Add(desc, dnnl::matmul(desc),
            {{DNNL_ARG_SRC, ones}, {DNNL_ARG_WEIGHTS, matrices}, {DNNL_ARG_DST, sums}});
  return true;
}

void CheckTypes(const MXAccOperator& op, const Array& a, const Array& out) {
  if (!IsFloat(a.dtype)) Unsupported("only float32, float16 and bfloat16, which oneDNN has");
  if (SameType(a.dtype, out.dtype)) return;
  const std::optional<AttributeValue> dtype = FindAttribute(op, "dtype");
  const bool asked = dtype && dtype->kind == AttributeValue::Kind::kText;
  // The attribute dtype is what elements are converted to first; a larger type loses nothing.
  if (!asked || dtype->text != "float32" || !SameType(out.dtype, kFloat32)) {
    Unsupported("an output of another type than the result's");
  }
}

void AddReduction(algorithm alg, double of_none, bool divides, const MXAccOperator& op,
                  Plan* plan) {
  const Array a = TheInput(op);
  const Array out = TheOutput(op);
  CheckTypes(op, a, out);
  const std::vector<bool> reduced = ReducedAxes(op, a.shape.size());
  const int64_t outer = SizeOf(out.shape);
  int64_t inner = 1;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i]) inner *= a.shape[i];
  }
  if (outer * inner != SizeOf(a.shape)) {
    throw Failure(kMXAccBadArgument, "the output is not of the shape of the result");
  }
  if (inner == 0) return plan->Copy(plan->Constant(out.dtype, of_none, out.shape), out);
  const Array target = IsDense(out) ? out : plan->Scratch(out.dtype, out.shape);
  const Array total = divides ? plan->Scratch(kFloat32, {outer}) : target;
  const bool is_sum = alg == algorithm::reduction_sum;
  if (!is_sum || !AddColumnSums(a, reduced, total, plan)) {
    AddReducePasses(alg, plan->Dense(Ordered(a, reduced)), outer, inner, total, plan);
  }
  if (divides) {
    const Array count = plan->Constant(kFloat32, static_cast<double>(inner), {outer});
    AddBinaryPass({algorithm::binary_div, {}}, total, count, total, plan);
    plan->Convert(total, Shaped(target, {outer}));
  }
  if (!IsDense(out)) plan->Copy(target, out);
}

void AddSum(const MXAccOperator& op, Plan* plan) {
  AddReduction(algorithm::reduction_sum, 0, false, op, plan);
}
void AddProd(const MXAccOperator& op, Plan* plan) {
  AddReduction(algorithm::reduction_mul, 1, false, op, plan);
}
void AddMean(const MXAccOperator& op, Plan* plan) {
  AddReduction(algorithm::reduction_sum, std::nan(""), true, op, plan);
}

constexpr Entry kEntries[] = {{"mean", AddMean}, {"prod", AddProd}, {"sum", AddSum}};

}  // namespace

Family Reductions() { return {kEntries, std::size(kEntries), 0, ElementsOf}; }

}  // namespace onednn
