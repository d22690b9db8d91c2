#include "dtype.h"

#include <string_view>

namespace opencl {
namespace {

constexpr struct {
  std::string_view name;
  const char* function;

  bool IsOfDouble() const { return name == "odd_float_of_double"; }
} kConversions[] = {
#define MXNET_NARROW_FLOAT(name, ...) {#name, #__VA_ARGS__},
#include <mxnet/op/narrow_floats.inc>
};

constexpr struct {
  std::string_view name;
  const char* function;
} kToIntegers[] = {
#define MXNET_CONVERSION(name, ...) {#name, #__VA_ARGS__},
#include <mxnet/op/conversions.inc>
};

constexpr struct {
  std::string_view type;
  const char* name;
} kIntegers[] = {
#define MXNET_INTEGER_OF_FLOAT(type, name) {#type, #name},
#include <mxnet/op/conversions.inc>
};

/*! \brief The name of the function that converts floats of a type to integers of another. */
std::string FunctionOf(DType from, DType to) {
  std::string name;
  for (const auto& row : kIntegers) {
    if (row.type == NameOf(to)) name = row.name;
  }
  return name + "_" + ComputeType(from);
}

/*! \brief The functions that convert a float or double to an integer, to_int32_float. */
std::string ToIntegers(const std::string& type) {
  std::string source = "#define C " + type + "\n";
  std::string after = "#undef C\n";
  for (const auto& [name, function] : kToIntegers) {
    source += "#define " + std::string(name) + " " + std::string(name) + "_" + type + "\n";
    after += "#undef " + std::string(name) + "\n";
  }
  for (const auto& [name, function] : kToIntegers) source += std::string(function) + "\n";
  return source + after;
}

}  // namespace

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
  if (dtype == DType::kBFloat16) return "float_of_bfloat16(" + element + ")";
  return dtype == DType::kBool ? "(" + element + " != 0)" : element;
}

std::string Store(DType dtype, const std::string& x, const std::string& p, const std::string& i) {
  if (dtype == DType::kFloat16) return "vstore_half_rte(" + x + ", " + i + ", " + p + ");";
  const std::string element = p + "[" + i + "] = ";
  if (dtype == DType::kBFloat16) return element + "bfloat16_of_float(" + x + ");";
  return element + "(" + ElementType(dtype) + ")(" + x + ");";
}

std::string Convert(DType from, DType to, const std::string& x) {
  const std::string plain = std::string("((") + ComputeType(to) + ")(" + x + "))";
  if (from == to) return plain;
  if (IsFloat(from) && !IsFloat(to)) {
    return std::string("((") + ComputeType(to) + ")" + FunctionOf(from, to) + "(" + x + "))";
  }
  if (ClassOf(to) == Class::kBool) return "((" + x + ") != 0)";
  if (IsHalf(to)) {
    // Rounding a float that was rounded to odd gives what rounding the double would.
    const std::string single =
        from == DType::kFloat64 ? "odd_float_of_double(" + x + ")" : "(float)(" + x + ")";
    return std::string("rounded_") + NameOf(to) + "(" + single + ")";
  }
  return plain;
}

std::string ElementSource(bool with_double) {
  std::string source = R"(
#pragma OPENCL FP_CONTRACT OFF
#define uint16_t ushort
#define uint32_t uint
#define int32_t int
#define int64_t long
#define uint64_t ulong
#define INT32_MIN INT_MIN
#define INT64_MIN LONG_MIN
#define bits_of_float as_uint
#define float_of_bits as_float
)";
  for (const auto& conversion : kConversions) {
    if (conversion.IsOfDouble() && !with_double) continue;
    source += std::string(conversion.function) + "\n";
  }
  source += ToIntegers("float");
  if (with_double) source += ToIntegers("double");
  // Devices round to float16 in one instruction.
  return source + R"(
float rounded_bfloat16(float x) { return float_of_bfloat16(bfloat16_of_float(x)); }
float rounded_float16(float x) {
  ushort bits;
  vstore_half_rte(x, 0, (half*)&bits);
  return vload_half(0, (const half*)&bits);
}
)";
}

}  // namespace opencl
