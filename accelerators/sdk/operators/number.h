/*!
 * \file number.h
 * \brief Numbers among an operator's arguments.
 */
#ifndef MXACC_SDK_OPERATORS_NUMBER_H_
#define MXACC_SDK_OPERATORS_NUMBER_H_

#include "dtype.h"

namespace mxacc {

/*! \brief A Python number as it takes part among elements of a type. */
class Number {
 public:
  union Value {
    int64_t integer; /*!< its bits, for unsigned types */
    float single;    /*!< for floats but float64; to be rounded to the two-byte ones */
    double real;     /*!< for float64 */
  };

  /*! \brief kMXAccUnsupported where the CPU would not take it, or it is no number. */
  Number(const AttributeValue& value, DType dtype);

  DType dtype() const { return dtype_; }
  const Value& value() const { return value_; }

 private:
  DType dtype_;
  Value value_;
};

/*! \brief Whether it is a number or a bool. */
bool IsNumber(const AttributeValue& value);
/*! \brief Whether it is below zero. */
bool IsNegative(const AttributeValue& value);

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_NUMBER_H_
