/*!
 * \file promotion.cc
 * \brief The rules of result types.
 */
#include "op/semantics/promotion.h"

#include <algorithm>

namespace mxnet {
namespace op {
namespace {

DLDataType Sized(int code, int bits) {
  return DLDataType{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
}

/*! \brief bool < integers < floats < complex. */
int RankOf(DLDataType dtype) {
  if (IsBoolDType(dtype)) return 0;
  if (IsIntDType(dtype)) return 1;
  return IsFloatDType(dtype) ? 2 : 3;
}

DLDataType PromoteInts(DLDataType a, DLDataType b) {
  if (a.code == b.code) return a.bits >= b.bits ? a : b;
  const DLDataType with_sign = a.code == kDLInt ? a : b;
  const DLDataType without = a.code == kDLInt ? b : a;
  if (with_sign.bits > without.bits) return with_sign;
  return without.bits == 64 ? kFloat64 : Sized(kDLInt, 2 * without.bits);
}

DLDataType PromoteFloats(DLDataType a, DLDataType b) {
  // float16 and bfloat16 each have values the other lacks.
  if (a.bits == b.bits && a.code != b.code) return kFloat32;
  return a.bits >= b.bits ? a : b;
}

DLDataType PromoteFloatWithInt(DLDataType real, DLDataType integer) {
  if (real.code == kDLBfloat && integer.bits == 8) return real;
  const int needed = integer.bits == 8 ? 16 : integer.bits == 16 ? 32 : 64;
  return Sized(kDLFloat, std::max<int>(needed, real.bits));
}

}  // namespace

DLDataType PromoteTypes(DLDataType a, DLDataType b) {
  CheckedIndexOfDType(a);
  CheckedIndexOfDType(b);
  if (a == b) return a;
  if (RankOf(a) < RankOf(b)) std::swap(a, b);
  if (IsBoolDType(b)) return a;
  if (IsComplexDType(a)) {
    const DLDataType part = RealOfDType(a);
    const DLDataType other = RealOfDType(b);
    const bool wide = part.bits == 64 || (IsIntDType(other) ? other.bits > 16 : other.bits == 64);
    return wide ? kComplex128 : kComplex64;
  }
  if (IsIntDType(a)) return PromoteInts(a, b);
  return IsIntDType(b) ? PromoteFloatWithInt(a, b) : PromoteFloats(a, b);
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
  const int rank = RankOf(dtype);
  switch (kind) {
    case WeakKind::kInt:
      return rank == 0 ? kInt64 : dtype;
    case WeakKind::kFloat:
      return rank <= 1 ? kFloat64 : dtype;
    case WeakKind::kComplex:
      if (rank == 3) return dtype;
      return rank == 2 && dtype.bits < 64 ? kComplex64 : kComplex128;
    default:
      return dtype;
  }
}

DLDataType PromoteNumbers(DLDataType dtype, DLDataType numbers, WeakKind kind) {
  const bool are_ints = RankOf(dtype) <= 1 && kind <= WeakKind::kInt;
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

DLDataType FloatOfDType(DLDataType dtype) {
  if (!IsBoolDType(dtype) && !IsIntDType(dtype)) return dtype;
  return Sized(kDLFloat, std::min(64, 2 * dtype.bits));
}

DLDataType RealOfDType(DLDataType dtype) {
  return IsComplexDType(dtype) ? Sized(kDLFloat, dtype.bits / 2) : dtype;
}

bool CanCastSameKind(DLDataType from, DLDataType to) {
  if (RankOf(from) != RankOf(to)) return RankOf(from) < RankOf(to);
  // Of the integers only a signed one cannot become unsigned.
  return !(from.code == kDLInt && to.code == kDLUInt);
}

}  // namespace op
}  // namespace mxnet
