#include "scalar.h"

namespace opencl {

const char* Scalar::type() const {
  if (dtype() == DType::kFloat64) return "double";
  if (IsFloat(dtype())) return "float";
  return ClassOf(dtype()) == Class::kUnsigned ? "ulong" : "long";
}

std::string Scalar::Text(const std::string& x) const {
  return Convert(IsHalf(dtype()) ? DType::kFloat32 : dtype(), dtype(), x);
}

void Scalar::SetArgument(cl_kernel kernel, cl_uint index) const {
  const bool is_single = IsFloat(dtype()) && dtype() != DType::kFloat64;
  Check(clSetKernelArg(kernel, index, is_single ? sizeof(float) : sizeof(double), &value()),
        "clSetKernelArg");
}

}  // namespace opencl
