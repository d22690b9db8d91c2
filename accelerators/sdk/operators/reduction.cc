#include "reduction.h"

#include <string>
#include <vector>

#include "../status.h"

namespace mxacc {
namespace {

constexpr struct {
  const char* name;
  ReduceKind kind;
} kNames[] = {
    {"sum", ReduceKind::kSum},       {"prod", ReduceKind::kProduct},  {"mean", ReduceKind::kMean},
    {"var", ReduceKind::kVariance},  {"std", ReduceKind::kStd},       {"max", ReduceKind::kMax},
    {"min", ReduceKind::kMin},       {"any", ReduceKind::kAny},       {"all", ReduceKind::kAll},
    {"argmax", ReduceKind::kArgmax}, {"argmin", ReduceKind::kArgmin},
};

constexpr struct {
  const char* name;
  const char* formula;
} kFormulas[] = {
#define MXNET_REDUCTION(name, formula) {#name, #formula},
#include <mxnet/op/formulas.inc>
};

std::optional<Formula> CombinedBy(const std::string& name, const Reduction& reduction) {
  for (const auto& entry : kFormulas) {
    if (name != entry.name) continue;
    return FormulaOf(entry.formula,
                     reduction.finds_position() ? reduction.element : reduction.total);
  }
  return std::nullopt;
}

/*! \brief The axes that are reduced: the attribute axis. */
std::vector<bool> ReducedAxes(const Request& request, const MXAccDLTensor& a) {
  const std::optional<AttributeValue> axis = request.Attribute("axis");
  const auto ndim = static_cast<size_t>(a.ndim);
  if (!axis) return std::vector<bool>(ndim, true);
  std::vector<bool> reduced(ndim, false);
  const bool is_list = axis->kind == AttributeValue::Kind::kArray;
  const std::vector<AttributeValue> items =
      is_list ? axis->items : std::vector<AttributeValue>{*axis};
  for (const AttributeValue& item : items) {
    const int64_t given = item.integer < 0 ? item.integer + a.ndim : item.integer;
    const bool right = item.kind == AttributeValue::Kind::kInt && given >= 0 && given < a.ndim &&
                       !reduced[static_cast<size_t>(given)];
    if (!right) Unsupported(request.name() + " over axes that the array has not");
    reduced[static_cast<size_t>(given)] = true;
  }
  return reduced;
}

ReduceAxes SplitAxes(const Request& request, const MXAccDLTensor& a) {
  const std::vector<bool> reduced = ReducedAxes(request, a);
  const bool keeps = request.Flag("keepdims");
  const MXAccDLTensor& out = request.output();
  ReduceAxes axes;
  int32_t at_out = 0;
  for (int32_t i = 0; i < a.ndim; ++i) {
    if (reduced[static_cast<size_t>(i)]) {
      axes.reduced.Add(a.shape[i], {a.strides[i], 0});
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
  const std::optional<AttributeValue> dtype = request.Attribute("dtype");
  return dtype ? DTypeOf(dtype->text) : otherwise;
}

/*! \brief Of sums and products: integers become 64 bits wide. */
void SetTotalTypes(const Request& request, DType dtype, Reduction* reduction) {
  const DType element = DTypeOr(request, dtype);
  reduction->element = element;
  reduction->total = IsFloat(element)                       ? element
                     : ClassOf(element) == Class::kUnsigned ? DType::kUInt64
                                                            : DType::kInt64;
  reduction->stored = request.Attribute("dtype") ? element : reduction->total;
}

/*! \brief Of means and variances. */
void SetFloatTypes(const Request& request, DType dtype, Reduction* reduction) {
  const DType element = DTypeOr(request, IsFloat(dtype) ? dtype : DType::kFloat64);
  if (!IsFloat(element)) Unsupported(request.name() + " as integers");
  reduction->element = reduction->total = reduction->stored = element;
  const std::optional<AttributeValue> ddof = request.Attribute("ddof");
  if (ddof && ddof->kind != AttributeValue::Kind::kInt) Unsupported("a ddof that is no integer");
  if (ddof) reduction->ddof = ddof->integer;
}

void SetTypes(const Request& request, DType dtype, Reduction* reduction) {
  reduction->element = reduction->total = reduction->stored = dtype;
  switch (reduction->kind) {
    case ReduceKind::kSum:
    case ReduceKind::kProduct:
      return SetTotalTypes(request, dtype, reduction);
    case ReduceKind::kMean:
    case ReduceKind::kVariance:
    case ReduceKind::kStd:
      return SetFloatTypes(request, dtype, reduction);
    case ReduceKind::kAny:
    case ReduceKind::kAll:
      reduction->element = reduction->total = reduction->stored = DType::kBool;
      return;
    case ReduceKind::kArgmax:
    case ReduceKind::kArgmin:
      reduction->total = reduction->stored = DType::kInt64;
      return;
    case ReduceKind::kMax:
    case ReduceKind::kMin:
      return;
  }
}

}  // namespace

std::optional<Reduction> FindReduction(const Request& request) {
  const std::string name = request.name();
  for (const auto& entry : kNames) {
    if (name != entry.name) continue;
    request.CheckNames({"a", "axis", "dtype", "keepdims", "ddof"});
    const MXAccDLTensor* a = request.FindInput("a");
    if (a == nullptr || a->ndim == 0) Unsupported(name + " of a number");
    Reduction reduction{entry.kind, request.IndexOf(*a), {}, {}, {}, 0, {}, SplitAxes(request, *a)};
    SetTypes(request, DTypeOf(a->dtype), &reduction);
    reduction.formula = CombinedBy(name, reduction);
    const ReduceAxes& axes = reduction.axes;
    const bool has_extremum = entry.kind == ReduceKind::kMax || entry.kind == ReduceKind::kMin;
    const bool needs_elements =
        reduction.finds_position() || (has_extremum && axes.kept.count() != 0);
    if (needs_elements && axes.reduced.count() == 0) Unsupported(name + " of no elements");
    request.CheckOutput(reduction.stored);
    return reduction;
  }
  return std::nullopt;
}

}  // namespace mxacc
