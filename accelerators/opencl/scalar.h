/*!
 * \file scalar.h
 * \brief Numbers among an operator's arguments.
 */
#ifndef OPENCL_SCALAR_H_
#define OPENCL_SCALAR_H_

#include "../sdk/operators/number.h"
#include "dtype.h"
#include "runtime.h"

namespace opencl {

/*! \brief A Python number as an argument of a kernel that works with elements of dtype. */
class Scalar : public Number {
 public:
  using Number::Number;

  /*! \brief Its type in the kernel's list of parameters. */
  const char* type() const;
  /*! \brief The parameter x as an element. */
  std::string Text(const std::string& x) const;
  void SetArgument(cl_kernel kernel, cl_uint index) const;
};

}  // namespace opencl

#endif  // OPENCL_SCALAR_H_
