/*!
 * \file vector_extremum.cc
 * \brief The search for the registers that the processor has.
 */
#include "op/kernels/reduction/vector_extremum.h"

#include "op/kernels/cpu.h"

#if MXNET_CPU_LEVELS
#include "op/kernels/lanes/avx2.h"
#include "op/kernels/lanes/avx512.h"

namespace mxnet {
namespace op {

#define MXNET_LEVEL avx2
#define MXNET_TARGET MXNET_TARGET_AVX2
#include "op/kernels/reduction/vector_extremum.inc"

#define MXNET_LEVEL avx512
#define MXNET_TARGET MXNET_TARGET_AVX512
#include "op/kernels/reduction/vector_extremum.inc"

}  // namespace op
}  // namespace mxnet
#endif  // MXNET_CPU_LEVELS

namespace mxnet {
namespace op {

template <bool kLargest, typename T>
VectorExtremum<T> FindVectorExtremum() noexcept {
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx512) {
    using Extremum = avx512::Extremum<kLargest, T>;
    return {&Extremum::Run, &Extremum::Find, &Extremum::Rows, &Extremum::EvenRows};
  }
  if (HostCpuLevel() >= CpuLevel::kAvx2) {
    using Extremum = avx2::Extremum<kLargest, T>;
    return {&Extremum::Run, &Extremum::Find, &Extremum::Rows, &Extremum::EvenRows};
  }
#endif
  return {};
}

#define MXNET_EXTREMUM(T)                                            \
  template VectorExtremum<T> FindVectorExtremum<true, T>() noexcept; \
  template VectorExtremum<T> FindVectorExtremum<false, T>() noexcept;
MXNET_EXTREMUM(int32_t)
MXNET_EXTREMUM(int64_t)
MXNET_EXTREMUM(float)
MXNET_EXTREMUM(double)
#undef MXNET_EXTREMUM

}  // namespace op
}  // namespace mxnet
