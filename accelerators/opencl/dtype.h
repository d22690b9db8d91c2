/*!
 * \file dtype.h
 * \brief Data types: their promotion, and what they are in kernels.
 */
#ifndef OPENCL_DTYPE_H_
#define OPENCL_DTYPE_H_

#include <string>

#include "common.h"

namespace opencl {

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

/*! \brief kMXAccUnsupported for a type that kernels do not have. */
DType DTypeOf(MXAccDataType dtype);
/*! \brief By its name, "float32". */
DType DTypeOf(const std::string& name);

const char* NameOf(DType dtype);
Class ClassOf(DType dtype);
int BitsOf(DType dtype);

inline bool IsFloat(DType dtype) { return ClassOf(dtype) == Class::kFloat; }
inline bool IsInt(DType dtype) {
  return ClassOf(dtype) == Class::kSigned || ClassOf(dtype) == Class::kUnsigned;
}
inline bool IsHalf(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

/*! \brief The type of two arrays together. */
DType Promote(DType a, DType b);
/*! \brief The type of an array and a Python number of that kind. */
DType PromoteWeak(DType dtype, JsonValue::Kind kind);
/*! \brief The smallest float that holds the type. */
DType FloatOf(DType dtype);

/* ---- in kernels; x, p and i are expressions ---- */

/*! \brief What an element is in memory, "half". */
const char* ElementType(DType dtype);
/*! \brief What it is computed with, "float". */
const char* ComputeType(DType dtype);
/*! \brief The unsigned type of as many bits, for integers. */
std::string UnsignedType(DType dtype);
/*! \brief Unsigned, as wide as an integer type or wider: what its arithmetic wraps in. */
const char* WrappingType(DType dtype);
/*! \brief Element i of the pointer p, as the type is computed with. */
std::string Load(DType dtype, const std::string& p, const std::string& i);
/*! \brief A statement that stores x as element i of p. */
std::string Store(DType dtype, const std::string& x, const std::string& p, const std::string& i);
/*! \brief x converted as the CPU converts elements. */
std::string Convert(DType from, DType to, const std::string& x);
/*! \brief What these texts need. */
std::string ElementSource(bool with_double);

}  // namespace opencl

#endif  // OPENCL_DTYPE_H_
