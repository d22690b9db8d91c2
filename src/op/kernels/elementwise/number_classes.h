/*!
 * \file number_classes.h
 * \brief Tests of dense spans of floats for NaN and infinity, as many at a time as have a register
 * of results: 32 with AVX2, 64 with AVX-512.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_NUMBER_CLASSES_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_NUMBER_CLASSES_H_

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/bytes_of_masks.h"
#include "op/kernels/elementwise/loops.h"

#if MXNET_CPU_LEVELS
#include <limits>

#include "op/kernels/lanes/intrinsics.h"
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

/*! \brief How |x| compares with infinity where x is of the classes; as predicates of AVX2 do. */
constexpr int ClassPredicate(int classes) {
  return classes == kClassNan ? _CMP_UNORD_Q : classes == kClassInfinity ? _CMP_EQ_OQ : _CMP_NLT_UQ;
}

/*! \brief The lanes of numbers of the classes. */
template <int kClasses>
MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256i ClassLanes(const float* x) {
  const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), _mm256_loadu_ps(x));
  const __m256 infinity = _mm256_set1_ps(std::numeric_limits<float>::infinity());
  return _mm256_castps_si256(_mm256_cmp_ps(size, infinity, ClassPredicate(kClasses)));
}
template <int kClasses>
MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256i ClassLanes(const double* x) {
  const __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_loadu_pd(x));
  const __m256d infinity = _mm256_set1_pd(std::numeric_limits<double>::infinity());
  return _mm256_castpd_si256(_mm256_cmp_pd(size, infinity, ClassPredicate(kClasses)));
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

/*! \brief The same with AVX2. */
template <typename Op, typename T>
MXNET_TARGET_AVX2 void NarrowClassTest(char* const* data, const int64_t* strides, int64_t n) {
  constexpr int64_t kLanes = 32 / sizeof(T);
  int64_t done = 0;
  if (strides[0] == sizeof(bool) && strides[1] == sizeof(T)) {
    const auto* x = reinterpret_cast<const T*>(data[1]);
    for (; done + avx2::kBytesAtOnce <= n; done += avx2::kBytesAtOnce) {
      __m256i masks[sizeof(T)];
      for (int64_t i = 0; i < static_cast<int64_t>(sizeof(T)); ++i) {
        masks[i] = internal::ClassLanes<Op::kClasses>(x + done + i * kLanes);
      }
      avx2::StoreTruth<Op::kIsNone>(avx2::BytesOf(masks), data[0] + done);
    }
  }
  char* const rest[2] = {data[0] + done * strides[0], data[1] + done * strides[1]};
  internal::Compiled<UnaryBody<Op, T>, InnerLoop>::Avx2(rest, strides, n - done);
}
#endif  // MXNET_CPU_LEVELS

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_NUMBER_CLASSES_H_
