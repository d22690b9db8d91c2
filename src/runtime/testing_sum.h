/*!
 * \file testing_sum.h
 * \brief Adds for the functions and classes that test the boundary, whose callers give any numbers.
 */
#ifndef MXNET_SRC_RUNTIME_TESTING_SUM_H_
#define MXNET_SRC_RUNTIME_TESTING_SUM_H_

#include <mxnet/runtime/error.h>

#include <cstdint>

namespace mxnet {
namespace runtime {

/*! \brief a + b, or an OverflowError. */
inline int64_t CheckedSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    MXNET_THROW("OverflowError") << a << " + " << b << " does not fit into an int64";
  }
  return sum;
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_TESTING_SUM_H_
