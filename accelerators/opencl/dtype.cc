#include "dtype.h"

#include <algorithm>

namespace opencl {
namespace {

struct Traits {
  const char* name;
  Class type_class;
  int bits;
  const char* compute; /*!< in kernels */
};

constexpr Traits kTraits[] = {
    {"bool", Class::kBool, 8, "int"},           {"int8", Class::kSigned, 8, "char"},
    {"int16", Class::kSigned, 16, "short"},     {"int32", Class::kSigned, 32, "int"},
    {"int64", Class::kSigned, 64, "long"},      {"uint8", Class::kUnsigned, 8, "uchar"},
    {"uint16", Class::kUnsigned, 16, "ushort"}, {"uint32", Class::kUnsigned, 32, "uint"},
    {"uint64", Class::kUnsigned, 64, "ulong"},  {"float16", Class::kFloat, 16, "float"},
    {"bfloat16", Class::kFloat, 16, "float"},   {"float32", Class::kFloat, 32, "float"},
    {"float64", Class::kFloat, 64, "double"},
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

DType PromoteWeak(DType dtype, JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kBool:
      return dtype;
    case JsonValue::Kind::kInt:
    case JsonValue::Kind::kUInt:
      return RankOf(dtype) == 0 ? DType::kInt64 : dtype;
    default:
      return RankOf(dtype) <= 1 ? DType::kFloat64 : dtype;
  }
}

DType FloatOf(DType dtype) {
  return IsFloat(dtype) ? dtype : Find(Class::kFloat, std::min(64, 2 * BitsOf(dtype)));
}

const char* ElementType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "uchar";
    case DType::kFloat16:
      return "half";
    case DType::kBFloat16:
      return "ushort";
    default:
      return ComputeType(dtype);
  }
}

const char* ComputeType(DType dtype) { return TraitsOf(dtype).compute; }

std::string UnsignedType(DType dtype) {
  const std::string type = ComputeType(dtype);
  return ClassOf(dtype) == Class::kUnsigned ? type : "u" + type;
}

const char* WrappingType(DType dtype) { return BitsOf(dtype) == 64 ? "ulong" : "uint"; }

std::string Load(DType dtype, const std::string& p, const std::string& i) {
  // All devices load and store float16, with or without arithmetic of it.
  if (dtype == DType::kFloat16) return "vload_half(" + i + ", " + p + ")";
  const std::string element = p + "[" + i + "]";
  if (dtype == DType::kBFloat16) return "as_float((uint)" + element + " << 16)";
  return dtype == DType::kBool ? "(" + element + " != 0)" : element;
}

std::string Store(DType dtype, const std::string& x, const std::string& p, const std::string& i) {
  if (dtype == DType::kFloat16) return "vstore_half_rte(" + x + ", " + i + ", " + p + ");";
  const std::string element = p + "[" + i + "] = ";
  if (dtype == DType::kBFloat16) return element + "bfloat16_of(" + x + ");";
  return element + "(" + ElementType(dtype) + ")(" + x + ");";
}

std::string Convert(DType from, DType to, const std::string& x) {
  const std::string plain = std::string("((") + ComputeType(to) + ")(" + x + "))";
  if (from == to) return plain;
  if (ClassOf(to) == Class::kBool) return "((" + x + ") != 0)";
  if (IsHalf(to)) {
    // Rounding a float that was rounded to odd gives what rounding the double would.
    const std::string single =
        from == DType::kFloat64 ? "odd_float(" + x + ")" : "(float)(" + x + ")";
    return std::string("rounded_") + NameOf(to) + "(" + single + ")";
  }
  if (!IsInt(to) || !IsFloat(from)) return plain;
  // By way of a wider type, as on the CPU.
  const std::string type = std::string("(") + ComputeType(to) + ")";
  if (BitsOf(to) < 32) return "(" + type + "(int)(" + x + "))";
  if (to == DType::kUInt32) return "(" + type + "(long)(" + x + "))";
  if (to == DType::kUInt64)
    return "((" + x + ") < 0 ? (ulong)(long)(" + x + ") : (ulong)(" + x + "))";
  return plain;
}

std::string ElementSource(bool with_double) {
  std::string source = R"(
#pragma OPENCL FP_CONTRACT OFF
ushort bfloat16_of(float x) {
  const uint bits = as_uint(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (ushort)((bits >> 16) | 0x40u);
  return (ushort)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
float rounded_bfloat16(float x) { return as_float((uint)bfloat16_of(x) << 16); }
float rounded_float16(float x) {
  ushort bits;
  vstore_half_rte(x, 0, (half*)&bits);
  return vload_half(0, (const half*)&bits);
}
)";
  if (with_double) {
    source += R"(
float odd_float(double x) {
  const float nearest = (float)x;
  const double error = x - (double)nearest;
  const uint bits = as_uint(nearest);
  if (!(error < 0 || error > 0) || (bits & 1u) || (bits & 0x7f800000u) == 0x7f800000u) {
    return nearest;
  }
  return as_float((error > 0) == (x > 0) ? bits + 1 : bits - 1);
}
)";
  }
  return source;
}

}  // namespace opencl
