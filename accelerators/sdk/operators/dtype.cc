#include "dtype.h"

#include <algorithm>

#include "../status.h"

namespace mxacc {
namespace {

struct Traits {
  const char* name;
  Class type_class;
  int bits;
};

constexpr Traits kTraits[] = {
    {"bool", Class::kBool, 8},        {"int8", Class::kSigned, 8},
    {"int16", Class::kSigned, 16},    {"int32", Class::kSigned, 32},
    {"int64", Class::kSigned, 64},    {"uint8", Class::kUnsigned, 8},
    {"uint16", Class::kUnsigned, 16}, {"uint32", Class::kUnsigned, 32},
    {"uint64", Class::kUnsigned, 64}, {"float16", Class::kFloat, 16},
    {"bfloat16", Class::kFloat, 16},  {"float32", Class::kFloat, 32},
    {"float64", Class::kFloat, 64},
};
constexpr int kCount = sizeof(kTraits) / sizeof(*kTraits);

const Traits& TraitsOf(DType dtype) { return kTraits[static_cast<int>(dtype)]; }

DType Find(Class type_class, int bits) {
  for (int i = 0; i < kCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype != DType::kBFloat16 && kTraits[i].type_class == type_class &&
        kTraits[i].bits == bits) {
      return dtype;
    }
  }
  return DType::kFloat64;
}

/*! \brief bool < integers < floats. */
int RankOf(DType dtype) {
  if (ClassOf(dtype) == Class::kBool) return 0;
  return IsInt(dtype) ? 1 : 2;
}

DType PromoteInts(DType a, DType b) {
  if (ClassOf(a) == ClassOf(b)) return BitsOf(a) >= BitsOf(b) ? a : b;
  const DType with_sign = ClassOf(a) == Class::kSigned ? a : b;
  const DType without = ClassOf(a) == Class::kSigned ? b : a;
  if (BitsOf(with_sign) > BitsOf(without)) return with_sign;
  return BitsOf(without) == 64 ? DType::kFloat64 : Find(Class::kSigned, 2 * BitsOf(without));
}

DType PromoteFloatWithInt(DType real, DType integer) {
  if (real == DType::kBFloat16 && BitsOf(integer) == 8) return real;
  return Find(Class::kFloat, std::max(std::min(2 * BitsOf(integer), 64), BitsOf(real)));
}

}  // namespace

DType DTypeOf(MXAccDataType dtype) {
  static constexpr struct {
    Class type_class;
    uint8_t code;
  } kCodes[] = {{Class::kBool, kMXAccBool},
                {Class::kSigned, kMXAccInt},
                {Class::kUnsigned, kMXAccUInt},
                {Class::kFloat, kMXAccFloat}};
  if (dtype.lanes == 1 && dtype.code == kMXAccBfloat && dtype.bits == 16) return DType::kBFloat16;
  for (const auto& entry : kCodes) {
    if (dtype.lanes != 1 || dtype.code != entry.code) continue;
    const DType found = Find(entry.type_class, dtype.bits);
    if (ClassOf(found) == entry.type_class && BitsOf(found) == dtype.bits) return found;
  }
  if (dtype.code == kMXAccComplex) Unsupported("complex numbers");
  Unsupported("elements of code " + std::to_string(dtype.code) + " and " +
              std::to_string(dtype.bits) + " bits");
}

DType DTypeOf(const std::string& name) {
  for (int i = 0; i < kCount; ++i) {
    if (name == kTraits[i].name) return static_cast<DType>(i);
  }
  Unsupported("the data type " + name);
}

const char* NameOf(DType dtype) { return TraitsOf(dtype).name; }
Class ClassOf(DType dtype) { return TraitsOf(dtype).type_class; }
int BitsOf(DType dtype) { return TraitsOf(dtype).bits; }

DType Promote(DType a, DType b) {
  if (a == b) return a;
  if (RankOf(a) < RankOf(b)) std::swap(a, b);
  if (RankOf(b) == 0) return a;
  if (IsInt(a)) return PromoteInts(a, b);
  if (IsInt(b)) return PromoteFloatWithInt(a, b);
  // float16 and bfloat16 each have values that the other lacks.
  if (IsHalf(a) && IsHalf(b)) return DType::kFloat32;
  return BitsOf(a) >= BitsOf(b) ? a : b;
}

DType PromoteWeak(DType dtype, AttributeValue::Kind kind) {
  switch (kind) {
    case AttributeValue::Kind::kBool:
      return dtype;
    case AttributeValue::Kind::kInt:
    case AttributeValue::Kind::kUInt:
      return RankOf(dtype) == 0 ? DType::kInt64 : dtype;
    default:
      return RankOf(dtype) <= 1 ? DType::kFloat64 : dtype;
  }
}

DType FloatOf(DType dtype) {
  return IsFloat(dtype) ? dtype : Find(Class::kFloat, std::min(64, 2 * BitsOf(dtype)));
}

}  // namespace mxacc
