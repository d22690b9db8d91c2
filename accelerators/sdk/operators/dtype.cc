#include "dtype.h"

#include <mxnet/op/promotion.h>

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

/*! \brief What a number is beside arrays. */
int WeakOf(AttributeValue::Kind kind) {
  switch (kind) {
    case AttributeValue::Kind::kBool:
      return kMXNetWeakBool;
    case AttributeValue::Kind::kInt:
    case AttributeValue::Kind::kUInt:
      return kMXNetWeakInt;
    default:
      return kMXNetWeakFloat;
  }
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

MXAccDataType TypeOf(DType dtype) {
  static constexpr uint8_t kCodes[] = {kMXAccBool, kMXAccInt, kMXAccUInt, kMXAccFloat};
  const bool is_bfloat = dtype == DType::kBFloat16;
  const uint8_t code = is_bfloat ? uint8_t{kMXAccBfloat} : kCodes[static_cast<int>(ClassOf(dtype))];
  return {code, static_cast<uint8_t>(BitsOf(dtype)), 1};
}

DType Promote(DType a, DType b) {
  return DTypeOf(mxnet::op::promotion::Promote(TypeOf(a), TypeOf(b)));
}

DType PromoteWeak(DType dtype, AttributeValue::Kind kind) {
  return DTypeOf(mxnet::op::promotion::PromoteWeak(TypeOf(dtype), WeakOf(kind)));
}

}  // namespace mxacc
