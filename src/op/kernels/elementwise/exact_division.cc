/*!
 * \file exact_division.cc
 * \brief Exact division by registers of AVX2 and AVX-512.
 */
#include "op/kernels/elementwise/exact_division.h"

#include "op/kernels/cpu.h"

#if MXNET_CPU_LEVELS
#if !defined(__clang__)
// GCC 12 warns of the undefined registers that its own intrinsics start from.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

namespace mxnet {
namespace op {
namespace {

#if MXNET_CPU_LEVELS

constexpr int kTowardsZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

template <typename T, CpuLevel level>
struct Division;

#define MXNET_REAL float
#define MXNET_LEVEL kAvx2
#define MXNET_VECTOR __m256
#define MXNET_TARGET MXNET_TARGET_AVX2_FMA
#define MXNET_OP(name) _mm256_##name##_ps
#define MXNET_TRUNCATE(x) _mm256_round_ps(x, kTowardsZero)
#define MXNET_ANY(mask) (_mm256_movemask_ps(reinterpret_cast<__m256>(mask)) != 0)
#include "op/kernels/elementwise/exact_division.inc"

#define MXNET_REAL double
#define MXNET_LEVEL kAvx2
#define MXNET_VECTOR __m256d
#define MXNET_TARGET MXNET_TARGET_AVX2_FMA
#define MXNET_OP(name) _mm256_##name##_pd
#define MXNET_TRUNCATE(x) _mm256_round_pd(x, kTowardsZero)
#define MXNET_ANY(mask) (_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)) != 0)
#include "op/kernels/elementwise/exact_division.inc"

#define MXNET_REAL float
#define MXNET_LEVEL kAvx512
#define MXNET_VECTOR __m512
#define MXNET_TARGET MXNET_TARGET_AVX512
#define MXNET_OP(name) _mm512_##name##_ps
#define MXNET_TRUNCATE(x) _mm512_roundscale_ps(x, kTowardsZero)
#define MXNET_ANY(mask) (_mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)) != 0)
#include "op/kernels/elementwise/exact_division.inc"

#define MXNET_REAL double
#define MXNET_LEVEL kAvx512
#define MXNET_VECTOR __m512d
#define MXNET_TARGET MXNET_TARGET_AVX512
#define MXNET_OP(name) _mm512_##name##_pd
#define MXNET_TRUNCATE(x) _mm512_roundscale_pd(x, kTowardsZero)
#define MXNET_ANY(mask) (_mm512_movepi64_mask(reinterpret_cast<__m512i>(mask)) != 0)
#include "op/kernels/elementwise/exact_division.inc"

/*! \brief Integers by way of double, which has all up to 2**53. */
struct IntegerDivision {
  static constexpr int64_t kCount = 8;

  template <bool kQuotients>
  MXNET_TARGET_AVX512 static bool Run(const int64_t* a, int64_t a_step, const int64_t* b,
                                      int64_t b_step, int64_t n, int64_t* out) {
    const __m512i most = _mm512_set1_epi64(int64_t(1) << 53);
    const __m512i range = _mm512_set1_epi64(int64_t(1) << 54);
    __mmask8 within = 0xff;
    for (int64_t i = 0; i < n; i += kCount) {
      const auto lanes = static_cast<__mmask8>(n - i < kCount ? (1 << (n - i)) - 1 : 0xff);
      const __m512i ones = _mm512_set1_epi64(1);
      const __m512i x =
          a_step == 0 ? _mm512_set1_epi64(*a) : _mm512_mask_loadu_epi64(ones, lanes, a + i);
      const __m512i given =
          b_step == 0 ? _mm512_set1_epi64(*b) : _mm512_mask_loadu_epi64(ones, lanes, b + i);
      const __mmask8 divides = _mm512_test_epi64_mask(given, given);
      const __m512i y = _mm512_mask_mov_epi64(ones, divides, given);
      within =
          static_cast<__mmask8>(within & _mm512_cmple_epu64_mask(_mm512_add_epi64(x, most), range) &
                                _mm512_cmple_epu64_mask(_mm512_add_epi64(y, most), range));
      const __m512d ratio = _mm512_div_pd(_mm512_cvtepi64_pd(x), _mm512_cvtepi64_pd(y));
      const __m512d down = _mm512_roundscale_pd(ratio, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
      const __m512i quotient = _mm512_cvtpd_epi64(down);
      const __m512i wanted =
          kQuotients ? quotient : _mm512_sub_epi64(x, _mm512_mullo_epi64(quotient, y));
      const __m512i result = _mm512_maskz_mov_epi64(divides, wanted);
      _mm512_mask_storeu_epi64(out + i, lanes, result);
    }
    return within == 0xff;
  }
};

template <bool kQuotients>
ExactDivision<int64_t> Find(const int64_t*) noexcept {
  if (HostCpuLevel() < CpuLevel::kAvx512) return nullptr;
  return &IntegerDivision::Run<kQuotients>;
}

template <bool kQuotients, typename T>
ExactDivision<T> Find(const T*) noexcept {
  if (HostCpuLevel() >= CpuLevel::kAvx512) {
    return &Division<T, CpuLevel::kAvx512>::template Run<kQuotients>;
  }
  if (HostCpuLevel() >= CpuLevel::kAvx2) {
    return &Division<T, CpuLevel::kAvx2>::template Run<kQuotients>;
  }
  return nullptr;
}

#else

template <bool kQuotients, typename T>
ExactDivision<T> Find(const T*) noexcept {
  return nullptr;
}

#endif  // MXNET_CPU_LEVELS

}  // namespace

template <typename T>
ExactDivision<T> FindExactQuotients() noexcept {
  return Find<true>(static_cast<const T*>(nullptr));
}

template <typename T>
ExactDivision<T> FindExactRemainders() noexcept {
  return Find<false>(static_cast<const T*>(nullptr));
}

template ExactDivision<float> FindExactQuotients() noexcept;
template ExactDivision<double> FindExactQuotients() noexcept;
template ExactDivision<int64_t> FindExactQuotients() noexcept;
template ExactDivision<float> FindExactRemainders() noexcept;
template ExactDivision<double> FindExactRemainders() noexcept;
template ExactDivision<int64_t> FindExactRemainders() noexcept;

}  // namespace op
}  // namespace mxnet
