/*!
 * \file comparison.h
 * \brief Comparisons of dense spans of numbers, 64 at a time: as many as have a register of
 * results.
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

/*! \brief The predicate of integers that means the same as one of floats. */
constexpr int IntegerPredicate(int predicate) {
  switch (predicate) {
    case _CMP_EQ_OQ:
      return _MM_CMPINT_EQ;
    case _CMP_NEQ_UQ:
      return _MM_CMPINT_NE;
    case _CMP_LT_OQ:
      return _MM_CMPINT_LT;
    case _CMP_LE_OQ:
      return _MM_CMPINT_LE;
    case _CMP_GT_OQ:
      return _MM_CMPINT_NLE;
    default:
      return _MM_CMPINT_NLT;
  }
}

/*! \brief Registers of a type: numbers one after the other, one for all, and a bit for each pair.
 */
template <typename T>
struct Compared;

template <>
struct Compared<float> {
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m512 Load(const float* x) {
    return _mm512_loadu_ps(x);
  }
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m512 Set(float x) { return _mm512_set1_ps(x); }
  template <int kPredicate>
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE uint64_t Bits(__m512 a, __m512 b) {
    return _mm512_cmp_ps_mask(a, b, kPredicate);
  }
};

template <>
struct Compared<double> {
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m512d Load(const double* x) {
    return _mm512_loadu_pd(x);
  }
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m512d Set(double x) { return _mm512_set1_pd(x); }
  template <int kPredicate>
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE uint64_t Bits(__m512d a, __m512d b) {
    return _mm512_cmp_pd_mask(a, b, kPredicate);
  }
};

template <>
struct Compared<int64_t> {
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m512i Load(const int64_t* x) {
    return _mm512_loadu_si512(x);
  }
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m512i Set(int64_t x) {
    return _mm512_set1_epi64(x);
  }
  template <int kPredicate>
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE uint64_t Bits(__m512i a, __m512i b) {
    return _mm512_cmp_epi64_mask(a, b, IntegerPredicate(kPredicate));
  }
};

/*! \brief Compares the first elements with as many, or with one: how many those are. */
template <typename Op, typename T, bool kWithOne>
MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE int64_t CompareRegisters(const T* a, const T* b, int64_t n,
                                                                 char* out) {
  using R = Compared<T>;
  constexpr int64_t kAtOnce = 64;
  constexpr int64_t kLanes = 64 / sizeof(T);
  if (n < kAtOnce) return 0;
  const auto one = R::Set(*b);
  int64_t done = 0;
  for (; done + kAtOnce <= n; done += kAtOnce) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < kAtOnce; i += kLanes) {
      const auto right = kWithOne ? one : R::Load(b + done + i);
      bits |= R::template Bits<Op::kPredicate>(R::Load(a + done + i), right) << i;
    }
    _mm512_storeu_si512(out + done, _mm512_maskz_set1_epi8(bits, 1));
  }
  return done;
}

}  // namespace internal

/*! \brief The loop of Op, whose kPredicate is that of the instruction, with AVX-512. */
template <typename Op, typename T>
MXNET_TARGET_AVX512 void WideComparison(char* const* data, const int64_t* strides, int64_t n) {
  int64_t done = 0;
  if (strides[0] == sizeof(bool) && strides[1] == sizeof(T)) {
    const auto* a = reinterpret_cast<const T*>(data[1]);
    const auto* b = reinterpret_cast<const T*>(data[2]);
    if (strides[2] == sizeof(T)) {
      done = internal::CompareRegisters<Op, T, false>(a, b, n, data[0]);
    } else if (strides[2] == 0) {
      done = internal::CompareRegisters<Op, T, true>(a, b, n, data[0]);
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
