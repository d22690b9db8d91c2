/*!
 * \file dtype.h
 * \brief Data types, and their promotion by the rules of mxnet/op/promotion.h.
 */
#ifndef MXACC_SDK_OPERATORS_DTYPE_H_
#define MXACC_SDK_OPERATORS_DTYPE_H_

#include <string>

#include "../attribute.h"

namespace mxacc {

enum class DType {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64
};

/*! \brief What a type is like; bool is a class of its own. */
enum class Class { kBool, kSigned, kUnsigned, kFloat };

/*! \brief kMXAccUnsupported for complex numbers, and types that are none. */
DType DTypeOf(MXAccDataType dtype);
/*! \brief By its name, "float32". */
DType DTypeOf(const std::string& name);

MXAccDataType TypeOf(DType dtype);
const char* NameOf(DType dtype);
Class ClassOf(DType dtype);
int BitsOf(DType dtype);

inline bool IsFloat(DType dtype) { return ClassOf(dtype) == Class::kFloat; }
inline bool IsInt(DType dtype) {
  return ClassOf(dtype) == Class::kSigned || ClassOf(dtype) == Class::kUnsigned;
}
inline bool IsHalf(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

/*! \brief The type that two arrays are promoted to. */
DType Promote(DType a, DType b);
/*! \brief The type that an array and a Python number of that kind are promoted to. */
DType PromoteWeak(DType dtype, AttributeValue::Kind kind);

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_DTYPE_H_
