/*!
 * \file vector_cbrt.h
 * \brief The cube root of registers of AVX-512, in less time than libmvec's takes to be corrected.
 *
 * A first guess of 1/cbrt(a) is improved by a step without a division, which is a series in what
 * the cube of the guess is off by. What the cube of the root is off by is exact where the root is,
 * and corrects it. For doubles |x| = 8**k * a with a from 1 to 8, and the guess is a polynomial.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_CBRT_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_CBRT_H_

#include <limits>

#include "op/kernels/elementwise/vector_log.h"
#include "op/kernels/lanes/intrinsics.h"

namespace mxnet {
namespace op {
namespace avx512 {

/*! \brief What fpclass is asked for: both zeros, both infinities, and NaN of both kinds. */
constexpr int kZeroInfinityNaN = 0x9f;

/*! \brief A positive number with the sign of x. */
MXNET_AVX512_INLINE __m512d WithSignOf(__m512d x, __m512d positive) {
  constexpr int kFirstOrBothOthers = 0xf8;
  return _mm512_castsi512_pd(
      _mm512_ternarylogic_epi64(_mm512_castpd_si512(positive), _mm512_castpd_si512(x),
                                _mm512_castpd_si512(_mm512_set1_pd(-0.0)), kFirstOrBothOthers));
}
MXNET_AVX512_INLINE __m512 WithSignOf(__m512 x, __m512 positive) {
  constexpr int kFirstOrBothOthers = 0xf8;
  return _mm512_castsi512_ps(
      _mm512_ternarylogic_epi32(_mm512_castps_si512(positive), _mm512_castps_si512(x),
                                _mm512_castps_si512(_mm512_set1_ps(-0.0F)), kFirstOrBothOthers));
}

struct CbrtDouble {
  static MXNET_AVX512_INLINE __m512d Apply(void (*)(), __m512d x) {
    static constexpr double kTerms[] = {0x1.ab85753e22320p+0, -0x1.2c4195b31a5e5p+0,
                                        0x1.6415b107855d5p-1, -0x1.c5174006b2cc7p-3,
                                        0x1.d46dfb5863309p-6};
    const __m512d third = _mm512_set1_pd(1.0 / 3);
    const __m512d exponent = _mm512_getexp_pd(x);
    const __m512d mantissa = _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
    // Half a unit more than a whole number of thirds is not rounded below it.
    const __m512d thirds = _mm512_fmadd_pd(exponent, third, _mm512_set1_pd(1.0 / 6));
    const __m512d whole = _mm512_roundscale_pd(thirds, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512d left = _mm512_fnmadd_pd(whole, _mm512_set1_pd(3), exponent);
    // 2**(-left/3).
    const __m512d scales =
        _mm512_set_pd(1, 1, 1, 1, 1, 0x1.428a2f98d728bp-1, 0x1.965fea53d6e3dp-1, 1);
    const __m512d scale = _mm512_permutexvar_pd(_mm512_cvtpd_epi64(left), scales);
    const __m512d a = _mm512_scalef_pd(mantissa, left);
    const __m512d guess = _mm512_mul_pd(Polynomial(kTerms, mantissa), scale);
    const __m512d guess_square = _mm512_mul_pd(guess, guess);
    const __m512d rough = _mm512_mul_pd(guess_square, a);
    const __m512d off = _mm512_fnmadd_pd(rough, guess, _mm512_set1_pd(1));
    __m512d series = _mm512_fmadd_pd(off, _mm512_set1_pd(40.0 / 81), _mm512_set1_pd(5.0 / 9));
    series = _mm512_mul_pd(_mm512_fmadd_pd(off, series, _mm512_set1_pd(2.0 / 3)), off);
    const __m512d root = _mm512_fmadd_pd(rough, series, rough);
    const __m512d square = _mm512_mul_pd(root, root);
    const __m512d square_rest = _mm512_fmsub_pd(root, root, square);
    // What a and the product differ by is rounded only once, as they are about the same.
    const __m512d rest = _mm512_fnmadd_pd(square_rest, root, _mm512_fnmadd_pd(square, root, a));
    const __m512d better = _mm512_fmadd_pd(rest, _mm512_mul_pd(guess_square, third), root);
    const __m512d result = WithSignOf(x, _mm512_scalef_pd(better, whole));
    // 0, infinity and NaN are their own roots.
    const __mmask8 special = _mm512_fpclass_pd_mask(x, kZeroInfinityNaN);
    return _mm512_mask_add_pd(result, special, x, x);
  }
};

struct CbrtFloat {
  static MXNET_AVX512_INLINE __m512 Apply(void (*)(), __m512 x) {
    // Of what is less, what the cube is off by is not exact.
    constexpr int kLeast = 0x0d800000;  // 2**-100
    constexpr int kInfinity = 0x7f800000;
    const __m512i bits = _mm512_and_si512(_mm512_castps_si512(x),
                                          _mm512_set1_epi32(std::numeric_limits<int>::max()));
    const __m512 result = WithSignOf(x, Root(bits));
    const __mmask16 others = _mm512_cmpge_epu32_mask(
        _mm512_sub_epi32(bits, _mm512_set1_epi32(kLeast)), _mm512_set1_epi32(kInfinity - kLeast));
    if (__builtin_expect(others == 0, 1)) return result;
    const __m512 scaled = _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(0x1p96F));
    const __m512 root = _mm512_mul_ps(Root(_mm512_castps_si512(scaled)), _mm512_set1_ps(0x1p-32F));
    const __mmask16 special = _mm512_fpclass_ps_mask(x, kZeroInfinityNaN);
    return _mm512_mask_add_ps(_mm512_mask_mov_ps(result, others, WithSignOf(x, root)), special, x,
                              x);
  }

 private:
  /*! \brief The root of a positive number of these bits. */
  static MXNET_AVX512_INLINE __m512 Root(__m512i bits) {
    // A third of the bits is a third of the logarithm, to some digits; this makes off least.
    constexpr float kOfOne = 0x1.528800p+30F;
    const __m512 a = _mm512_castsi512_ps(bits);
    const __m512 third = _mm512_set1_ps(1.0F / 3);
    const __m512 guess = _mm512_castsi512_ps(_mm512_cvtps_epi32(
        _mm512_fnmadd_ps(_mm512_cvtepi32_ps(bits), third, _mm512_set1_ps(kOfOne))));
    const __m512 rough = _mm512_mul_ps(_mm512_mul_ps(guess, guess), a);
    const __m512 off = _mm512_fnmadd_ps(rough, guess, _mm512_set1_ps(1));
    __m512 series = _mm512_fmadd_ps(off, _mm512_set1_ps(14.0F / 81), _mm512_set1_ps(2.0F / 9));
    series = _mm512_mul_ps(_mm512_fmadd_ps(off, series, third), off);
    const __m512 inverse = _mm512_fmadd_ps(guess, series, guess);
    const __m512 inverse_square = _mm512_mul_ps(inverse, inverse);
    const __m512 root = _mm512_mul_ps(a, inverse_square);
    // What the square is rounded by is a third of a unit in the last place of the root at most.
    const __m512 rest = _mm512_fnmadd_ps(_mm512_mul_ps(root, root), root, a);
    return _mm512_fmadd_ps(rest, _mm512_mul_ps(inverse_square, third), root);
  }
};

}  // namespace avx512
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_CBRT_H_
