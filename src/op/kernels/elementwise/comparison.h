/*!
 * \file comparison.h
 * \brief Comparisons of dense spans of numbers, as many at a time as have a register of results: 32
 * with AVX2, 64 with AVX-512.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_COMPARISON_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_COMPARISON_H_

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/bytes_of_masks.h"
#include "op/kernels/elementwise/loops.h"

#if MXNET_CPU_LEVELS
#include "op/kernels/lanes/intrinsics.h"

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
MXNET_TARGET_AVX512 int64_t CompareWide(const T* a, const T* b, int64_t n, char* out) {
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

/*! \brief The same in registers of AVX2, which have a lane of bits for each pair. */
template <typename T>
struct NarrowCompared;

template <>
struct NarrowCompared<float> {
  template <int kPredicate>
  static constexpr bool kInverts = false;
  static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256 Load(const float* x) {
    return _mm256_loadu_ps(x);
  }
  static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256 Set(float x) { return _mm256_set1_ps(x); }
  template <int kPredicate>
  static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256i Lanes(__m256 a, __m256 b) {
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, kPredicate));
  }
};

template <>
struct NarrowCompared<double> {
  template <int kPredicate>
  static constexpr bool kInverts = false;
  static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256d Load(const double* x) {
    return _mm256_loadu_pd(x);
  }
  static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256d Set(double x) { return _mm256_set1_pd(x); }
  template <int kPredicate>
  static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256i Lanes(__m256d a, __m256d b) {
    return _mm256_castpd_si256(_mm256_cmp_pd(a, b, kPredicate));
  }
};

/*! \brief Integers, of which only equal and greater are instructions. */
template <>
struct NarrowCompared<int64_t> {
  template <int kPredicate>
  static constexpr bool kInverts =
      kPredicate == _CMP_NEQ_UQ || kPredicate == _CMP_LE_OQ || kPredicate == _CMP_GE_OQ;
  static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256i Load(const int64_t* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  }
  static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256i Set(int64_t x) {
    return _mm256_set1_epi64x(x);
  }
  template <int kPredicate>
  static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256i Lanes(__m256i a, __m256i b) {
    constexpr bool kEquals = kPredicate == _CMP_EQ_OQ || kPredicate == _CMP_NEQ_UQ;
    constexpr bool kGreater = kPredicate == _CMP_GT_OQ || kPredicate == _CMP_LE_OQ;
    if constexpr (kEquals) return _mm256_cmpeq_epi64(a, b);
    return kGreater ? _mm256_cmpgt_epi64(a, b) : _mm256_cmpgt_epi64(b, a);
  }
};

template <typename Op, typename T, bool kWithOne>
MXNET_TARGET_AVX2 int64_t CompareNarrow(const T* a, const T* b, int64_t n, char* out) {
  using R = NarrowCompared<T>;
  constexpr int64_t kLanes = 32 / sizeof(T);
  if (n < avx2::kBytesAtOnce) return 0;
  const auto one = R::Set(*b);
  int64_t done = 0;
  for (; done + avx2::kBytesAtOnce <= n; done += avx2::kBytesAtOnce) {
    __m256i masks[sizeof(T)];
    for (int64_t i = 0; i < static_cast<int64_t>(sizeof(T)); ++i) {
      const int64_t at = done + i * kLanes;
      masks[i] =
          R::template Lanes<Op::kPredicate>(R::Load(a + at), kWithOne ? one : R::Load(b + at));
    }
    constexpr bool kInverts = R::template kInverts<Op::kPredicate>;
    avx2::StoreTruth<kInverts>(avx2::BytesOf(masks), out + done);
  }
  return done;
}

/*! \brief The loop of Op, `many` and `one` being the functions for dense operands and for a single
 * second one, which leave a rest. */
template <typename Op, typename T, typename Many, typename One>
MXNET_ALWAYS_INLINE void CompareSpans(Many many, One one, char* const* data, const int64_t* strides,
                                      int64_t n) {
  int64_t done = 0;
  if (strides[0] == sizeof(bool) && strides[1] == sizeof(T)) {
    const auto* a = reinterpret_cast<const T*>(data[1]);
    const auto* b = reinterpret_cast<const T*>(data[2]);
    if (strides[2] == sizeof(T)) {
      done = many(a, b, n, data[0]);
    } else if (strides[2] == 0) {
      done = one(a, b, n, data[0]);
    }
  }
  char* const rest[3] = {data[0] + done * strides[0], data[1] + done * strides[1],
                         data[2] + done * strides[2]};
  internal::Compiled<BinaryBody<Op, T>, InnerLoop>::Avx2(rest, strides, n - done);
}

}  // namespace internal

/*! \brief The loop of Op, whose kPredicate is that of the instruction, with AVX-512. */
template <typename Op, typename T>
void WideComparison(char* const* data, const int64_t* strides, int64_t n) {
  internal::CompareSpans<Op, T>(&internal::CompareWide<Op, T, false>,
                                &internal::CompareWide<Op, T, true>, data, strides, n);
}

/*! \brief The same with AVX2. */
template <typename Op, typename T>
void NarrowComparison(char* const* data, const int64_t* strides, int64_t n) {
  internal::CompareSpans<Op, T>(&internal::CompareNarrow<Op, T, false>,
                                &internal::CompareNarrow<Op, T, true>, data, strides, n);
}

}  // namespace op
}  // namespace mxnet

#else
#define MXNET_PREDICATE(name) 0
#endif  // MXNET_CPU_LEVELS

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_COMPARISON_H_
