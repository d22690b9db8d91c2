/*!
 * \file scalar.h
 * \brief Numbers among an operator's arguments.
 */
#ifndef OPENCL_SCALAR_H_
#define OPENCL_SCALAR_H_

#include "dtype.h"
#include "runtime.h"

namespace opencl {

/*! \brief A Python number as an argument of a kernel that works with elements of dtype. */
class Scalar {
 public:
  /*! \brief kMXAccUnsupported where the CPU would not take it, or it is no number. */
  Scalar(const JsonValue& value, DType dtype);

  /*! \brief Its type in the kernel's list of parameters. */
  const char* type() const;
  /*! \brief The parameter x as an element. */
  std::string Text(const std::string& x) const;
  void SetArgument(cl_kernel kernel, cl_uint index) const;

 private:
  DType dtype_;
  union {
    int64_t integer; /*!< its bits, for unsigned types */
    float single;
    double real;
  } value_;
};

/*! \brief Whether it is a number or a bool. */
bool IsNumber(const JsonValue& value);
/*! \brief Whether it is below zero. */
bool IsNegative(const JsonValue& value);

}  // namespace opencl

#endif  // OPENCL_SCALAR_H_
