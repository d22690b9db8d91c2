/*!
 * \file dtype.h
 * \brief What data types are in kernels; x, p and i are expressions.
 */
#ifndef OPENCL_DTYPE_H_
#define OPENCL_DTYPE_H_

#include <string>

#include "../sdk/operators/dtype.h"
#include "sdk.h"

namespace opencl {

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
