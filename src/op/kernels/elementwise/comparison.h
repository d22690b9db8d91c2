/*!
 * \file comparison.h
 * \brief Comparisons of dense spans of floats, 64 at a time: as many as have a register of results.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_COMPARISON_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_COMPARISON_H_

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/loops.h"

#if MXNET_CPU_LEVELS
#include <immintrin.h>

/*! \brief How an instruction compares, GT_OQ; zero where there is none. */
#define MXNET_PREDICATE(name) _CMP_##name

namespace mxnet {
namespace op {
namespace internal {

/*! \brief One bit for each pair of elements of two registers. */
template <int kPredicate>
MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE uint64_t CompareRegisters(const float* a, const float* b) {
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(a), _mm512_loadu_ps(b), kPredicate);
}
template <int kPredicate>
MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE uint64_t CompareRegisters(const double* a,
                                                                  const double* b) {
  return _mm512_cmp_pd_mask(_mm512_loadu_pd(a), _mm512_loadu_pd(b), kPredicate);
}

}  // namespace internal

/*! \brief The loop of Op, whose kPredicate is that of the instruction, with AVX-512. */
template <typename Op, typename T>
MXNET_TARGET_AVX512 void WideComparison(char* const* data, const int64_t* strides, int64_t n) {
  constexpr int64_t kAtOnce = 64;
  constexpr int64_t kLanes = 64 / sizeof(T);
  int64_t done = 0;
  if (strides[0] == sizeof(bool) && strides[1] == sizeof(T) && strides[2] == sizeof(T)) {
    const auto* a = reinterpret_cast<const T*>(data[1]);
    const auto* b = reinterpret_cast<const T*>(data[2]);
    for (; done + kAtOnce <= n; done += kAtOnce) {
      uint64_t bits = 0;
      for (int64_t i = 0; i < kAtOnce; i += kLanes) {
        bits |= internal::CompareRegisters<Op::kPredicate>(a + done + i, b + done + i) << i;
      }
      _mm512_storeu_si512(data[0] + done, _mm512_maskz_set1_epi8(bits, 1));
    }
  }
  char* const rest[3] = {data[0] + done * strides[0], data[1] + done * strides[1],
                         data[2] + done * strides[2]};
  internal::Compiled<BinaryBody<Op, T>, InnerLoop>::Avx2(rest, strides, n - done);
}

}  // namespace op
}  // namespace mxnet

#else
#define MXNET_PREDICATE(name) 0
#endif  // MXNET_CPU_LEVELS

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_COMPARISON_H_
