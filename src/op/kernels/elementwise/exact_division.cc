/*!
 * \file exact_division.cc
 * \brief Exact division by registers of AVX2 and AVX-512.
 */
#include "op/kernels/elementwise/exact_division.h"

#include "op/kernels/cpu.h"

#if MXNET_CPU_LEVELS
#include "op/kernels/lanes/avx2.h"
#include "op/kernels/lanes/intrinsics.h"
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

/*!
 * \brief The same with AVX2, which converts no integers of 64 bits: those from -2**51 to below
 * 2**51 are the last bits of a double near 1.5 * 2**52.
 */
struct NarrowIntegerDivision {
  using Lanes = avx2::Lanes64;
  static constexpr int64_t kCount = Lanes::kCount;

  template <bool kQuotients>
  MXNET_TARGET_AVX2_FMA static bool Run(const int64_t* a, int64_t a_step, const int64_t* b,
                                        int64_t b_step, int64_t n, int64_t* out) {
    const __m256i ones = _mm256_set1_epi64x(1);
    __m256i reached = _mm256_setzero_si256();
    __m256i x = _mm256_set1_epi64x(*a);
    __m256i y = _mm256_set1_epi64x(*b);
    int64_t i = 0;
    for (; i + kCount <= n; i += kCount) {
      if (a_step != 0) x = Lanes::Load(a + i);
      if (b_step != 0) y = Lanes::Load(b + i);
      Lanes::Store(out + i, Divide<kQuotients>(x, y, &reached));
    }
    if (i < n) {
      if (a_step != 0) x = Lanes::LoadFirst(a + i, n - i, ones);
      if (b_step != 0) y = Lanes::LoadFirst(b + i, n - i, ones);
      Lanes::StoreFirst(out + i, n - i, Divide<kQuotients>(x, y, &reached));
    }
    // Each number plus 2**51 is below 2**52.
    return _mm256_testz_si256(reached, _mm256_set1_epi64x(-(int64_t(1) << 52))) != 0;
  }

 private:
  static constexpr double kShift = 0x1.8p52;
  static constexpr int64_t kShiftBits = 0x4338000000000000;

  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256d ToDoubles(__m256i x) {
    const __m256i shifted = _mm256_add_epi64(x, _mm256_set1_epi64x(kShiftBits));
    return _mm256_sub_pd(_mm256_castsi256_pd(shifted), _mm256_set1_pd(kShift));
  }

  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256i ToIntegers(__m256d x) {
    const __m256d shifted = _mm256_add_pd(x, _mm256_set1_pd(kShift));
    return _mm256_sub_epi64(_mm256_castpd_si256(shifted), _mm256_set1_epi64x(kShiftBits));
  }

  /*! \brief `reached` collects the bits of the numbers, made positive where they are within. */
  template <bool kQuotients>
  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256i Divide(__m256i x, __m256i y,
                                                                  __m256i* reached) {
    const __m256i most = _mm256_set1_epi64x(int64_t(1) << 51);
    *reached = _mm256_or_si256(*reached, _mm256_add_epi64(x, most));
    *reached = _mm256_or_si256(*reached, _mm256_add_epi64(y, most));
    // Of a divisor of 0, in place of which 1 divides, the remainder is 0.
    const __m256i zero = _mm256_cmpeq_epi64(y, _mm256_setzero_si256());
    const __m256d dividend = ToDoubles(x);
    const __m256d divisor = ToDoubles(_mm256_sub_epi64(y, zero));
    const __m256d down = _mm256_floor_pd(_mm256_div_pd(dividend, divisor));
    if (kQuotients) return _mm256_andnot_si256(zero, ToIntegers(down));
    return ToIntegers(_mm256_fnmadd_pd(down, divisor, dividend));
  }
};

template <bool kQuotients>
ExactDivision<int64_t> Find(const int64_t*) noexcept {
  if (HostCpuLevel() >= CpuLevel::kAvx512) return &IntegerDivision::Run<kQuotients>;
  if (HostCpuLevel() >= CpuLevel::kAvx2) return &NarrowIntegerDivision::Run<kQuotients>;
  return nullptr;
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
