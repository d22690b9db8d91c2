/*!
 * \file vector_erf.h
 * \brief The error function of registers of floats by libmvec's function of doubles: that of floats
 * has three times the error of a result that is rounded once.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_ERF_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_ERF_H_

#include "op/kernels/elementwise/vector_log_float.h"
#include "op/kernels/lanes/intrinsics.h"

namespace mxnet {
namespace op {

namespace avx2 {

struct ErfFloat {
  static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE __m256 Apply(void (*libmvec)(), __m256 x) {
    const auto function = reinterpret_cast<__m256d (*)(__m256d)>(libmvec);
    const __m256d low = function(_mm256_cvtps_pd(_mm256_castps256_ps128(x)));
    const __m256d high = function(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
  }
};

}  // namespace avx2

namespace avx512 {

struct ErfFloat {
  static MXNET_AVX512_INLINE __m512 Apply(void (*libmvec)(), __m512 x) {
    const auto function = reinterpret_cast<__m512d (*)(__m512d)>(libmvec);
    const __m512d low = function(_mm512_cvtps_pd(_mm512_castps512_ps256(x)));
    const __m512d high = function(_mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)));
    const __m512 made = _mm512_castps256_ps512(_mm512_cvtpd_ps(low));
    return _mm512_insertf32x8(made, _mm512_cvtpd_ps(high), 1);
  }
};

}  // namespace avx512

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_ERF_H_
