#include "number.h"

#include <mxnet/op/narrow_floats.h>

#include <limits>
#include <string>

#include "../status.h"

namespace mxacc {
namespace {

using Kind = AttributeValue::Kind;

/*! \brief Whether an integer type of those bits holds the value. */
bool Holds(DType dtype, const AttributeValue& value) {
  const int bits = BitsOf(dtype);
  const bool is_large = value.kind == Kind::kUInt;
  if (ClassOf(dtype) == Class::kUnsigned) {
    if (!is_large && value.integer < 0) return false;
    return bits == 64 || static_cast<uint64_t>(value.integer) >> bits == 0;
  }
  const int64_t limit = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return !is_large && value.integer <= limit && value.integer >= -limit - 1;
}

double RealOf(const AttributeValue& value) {
  if (value.kind == Kind::kFloat) return value.real;
  if (value.kind == Kind::kUInt) return static_cast<double>(static_cast<uint64_t>(value.integer));
  return static_cast<double>(value.integer);
}

float SingleOf(const AttributeValue& value) {
  if (value.kind == Kind::kUInt) return static_cast<float>(static_cast<uint64_t>(value.integer));
  return static_cast<float>(value.integer);
}

}  // namespace

bool IsNumber(const AttributeValue& value) {
  return value.kind != Kind::kNull && value.kind != Kind::kText && value.kind != Kind::kArray;
}

bool IsNegative(const AttributeValue& value) {
  return value.kind == Kind::kFloat ? value.real < 0
                                    : value.kind != Kind::kUInt && value.integer < 0;
}

Number::Number(const AttributeValue& value, DType dtype) : dtype_(dtype), value_{} {
  if (!IsNumber(value)) Unsupported("an argument that is neither an array nor a number");
  if (ClassOf(dtype) == Class::kBool) {
    value_.integer = RealOf(value) != 0;
  } else if (dtype == DType::kFloat64) {
    value_.real = RealOf(value);
  } else if (IsHalf(dtype) && value.kind == Kind::kFloat) {
    value_.single = mxnet::op::narrow_floats::odd_float_of_double(value.real);
  } else if (IsFloat(dtype)) {
    value_.single = value.kind == Kind::kFloat ? static_cast<float>(value.real) : SingleOf(value);
  } else if (value.kind == Kind::kFloat || !Holds(dtype, value)) {
    Unsupported(std::string("a number that is no value of ") + NameOf(dtype));
  } else {
    value_.integer = value.integer;
  }
}

}  // namespace mxacc
