/*!
 * \file vector_cbrt.h
 * \brief The cube root of registers of AVX-512, in less time than libmvec's takes to be corrected.
 *
 * |x| = 8**k * a with a from 1 to 8. A polynomial gives 1/cbrt(a) to some digits, which a step
 * without a division makes most of. What the cube of the root is off by is exact where the root is,
 * and corrects it.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_CBRT_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_CBRT_H_

#include <immintrin.h>

#include <limits>

#include "op/kernels/elementwise/vector_log.h"
#include "op/kernels/elementwise/vector_log_float.h"

namespace mxnet {
namespace op {
namespace avx512 {

struct CbrtDouble {
  static MXNET_AVX512_INLINE __m512d Apply(void (*)(), __m512d x) {
    static constexpr double kTerms[] = {0x1.ab85753e22320p+0, -0x1.2c4195b31a5e5p+0,
                                        0x1.6415b107855d5p-1, -0x1.c5174006b2cc7p-3,
                                        0x1.d46dfb5863309p-6};
    const __m512d third = _mm512_set1_pd(1.0 / 3);
    const __m512d exponent = _mm512_getexp_pd(x);
    const __m512d mantissa = _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
    // Half a unit more than a whole number of thirds is not rounded below it.
    const __m512d thirds = _mm512_mul_pd(_mm512_add_pd(exponent, _mm512_set1_pd(0.5)), third);
    const __m512d whole = _mm512_roundscale_pd(thirds, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512d left = _mm512_fnmadd_pd(whole, _mm512_set1_pd(3), exponent);
    // 2**(-left/3).
    const __m512d scales =
        _mm512_set_pd(1, 1, 1, 1, 1, 0x1.428a2f98d728bp-1, 0x1.965fea53d6e3dp-1, 1);
    const __m512d scale = _mm512_permutexvar_pd(_mm512_cvtpd_epi64(left), scales);
    const __m512d a = _mm512_scalef_pd(mantissa, left);
    const __m512d guess = _mm512_mul_pd(Polynomial(kTerms, mantissa), scale);
    const __m512d cube = _mm512_mul_pd(_mm512_mul_pd(guess, guess), guess);
    const __m512d off = _mm512_fnmadd_pd(a, cube, _mm512_set1_pd(1));
    __m512d series = _mm512_fmadd_pd(off, _mm512_set1_pd(14.0 / 81), _mm512_set1_pd(2.0 / 9));
    series = _mm512_mul_pd(_mm512_fmadd_pd(off, series, third), off);
    const __m512d inverse = _mm512_fmadd_pd(guess, series, guess);
    const __m512d inverse_square = _mm512_mul_pd(inverse, inverse);
    const __m512d root = _mm512_mul_pd(a, inverse_square);
    const __m512d square = _mm512_mul_pd(root, root);
    const __m512d square_rest = _mm512_fmsub_pd(root, root, square);
    const __m512d product = _mm512_mul_pd(square, root);
    const __m512d product_rest = _mm512_fmsub_pd(square, root, product);
    const __m512d rest =
        _mm512_fnmadd_pd(square_rest, root, _mm512_sub_pd(_mm512_sub_pd(a, product), product_rest));
    const __m512d better = _mm512_fmadd_pd(rest, _mm512_mul_pd(inverse_square, third), root);
    const __m512d sign = _mm512_and_pd(x, _mm512_set1_pd(-0.0));
    const __m512d result = _mm512_or_pd(_mm512_scalef_pd(better, whole), sign);
    // 0, infinity and NaN are their own roots.
    const __mmask8 special =
        static_cast<__mmask8>(~_mm512_cmp_pd_mask(_mm512_abs_pd(x), MostDouble(), _CMP_LE_OQ) |
                              _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_EQ_OQ));
    return _mm512_mask_add_pd(result, special, x, x);
  }

 private:
  static MXNET_AVX512_INLINE __m512d MostDouble() {
    return _mm512_set1_pd(std::numeric_limits<double>::max());
  }
};

struct CbrtFloat {
  static MXNET_AVX512_INLINE __m512 Apply(void (*)(), __m512 x) {
    static constexpr float kTerms[] = {0x1.8ab8fep+0F, -0x1.9eb29ep-1F, 0x1.45616ep-2F,
                                       -0x1.99140ap-5F};
    const __m512 third = _mm512_set1_ps(1.0F / 3);
    const __m512 exponent = _mm512_getexp_ps(x);
    const __m512 mantissa = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
    const __m512 thirds = _mm512_mul_ps(_mm512_add_ps(exponent, _mm512_set1_ps(0.5F)), third);
    const __m512 whole = _mm512_roundscale_ps(thirds, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 left = _mm512_fnmadd_ps(whole, _mm512_set1_ps(3), exponent);
    const __m512 scales =
        _mm512_set_ps(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0x1.428a30p-1F, 0x1.965feap-1F, 1);
    const __m512 scale = _mm512_permutexvar_ps(_mm512_cvtps_epi32(left), scales);
    const __m512 a = _mm512_scalef_ps(mantissa, left);
    const __m512 guess = _mm512_mul_ps(Polynomial(kTerms, mantissa), scale);
    const __m512 cube = _mm512_mul_ps(_mm512_mul_ps(guess, guess), guess);
    const __m512 off = _mm512_fnmadd_ps(a, cube, _mm512_set1_ps(1));
    const __m512 series = _mm512_mul_ps(_mm512_fmadd_ps(off, _mm512_set1_ps(2.0F / 9), third), off);
    const __m512 inverse = _mm512_fmadd_ps(guess, series, guess);
    const __m512 inverse_square = _mm512_mul_ps(inverse, inverse);
    const __m512 root = _mm512_mul_ps(a, inverse_square);
    const __m512 square = _mm512_mul_ps(root, root);
    const __m512 square_rest = _mm512_fmsub_ps(root, root, square);
    const __m512 product = _mm512_mul_ps(square, root);
    const __m512 product_rest = _mm512_fmsub_ps(square, root, product);
    const __m512 rest =
        _mm512_fnmadd_ps(square_rest, root, _mm512_sub_ps(_mm512_sub_ps(a, product), product_rest));
    const __m512 better = _mm512_fmadd_ps(rest, _mm512_mul_ps(inverse_square, third), root);
    const __m512 sign = _mm512_and_ps(x, _mm512_set1_ps(-0.0F));
    const __m512 result = _mm512_or_ps(_mm512_scalef_ps(better, whole), sign);
    const __m512 most = _mm512_set1_ps(std::numeric_limits<float>::max());
    const __mmask16 special =
        static_cast<__mmask16>(~_mm512_cmp_ps_mask(_mm512_abs_ps(x), most, _CMP_LE_OQ) |
                               _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_EQ_OQ));
    return _mm512_mask_add_ps(result, special, x, x);
  }
};

}  // namespace avx512
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_CBRT_H_
