/*!
 * \file mxnet/op/promotion.h
 * \brief The type that operands of several types are computed in: NumPy 2's rules, and ml_dtypes'
 * for bfloat16.
 *
 * Type is DLDataType, MXAccDataType, or another struct of code, bits and lanes; a type is one that
 * operators know.
 */
#ifndef MXNET_OP_PROMOTION_H_
#define MXNET_OP_PROMOTION_H_

#include <mxnet/op/c_operator_api.h>

#include <cstdint>

namespace mxnet {
namespace op {
namespace promotion {

template <typename Type>
constexpr Type Sized(int code, int bits) {
  Type type{};
  type.code = static_cast<uint8_t>(code);
  type.bits = static_cast<uint8_t>(bits);
  type.lanes = 1;
  return type;
}

template <typename Type>
constexpr bool AreEqual(Type a, Type b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/*! \brief bool < integers < floats < complex. */
enum Rank { kRankBool, kRankInt, kRankFloat, kRankComplex };

template <typename Type>
constexpr Rank RankOf(Type type) {
  if (type.code == kDLBool) return kRankBool;
  if (type.code == kDLInt || type.code == kDLUInt) return kRankInt;
  return type.code == kDLComplex ? kRankComplex : kRankFloat;
}

/*! \brief The component type of a complex type; any other type itself. */
template <typename Type>
constexpr Type RealOf(Type type) {
  return RankOf(type) == kRankComplex ? Sized<Type>(kDLFloat, type.bits / 2) : type;
}

/*! \brief The float of an integer type as exp has it: 8 bits float16, 16 float32, else float64. */
template <typename Type>
constexpr Type FloatOf(Type type) {
  if (RankOf(type) > kRankInt) return type;
  return Sized<Type>(kDLFloat, type.bits < 32 ? 2 * type.bits : 64);
}

template <typename Type>
constexpr Type PromoteInts(Type a, Type b) {
  if (a.code == b.code) return a.bits >= b.bits ? a : b;
  const Type with_sign = a.code == kDLInt ? a : b;
  const Type without = a.code == kDLInt ? b : a;
  if (with_sign.bits > without.bits) return with_sign;
  return without.bits == 64 ? Sized<Type>(kDLFloat, 64) : Sized<Type>(kDLInt, 2 * without.bits);
}

template <typename Type>
constexpr Type PromoteFloats(Type a, Type b) {
  // float16 and bfloat16 each have values the other lacks.
  if (a.bits == b.bits && a.code != b.code) return Sized<Type>(kDLFloat, 32);
  return a.bits >= b.bits ? a : b;
}

template <typename Type>
constexpr Type PromoteFloatWithInt(Type real, Type integer) {
  if (real.code == kDLBfloat && integer.bits == 8) return real;
  const Type needed = FloatOf(integer);
  return needed.bits > real.bits ? needed : Sized<Type>(kDLFloat, real.bits);
}

/*! \brief The smallest type that holds both. */
template <typename Type>
constexpr Type Promote(Type a, Type b) {
  if (AreEqual(a, b)) return a;
  if (RankOf(a) < RankOf(b)) return Promote(b, a);
  if (RankOf(b) == kRankBool) return a;
  if (RankOf(a) == kRankComplex) {
    const Type other = RealOf(b);
    const bool wide =
        a.bits == 128 || (RankOf(other) == kRankInt ? other.bits > 16 : other.bits == 64);
    return Sized<Type>(kDLComplex, wide ? 128 : 64);
  }
  if (RankOf(a) == kRankInt) return PromoteInts(a, b);
  return RankOf(b) == kRankInt ? PromoteFloatWithInt(a, b) : PromoteFloats(a, b);
}

/*! \brief The type of an array together with a Python number of a MXNetWeakKind. */
template <typename Type>
constexpr Type PromoteWeak(Type type, int weak) {
  const Rank rank = RankOf(type);
  if (weak == kMXNetWeakInt && rank == kRankBool) return Sized<Type>(kDLInt, 64);
  if (weak == kMXNetWeakFloat && rank <= kRankInt) return Sized<Type>(kDLFloat, 64);
  if (weak == kMXNetWeakComplex && rank != kRankComplex) {
    return Sized<Type>(kDLComplex, rank == kRankFloat && type.bits < 64 ? 64 : 128);
  }
  return type;
}

/*!
 * \brief The smallest float that holds each of two types, of whose operands at most one is a
 * Python number; common is their type together.
 *
 * bfloat16 takes part by its own rules, and a number has no float of its own.
 */
template <typename Type>
constexpr Type FloatOfBoth(Type a, Type b, bool with_number, Type common) {
  const bool own_floats = a.code != kDLBfloat && b.code != kDLBfloat && !with_number;
  return own_floats ? Promote(FloatOf(a), FloatOf(b)) : FloatOf(common);
}

/*!
 * \brief The type that operands of a common type are converted to by an MXNetTypeRule, which is
 * one of kMXNetTypesCommon to kMXNetTypesBool; FloatOfBoth has that of two operands by
 * kMXNetTypesFloat.
 */
template <typename Type>
constexpr Type TypeByRule(int rule, Type common) {
  const Rank rank = RankOf(common);
  switch (rule) {
    case kMXNetTypesCommonNoBool:
      return rank == kRankBool ? Sized<Type>(kDLInt, 8) : common;
    case kMXNetTypesTrueDivide:
      return rank <= kRankInt ? Sized<Type>(kDLFloat, 64) : common;
    case kMXNetTypesFloat:
      return FloatOf(common);
    case kMXNetTypesBool:
      return Sized<Type>(kDLBool, 8);
    default:
      return common;
  }
}

}  // namespace promotion
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_OP_PROMOTION_H_
