/*!
 * \file vector_exp.h
 * \brief The exponential of registers of floats, also where it is too small for libmvec, which then
 * computes one number after the other. AVX2 and AVX-512 give the same.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_EXP_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_EXP_H_

#include "op/kernels/elementwise/vector_log_float.h"
#include "op/kernels/lanes/intrinsics.h"

namespace mxnet {
namespace op {
namespace internal {

/*! \brief Of exp(x) the terms from that of x**2 on, for x up to log(2)/2. */
constexpr float kExpTerms[] = {0x1.fffff8p-2F, 0x1.55548ep-3F, 0x1.555b98p-5F, 0x1.123bccp-7F,
                               0x1.6850e4p-10F};
/*! \brief Below this number the exponential is rounded to 0. */
constexpr float kExpLeast = -0x1.9fe368p+6F;

}  // namespace internal

namespace avx2 {

/*! \brief exp(x) within 1 unit in the last place. */
struct ExpFloat {
  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256 Apply(void (*)(), __m256 x) {
    // The bounds come first: of NaN the instructions give the second.
    const __m256 bounded =
        _mm256_min_ps(_mm256_set1_ps(104), _mm256_max_ps(_mm256_set1_ps(-110), x));
    const __m256 whole = Whole(bounded);
    const __m256 mantissa = _mm256_add_ps(Curve(bounded, whole), _mm256_set1_ps(1));
    const __m256i exponent = _mm256_cvtps_epi32(whole);
    // Products that are no normal numbers take long. In two steps, as 2**128 is no float.
    const __m256i least = _mm256_max_epi32(exponent, _mm256_set1_epi32(-125));
    const __m256i half = _mm256_srai_epi32(least, 1);
    const __m256 power = _mm256_mul_ps(_mm256_mul_ps(mantissa, PowerOfTwo(half)),
                                       PowerOfTwo(_mm256_sub_epi32(least, half)));
    const __m256 normal = _mm256_cmp_ps(whole, _mm256_set1_ps(-126), _CMP_NLE_UQ);
    if (__builtin_expect(_mm256_movemask_ps(normal) == 0xff, 1)) return power;
    // In units of the least number, of which so many are its bits.
    const __m256 units =
        _mm256_mul_ps(mantissa, PowerOfTwo(_mm256_add_epi32(exponent, _mm256_set1_epi32(149))));
    const __m256 bits = _mm256_castsi256_ps(_mm256_cvtps_epi32(units));
    const __m256 small = _mm256_cmp_ps(x, _mm256_set1_ps(internal::kExpLeast), _CMP_NLT_UQ);
    return _mm256_blendv_ps(_mm256_and_ps(bits, small), power, normal);
  }

  /*! \brief The power of two that is next to exp(x). */
  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256 Whole(__m256 x) {
    return _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(0x1.715476p+0F)),
                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }

  /*! \brief exp(x) / 2**whole - 1. */
  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256 Curve(__m256 x, __m256 whole) {
    // x - whole*log(2), log(2) being in two parts.
    __m256 rest = _mm256_fnmadd_ps(whole, _mm256_set1_ps(0x1.62e4p-1F), x);
    rest = _mm256_fnmadd_ps(whole, _mm256_set1_ps(0x1.7f7d1cp-20F), rest);
    return _mm256_fmadd_ps(Polynomial(rest), _mm256_mul_ps(rest, rest), rest);
  }

  /*! \brief 2**n, n being from -126 to 127. */
  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256 PowerOfTwo(__m256i n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
  }

 private:
  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256 Polynomial(__m256 x) {
    __m256 sum = _mm256_set1_ps(internal::kExpTerms[4]);
    for (int i = 3; i >= 0; --i) {
      sum = _mm256_fmadd_ps(sum, x, _mm256_set1_ps(internal::kExpTerms[i]));
    }
    return sum;
  }
};

}  // namespace avx2

namespace avx512 {

/*! \brief exp(x) within 1 unit in the last place. */
struct ExpFloat {
  static MXNET_AVX512_INLINE __m512 Apply(void (*)(), __m512 x) {
    // The bounds come first: of NaN the instructions give the second.
    const __m512 bounded =
        _mm512_min_ps(_mm512_set1_ps(104), _mm512_max_ps(_mm512_set1_ps(-110), x));
    const __m512 whole = _mm512_roundscale_ps(
        _mm512_mul_ps(bounded, _mm512_set1_ps(0x1.715476p+0F)), _MM_FROUND_NO_EXC);
    // x - whole*log(2), log(2) being in two parts.
    __m512 rest = _mm512_fnmadd_ps(whole, _mm512_set1_ps(0x1.62e4p-1F), bounded);
    rest = _mm512_fnmadd_ps(whole, _mm512_set1_ps(0x1.7f7d1cp-20F), rest);
    const __m512 curve =
        _mm512_fmadd_ps(Polynomial(internal::kExpTerms, rest), _mm512_mul_ps(rest, rest), rest);
    const __m512 mantissa = _mm512_add_ps(curve, _mm512_set1_ps(1));
    // Of what is no normal number, as of what is rounded to 0, the instruction takes long.
    const __mmask16 normal = _mm512_cmp_ps_mask(whole, _mm512_set1_ps(-126), _CMP_NLE_UQ);
    const __m512 power = _mm512_maskz_scalef_ps(normal, mantissa, whole);
    if (__builtin_expect(normal == 0xffff, 1)) return power;
    const __mmask16 small = _mm512_mask_cmp_ps_mask(
        static_cast<__mmask16>(~normal), x, _mm512_set1_ps(internal::kExpLeast), _CMP_NLT_UQ);
    // In units of the least number, of which so many are its bits.
    const __m512 units =
        _mm512_maskz_scalef_ps(small, mantissa, _mm512_add_ps(whole, _mm512_set1_ps(149)));
    return _mm512_mask_mov_ps(power, small, _mm512_castsi512_ps(_mm512_cvtps_epi32(units)));
  }
};

}  // namespace avx512
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_EXP_H_
