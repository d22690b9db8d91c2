/*!
 * \file scalars.h
 * \brief The numbers by which libraries of NVIDIA's scale what they add up.
 */
#ifndef CUDAACC_SCALARS_H_
#define CUDAACC_SCALARS_H_

#include "../sdk/operators/dtype.h"

namespace cudaacc {

/*! \brief 1 and 0, of 8 bytes for tensors of float64 and of 4 for all others. */
struct Scalars {
  const void* one;
  const void* zero;
};

inline Scalars ScalarsFor(mxacc::DType dtype) {
  static constexpr double kDoubles[] = {1, 0};
  static constexpr float kFloats[] = {1, 0};
  if (dtype == mxacc::DType::kFloat64) return {&kDoubles[0], &kDoubles[1]};
  return {&kFloats[0], &kFloats[1]};
}

}  // namespace cudaacc

#endif  // CUDAACC_SCALARS_H_
