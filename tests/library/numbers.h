/*!
 * \file numbers.h
 * \brief Arithmetic of the functions and classes that test the boundary, which get any numbers.
 */
#ifndef MXNET_TESTS_LIBRARY_NUMBERS_H_
#define MXNET_TESTS_LIBRARY_NUMBERS_H_

#include <mxnet/runtime/error.h>

#include <cstdint>

namespace testing {

/*! \brief a + b, or an OverflowError. */
inline int64_t CheckedSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    MXNET_THROW("OverflowError") << a << " + " << b << " does not fit into an int64";
  }
  return sum;
}

/*! \brief A number without its fraction, or an OverflowError. */
inline int64_t CheckedInt(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2**63
  if (!(value >= -kLimit && value < kLimit)) {
    MXNET_THROW("OverflowError") << value << " does not fit into an int64";
  }
  return static_cast<int64_t>(value);
}

}  // namespace testing

#endif  // MXNET_TESTS_LIBRARY_NUMBERS_H_
