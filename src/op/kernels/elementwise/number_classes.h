/*!
 * \file number_classes.h
 * \brief Tests of dense spans of floats for NaN and infinity, 64 at a time: as many as have a
 * register of results.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_NUMBER_CLASSES_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_NUMBER_CLASSES_H_

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/loops.h"

#if MXNET_CPU_LEVELS
#include <immintrin.h>
#endif

namespace mxnet {
namespace op {

/*! \brief Classes of floats, as the instruction has them: quiet and signaling NaN, either infinity.
 */
constexpr int kClassNan = 0x81;
constexpr int kClassInfinity = 0x18;

#if MXNET_CPU_LEVELS
namespace internal {

/*! \brief A bit for each of as many numbers as a register has, set for those of the classes. */
template <int kClasses>
MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE uint64_t ClassBits(const float* x) {
  return _mm512_fpclass_ps_mask(_mm512_loadu_ps(x), kClasses);
}
template <int kClasses>
MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE uint64_t ClassBits(const double* x) {
  return _mm512_fpclass_pd_mask(_mm512_loadu_pd(x), kClasses);
}

}  // namespace internal

/*! \brief The loop of Op with AVX-512: whether numbers are of its kClasses or, where kIsNone, of
 * none of them. */
template <typename Op, typename T>
MXNET_TARGET_AVX512 void WideClassTest(char* const* data, const int64_t* strides, int64_t n) {
  constexpr int64_t kAtOnce = 64;
  constexpr int64_t kLanes = 64 / sizeof(T);
  int64_t done = 0;
  if (strides[0] == sizeof(bool) && strides[1] == sizeof(T)) {
    const auto* x = reinterpret_cast<const T*>(data[1]);
    for (; done + kAtOnce <= n; done += kAtOnce) {
      uint64_t bits = 0;
      for (int64_t i = 0; i < kAtOnce; i += kLanes) {
        bits |= internal::ClassBits<Op::kClasses>(x + done + i) << i;
      }
      if constexpr (Op::kIsNone) bits = ~bits;
      _mm512_storeu_si512(data[0] + done, _mm512_maskz_set1_epi8(bits, 1));
    }
  }
  char* const rest[2] = {data[0] + done * strides[0], data[1] + done * strides[1]};
  internal::Compiled<UnaryBody<Op, T>, InnerLoop>::Avx2(rest, strides, n - done);
}
#endif  // MXNET_CPU_LEVELS

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_NUMBER_CLASSES_H_
