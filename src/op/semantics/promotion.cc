/*!
 * \file promotion.cc
 * \brief The rules of result types.
 */
#include "op/semantics/promotion.h"

#include <mxnet/op/promotion.h>

#include <algorithm>

namespace mxnet {
namespace op {
namespace {

using promotion::RankOf;

}  // namespace

DLDataType PromoteTypes(DLDataType a, DLDataType b) {
  CheckedIndexOfDType(a);
  CheckedIndexOfDType(b);
  return promotion::Promote(a, b);
}

bool CommonType::is_empty() const noexcept {
  return std::none_of(has_, has_ + kNumDTypes, [](bool has) { return has; });
}

DLDataType CommonType::dtype() const {
  DLDataType common{};
  bool is_first = true;
  // The indices are in the order of the kinds.
  for (int i = kNumDTypes - 1; i >= 0; --i) {
    if (!has_[i]) continue;
    common = is_first ? kDTypes[i] : PromoteTypes(common, kDTypes[i]);
    is_first = false;
  }
  return common;
}

DLDataType DefaultDType(WeakKind kind) {
  switch (kind) {
    case WeakKind::kBool:
      return kBool;
    case WeakKind::kInt:
      return kInt64;
    case WeakKind::kComplex:
      return kComplex64;
    default:
      return kFloat32;
  }
}

DLDataType PromoteWeak(DLDataType dtype, WeakKind kind) {
  return promotion::PromoteWeak(dtype, static_cast<int>(kind));
}

DLDataType PromoteNumbers(DLDataType dtype, DLDataType numbers, WeakKind kind) {
  const bool are_ints = RankOf(dtype) <= promotion::kRankInt && kind <= WeakKind::kInt;
  return are_ints ? PromoteTypes(dtype, numbers) : PromoteWeak(dtype, kind);
}

DLDataType ResultType(DLDataType a, WeakKind a_kind, DLDataType b, WeakKind b_kind) {
  if (a_kind != WeakKind::kNone && b_kind != WeakKind::kNone) {
    // Both types are defaults of their kind, or uint64 of an integer beyond int64.
    const WeakKind kind = std::max(a_kind, b_kind);
    const bool is_large = a == kUInt64 || b == kUInt64;
    return kind == WeakKind::kInt && is_large ? kUInt64 : DefaultDType(kind);
  }
  if (a_kind != WeakKind::kNone) return PromoteWeak(b, a_kind);
  if (b_kind != WeakKind::kNone) return PromoteWeak(a, b_kind);
  return PromoteTypes(a, b);
}

DLDataType FloatOfDType(DLDataType dtype) { return promotion::FloatOf(dtype); }

DLDataType RealOfDType(DLDataType dtype) { return promotion::RealOf(dtype); }

bool CanCastSameKind(DLDataType from, DLDataType to) {
  if (RankOf(from) != RankOf(to)) return RankOf(from) < RankOf(to);
  // Of the integers only a signed one cannot become unsigned.
  return !(from.code == kDLInt && to.code == kDLUInt);
}

}  // namespace op
}  // namespace mxnet
