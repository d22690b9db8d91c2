/*!
 * \file vector_exp.h
 * \brief The exponential of registers of floats of AVX-512, also where it is too small for libmvec,
 * which then computes one number after the other.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_EXP_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_EXP_H_

#include <immintrin.h>

#include "op/kernels/elementwise/vector_log_float.h"

namespace mxnet {
namespace op {
namespace avx512 {

/*! \brief exp(x) within 1 unit in the last place. */
struct ExpFloat {
  static MXNET_AVX512_INLINE __m512 Apply(void (*)(), __m512 x) {
    static constexpr float kTerms[] = {0x1.fffff8p-2F, 0x1.55548ep-3F, 0x1.555b98p-5F,
                                       0x1.123bccp-7F, 0x1.6850e4p-10F};
    // The bounds come first: of NaN the instructions give the second.
    const __m512 bounded =
        _mm512_min_ps(_mm512_set1_ps(104), _mm512_max_ps(_mm512_set1_ps(-110), x));
    const __m512 whole = _mm512_roundscale_ps(
        _mm512_mul_ps(bounded, _mm512_set1_ps(0x1.715476p+0F)), _MM_FROUND_NO_EXC);
    // x - whole*log(2), log(2) being in two parts.
    __m512 rest = _mm512_fnmadd_ps(whole, _mm512_set1_ps(0x1.62e4p-1F), bounded);
    rest = _mm512_fnmadd_ps(whole, _mm512_set1_ps(0x1.7f7d1cp-20F), rest);
    const __m512 curve = _mm512_fmadd_ps(Polynomial(kTerms, rest), _mm512_mul_ps(rest, rest), rest);
    const __m512 mantissa = _mm512_add_ps(curve, _mm512_set1_ps(1));
    // Of what is no normal number, as of what is rounded to 0, the instruction takes long.
    const __mmask16 normal = _mm512_cmp_ps_mask(whole, _mm512_set1_ps(-126), _CMP_NLE_UQ);
    const __m512 power = _mm512_maskz_scalef_ps(normal, mantissa, whole);
    if (__builtin_expect(normal == 0xffff, 1)) return power;
    const __mmask16 small = _mm512_mask_cmp_ps_mask(static_cast<__mmask16>(~normal), x,
                                                    _mm512_set1_ps(-0x1.9fe368p+6F), _CMP_NLT_UQ);
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
