#include "dtype.h"

namespace opencl {

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

const char* ComputeType(DType dtype) {
  static constexpr const char* kTypes[] = {"int",   "char",   "short", "int",   "long",
                                           "uchar", "ushort", "uint",  "ulong", "float",
                                           "float", "float",  "double"};
  return kTypes[static_cast<int>(dtype)];
}

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
