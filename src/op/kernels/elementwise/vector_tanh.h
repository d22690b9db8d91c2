/*!
 * \file vector_tanh.h
 * \brief The hyperbolic tangent of registers of floats.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_TANH_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_TANH_H_

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/vector_exp.h"
#include "op/kernels/lanes/intrinsics.h"

namespace mxnet {
namespace op {
namespace internal {

/*! \brief Intervals are counted from here on; all that is below is of the first. */
constexpr float kTanhFirst = 0x1p-4F;
/*! \brief From here on the result is 1. */
constexpr float kTanhLast = 0x1.24p+3F;

/*!
 * \brief The number about which each interval, two to a power of 2, is expanded: one whose tangent
 * is a float but for a small part of the rounding of floats.
 */
alignas(64) constexpr float kTanhCenters[16] = {0,
                                                0x1.bf63d8p-4F,
                                                0x1.3f8b08p-3F,
                                                0x1.bffda6p-3F,
                                                0x1.3f7f6ap-2F,
                                                0x1.c0023cp-2F,
                                                0x1.400dfap-1F,
                                                0x1.c0129cp-1F,
                                                0x1.3fac18p+0F,
                                                0x1.bf8016p+0F,
                                                0x1.4048b6p+1F,
                                                0x1.c068d6p+1F,
                                                0x1.405822p+2F,
                                                0x1.bfe31ep+2F,
                                                0x1.24p+3F,
                                                0x1.24p+3F};
/*! \brief The terms of each interval, by powers of the distance from its center. */
alignas(64) constexpr float kTanhTerms[7][16] = {
    {0, 0x1.bd9e8ap-4F, 0x1.3cf99ep-3F, 0x1.b8fac6p-3F, 0x1.3584b8p-2F, 0x1.a5747ap-2F,
     0x1.1bfe2cp-1F, 0x1.686fb4p-1F, 0x1.b2232p-1F, 0x1.e1decep-1F, 0x1.f92d3ap-1F, 0x1.ff12b2p-1F,
     0x1.fff43ap-1F, 0x1.ffffc8p-1F, 0x1p+0F, 0x1p+0F},
    {0x1p+0F, 0x1.f9f09ep-1F, 0x1.f3bc36p-1F, 0x1.e84308p-1F, 0x1.d138cap-1F, 0x1.a944f6p-1F,
     0x1.627a08p-1F, 0x1.0242d2p-1F, 0x1.1fc4dap-2F, 0x1.d3e3e2p-4F, 0x1.b1c908p-6F, 0x1.da3064p-9F,
     0x1.79503ep-13F, 0x1.c0b0cap-19F, 0x1.5ea2c2p-22F, 0},
    {0, -0x1.b8584cp-4F, -0x1.3561ccp-3F, -0x1.a488c2p-3F, -0x1.193d5ep-2F, -0x1.5e0ff4p-2F,
     -0x1.893cd8p-2F, -0x1.6b9eaap-2F, -0x1.e8035p-3F, -0x1.b85b3cp-4F, -0x1.ac002ap-6F,
     -0x1.d9539ap-9F, -0x1.78fe3ap-13F, -0x1.c04548p-19F, 0x1.c0b41ap-21F, 0},
    {-0x1.55552cp-2F, -0x1.45510cp-2F, -0x1.3536fcp-2F, -0x1.183b94p-2F, -0x1.c24748p-3F,
     -0x1.16df06p-3F, -0x1.234a98p-6F, 0x1.4f36ep-4F, 0x1.bbf762p-4F, 0x1.0281cp-4F, 0x1.15a51cp-6F,
     0x1.3a1b8ap-9F, 0x1.ed0264p-14F, 0x1.253294p-19F, 0x1.1bfbc4p-20F, 0},
    {-0x1.8d7466p-15F, 0x1.20588ap-4F, 0x1.8dafcp-4F, 0x1.04e026p-3F, 0x1.4397bcp-3F,
     0x1.5c26a2p-3F, 0x1.1a59dcp-3F, 0x1.f1b22ep-5F, -0x1.983708p-7F, -0x1.81f7ap-6F,
     -0x1.06c3cap-7F, -0x1.37e5a6p-10F, -0x1.ef69c4p-15F, -0x1.275aaep-20F, 0x1.8ddf6ap-22F, 0},
    {0x1.139d42p-3F, 0x1.ec3e7ep-4F, 0x1.b75264p-4F, 0x1.5bf3ccp-4F, 0x1.768732p-5F,
     -0x1.86ebc2p-8F, -0x1.bd3e26p-5F, -0x1.df879cp-5F, -0x1.4481c6p-6F, 0x1.c53996p-9F,
     0x1.79402cp-9F, 0x1.ff08b2p-12F, 0x1.d8de8ap-16F, 0x1.19aee4p-21F, 0, 0},
    {-0x1.c003p-7F, -0x1.2573ep-5F, -0x1.abe956p-5F, -0x1.1f3336p-4F, -0x1.27be82p-4F,
     -0x1.f8c04cp-5F, -0x1.8a08c8p-6F, 0x1.a8fe5p-7F, 0x1.ee437p-7F, 0x1.11a83ap-9F,
     -0x1.6e4edcp-11F, -0x1.491d52p-13F, -0x1.34b19ap-17F, -0x1.6c1b48p-23F, 0, 0}};

}  // namespace internal

namespace avx2 {

/*! \brief tanh(x) within 2.3 units in the last place, from e = exp(-2x): (1 - e) / (1 + e), where
 * 1 - e keeps all digits of small numbers, and 1 - 2e / (1 + e) of large ones. */
struct TanhFloat {
  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256 Apply(void (*)(), __m256 x) {
    const __m256 sign = _mm256_set1_ps(-0.0F);
    // The bound comes first: of NaN the instruction gives the second.
    const __m256 size =
        _mm256_min_ps(_mm256_set1_ps(internal::kTanhLast), _mm256_andnot_ps(sign, x));
    const __m256 twice = _mm256_mul_ps(size, _mm256_set1_ps(-2));
    const __m256 whole = ExpFloat::Whole(twice);
    const __m256 curve = ExpFloat::Curve(twice, whole);
    const __m256 power = ExpFloat::PowerOfTwo(_mm256_cvtps_epi32(whole));
    const __m256 one = _mm256_set1_ps(1);
    const __m256 e = _mm256_fmadd_ps(curve, power, power);
    const __m256 rest = _mm256_fnmadd_ps(curve, power, _mm256_sub_ps(one, power));
    const __m256 is_large = _mm256_cmp_ps(e, _mm256_set1_ps(1.0F / 3), _CMP_LT_OQ);
    const __m256 share =
        _mm256_div_ps(_mm256_blendv_ps(rest, _mm256_add_ps(e, e), is_large), _mm256_add_ps(one, e));
    const __m256 result = _mm256_blendv_ps(share, _mm256_sub_ps(one, share), is_large);
    return _mm256_or_ps(result, _mm256_and_ps(sign, x));
  }
};

}  // namespace avx2

namespace avx512 {

/*! \brief tanh(x) within 1.3 units in the last place, without a call for each register. */
struct TanhFloat {
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m512 Apply(void (*)(), __m512 x) {
    const __m512 sign = _mm512_set1_ps(-0.0F);
    // The bound comes first: of NaN the instruction gives the second.
    const __m512 size =
        _mm512_min_ps(_mm512_set1_ps(internal::kTanhLast), _mm512_andnot_ps(sign, x));
    // An exponent and the first bit of a mantissa count intervals.
    const __m512i first = _mm512_castps_si512(_mm512_set1_ps(internal::kTanhFirst));
    const __m512i above =
        _mm512_sub_epi32(_mm512_max_epi32(_mm512_castps_si512(size), first), first);
    const __m512i interval = _mm512_srli_epi32(above, 22);
    const __m512 distance = _mm512_sub_ps(size, Of(internal::kTanhCenters, interval));
    __m512 sum = Of(internal::kTanhTerms[6], interval);
    for (int i = 5; i >= 0; --i) {
      sum = _mm512_fmadd_ps(sum, distance, Of(internal::kTanhTerms[i], interval));
    }
    return _mm512_or_ps(sum, _mm512_and_ps(sign, x));
  }

 private:
  static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m512 Of(const float* table, __m512i interval) {
    return _mm512_permutexvar_ps(interval, _mm512_load_ps(table));
  }
};

}  // namespace avx512
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_TANH_H_
