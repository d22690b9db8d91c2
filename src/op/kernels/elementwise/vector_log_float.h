/*!
 * \file vector_log_float.h
 * \brief Logarithm and power of floats in registers of AVX-512, as vector_log.h has them of
 * doubles.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_LOG_FLOAT_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_LOG_FLOAT_H_

#include "op/kernels/cpu.h"
#include "op/kernels/lanes/intrinsics.h"

#define MXNET_AVX512_INLINE MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE

namespace mxnet {
namespace op {
namespace avx512 {

/*! \brief The numbers c for floats, thirty-two with so few digits that 1 + r has no rounding. */
struct alignas(64) FloatTable {
  float values[32];
};

constexpr FloatTable kFloatInverse = {
    0x1.58p+0F, 0x1.50p+0F, 0x1.48p+0F, 0x1.40p+0F, 0x1.38p+0F, 0x1.38p+0F, 0x1.30p+0F, 0x1.28p+0F,
    0x1.28p+0F, 0x1.20p+0F, 0x1.18p+0F, 0x1.18p+0F, 0x1.10p+0F, 0x1.10p+0F, 0x1.08p+0F, 0x1.00p+0F,
    0x1.00p+0F, 0x1.f0p-1F, 0x1.e0p-1F, 0x1.d8p-1F, 0x1.c8p-1F, 0x1.b8p-1F, 0x1.b0p-1F, 0x1.a8p-1F,
    0x1.98p-1F, 0x1.90p-1F, 0x1.88p-1F, 0x1.80p-1F, 0x1.78p-1F, 0x1.70p-1F, 0x1.68p-1F, 0x1.60p-1F};

/*! \brief -log2(c) in 16 bits after the point, and the rest. */
constexpr FloatTable kFloatLog2High = {-0x1.b480p-2F,
                                       -0x1.91bcp-2F,
                                       -0x1.6e24p-2F,
                                       -0x1.49a8p-2F,
                                       -0x1.2440p-2F,
                                       -0x1.2440p-2F,
                                       -0x1.fbc0p-3F,
                                       -0x1.acf8p-3F,
                                       -0x1.acf8p-3F,
                                       -0x1.5c00p-3F,
                                       -0x1.08c8p-3F,
                                       -0x1.08c8p-3F,
                                       -0x1.6640p-4F,
                                       -0x1.6640p-4F,
                                       -0x1.6ba0p-5F,
                                       0,
                                       0,
                                       0x1.7740p-5F,
                                       0x1.7d60p-4F,
                                       0x1.e0b0p-4F,
                                       0x1.5640p-3F,
                                       0x1.bfc8p-3F,
                                       0x1.f600p-3F,
                                       0x1.169cp-2F,
                                       0x1.4f70p-2F,
                                       0x1.6cb0p-2F,
                                       0x1.8a88p-2F,
                                       0x1.a900p-2F,
                                       0x1.c818p-2F,
                                       0x1.e7e0p-2F,
                                       0x1.042cp-1F,
                                       0x1.14c6p-1F};

constexpr FloatTable kFloatLog2Low = {0x1.408c78p-18F,
                                      0x1.5db83ap-20F,
                                      0x1.e32630p-18F,
                                      0x1.ed0cbap-20F,
                                      -0x1.eac382p-20F,
                                      -0x1.eac382p-20F,
                                      -0x1.6b9026p-19F,
                                      0x1.0e9258p-18F,
                                      0x1.0e9258p-18F,
                                      -0x1.a39fbep-19F,
                                      0x1.3b992cp-18F,
                                      0x1.3b992cp-18F,
                                      0x1.20a6dep-21F,
                                      0x1.20a6dep-21F,
                                      -0x1.a6eb1ep-18F,
                                      0,
                                      0,
                                      -0x1.acd89ap-19F,
                                      0x1.25b3eep-22F,
                                      0x1.ae8f30p-20F,
                                      -0x1.1eb002p-18F,
                                      -0x1.858000p-19F,
                                      -0x1.3ab7cep-18F,
                                      0x1.4d8fc6p-24F,
                                      -0x1.134c4ep-20F,
                                      0x1.ed0cbap-19F,
                                      0x1.80abfcp-18F,
                                      -0x1.a39fbep-20F,
                                      0x1.dc2d46p-18F,
                                      -0x1.40358ep-19F,
                                      -0x1.5a32c2p-20F,
                                      -0x1.3e032ep-18F};

/*! \brief -log10(c) in 17 bits after the point, so that exponents can be added without error. */
constexpr FloatTable kFloatLog10High = {-0x1.06ccp-3F,
                                        -0x1.e3cp-4F,
                                        -0x1.b8ep-4F,
                                        -0x1.8cfp-4F,
                                        -0x1.5fe8p-4F,
                                        -0x1.5fe8p-4F,
                                        -0x1.31bp-4F,
                                        -0x1.024p-4F,
                                        -0x1.024p-4F,
                                        -0x1.a31p-5F,
                                        -0x1.3edp-5F,
                                        -0x1.3edp-5F,
                                        -0x1.af6p-6F,
                                        -0x1.af6p-6F,
                                        -0x1.b6p-7F,
                                        0,
                                        0,
                                        0x1.c3cp-7F,
                                        0x1.cb4p-6F,
                                        0x1.217p-5F,
                                        0x1.9c2p-5F,
                                        0x1.0d98p-4F,
                                        0x1.2e38p-4F,
                                        0x1.4f78p-4F,
                                        0x1.93e8p-4F,
                                        0x1.b72p-4F,
                                        0x1.db1p-4F,
                                        0x1.ffcp-4F,
                                        0x1.1298p-3F,
                                        0x1.25bcp-3F,
                                        0x1.3948p-3F,
                                        0x1.4d44p-3F};

/*! \brief -log10(c) - kFloatLog10High. */
constexpr FloatTable kFloatLog10Low = {0x1.4c2c9ep-22F,
                                       0x1.f2a79p-19F,
                                       0x1.b2c54cp-20F,
                                       -0x1.838864p-20F,
                                       -0x1.222bd4p-26F,
                                       -0x1.222bd4p-26F,
                                       -0x1.82ae24p-19F,
                                       -0x1.460f84p-19F,
                                       -0x1.460f84p-19F,
                                       0x1.58a7d8p-19F,
                                       -0x1.199a5ep-21F,
                                       -0x1.199a5ep-21F,
                                       0x1.b53fc6p-24F,
                                       0x1.b53fc6p-24F,
                                       0x1.6f714ep-19F,
                                       0,
                                       0,
                                       0x1.083778p-19F,
                                       -0x1.c0cc9ep-20F,
                                       -0x1.f928dcp-19F,
                                       -0x1.a1504p-19F,
                                       -0x1.9339bp-20F,
                                       0x1.3a05bcp-19F,
                                       0x1.56cddep-19F,
                                       -0x1.0f81ep-23F,
                                       0x1.cd1716p-20F,
                                       0x1.ed766ap-20F,
                                       -0x1.ea21c4p-23F,
                                       0x1.a4fb3ep-19F,
                                       -0x1.7dea5p-19F,
                                       -0x1.fe10d6p-20F,
                                       -0x1.f6296ep-25F};

MXNET_AVX512_INLINE __m512 Lookup(const FloatTable& table, __m512i index) {
  return _mm512_permutex2var_ps(_mm512_load_ps(table.values), index,
                                _mm512_load_ps(table.values + 16));
}

template <int n>
MXNET_AVX512_INLINE __m512 Polynomial(const float (&coefficients)[n], __m512 x) {
  __m512 sum = _mm512_set1_ps(coefficients[n - 1]);
  for (int i = n - 2; i >= 0; --i) {
    sum = _mm512_fmadd_ps(sum, x, _mm512_set1_ps(coefficients[i]));
  }
  return sum;
}

/*! \brief x = 2**exponent * (1 + r)/c, and the index of its c. */
struct FloatSplit {
  __m512 r;
  __m512 exponent;
  __m512i index;
};

MXNET_AVX512_INLINE FloatSplit SplitNumber(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i above = _mm512_sub_epi32(bits, _mm512_set1_epi32(0x3f3e0000));
  const __m512i whole_bits = _mm512_and_epi32(above, _mm512_set1_epi32(-0x800000));
  const __m512 mantissa = _mm512_castsi512_ps(_mm512_sub_epi32(bits, whole_bits));
  const __m512i index = _mm512_srli_epi32(above, 18);
  return {_mm512_fmsub_ps(mantissa, Lookup(kFloatInverse, index), _mm512_set1_ps(1)),
          _mm512_cvtepi32_ps(_mm512_srai_epi32(above, 23)), index};
}

MXNET_AVX512_INLINE __mmask16 IsNormalPositive(__m512 x) {
  return _mm512_cmp_ps_mask(x, _mm512_set1_ps(0x1p-126F), _CMP_GE_OQ) &
         _mm512_cmp_ps_mask(x, _mm512_set1_ps(0x1.fffffep+127F), _CMP_LE_OQ);
}

/*! \brief log2(x) in two parts, with some 35 bits after the point. */
MXNET_AVX512_INLINE __m512 Log2(__m512 x, __m512* low) {
  static constexpr float kTerms[] = {-0x1.715476p-1F, 0x1.ec7096p-2F, -0x1.71760ap-2F,
                                     0x1.27efbap-2F};
  const FloatSplit split = SplitNumber(x);
  const __m512 r = split.r;
  // log2(1 + r) is r times slope + curve, a sum in two parts.
  const __m512 slope = _mm512_set1_ps(0x1.715476p+0F);
  const __m512 curve = _mm512_mul_ps(r, Polynomial(kTerms, r));
  const __m512 steep = _mm512_add_ps(slope, curve);
  const __m512 steep_low = _mm512_add_ps(_mm512_add_ps(_mm512_sub_ps(slope, steep), curve),
                                         _mm512_set1_ps(0x1.4ae0c0p-26F));
  const __m512 part = _mm512_mul_ps(r, steep);
  __m512 rest = _mm512_fmsub_ps(r, steep, part);
  rest = _mm512_fmadd_ps(r, steep_low, rest);
  rest = _mm512_add_ps(rest, Lookup(kFloatLog2Low, split.index));
  const __m512 whole = _mm512_add_ps(split.exponent, Lookup(kFloatLog2High, split.index));
  const __m512 sum = _mm512_add_ps(whole, part);
  *low = _mm512_add_ps(rest, _mm512_add_ps(_mm512_sub_ps(whole, sum), part));
  return sum;
}

/*! \brief log10(x) of floats within 2 units in the last place; of powers of 10 it is exact. */
struct Log10Float {
  static MXNET_AVX512_INLINE __m512 Apply(void (*libmvec)(), __m512 x) {
    static constexpr float kTerms[] = {0x1.bcb7b2p-2F, -0x1.bcb7bp-3F, 0x1.287a74p-3F,
                                       -0x1.bcebd4p-4F, 0x1.63fbc8p-4F};
    const __mmask16 normal = IsNormalPositive(x);
    const FloatSplit split = SplitNumber(x);
    // log10(2) in as many bits as the table, and the rest of it.
    const __m512 high = _mm512_fmadd_ps(split.exponent, _mm512_set1_ps(0x1.3442p-2F),
                                        Lookup(kFloatLog10High, split.index));
    const __m512 low = _mm512_fmadd_ps(split.exponent, _mm512_set1_ps(-0x1.95ec1p-19F),
                                       Lookup(kFloatLog10Low, split.index));
    const __m512 log =
        _mm512_add_ps(high, _mm512_fmadd_ps(split.r, Polynomial(kTerms, split.r), low));
    if (__builtin_expect(normal == 0xffff, 1)) return log;
    return _mm512_mask_mov_ps(reinterpret_cast<__m512 (*)(__m512)>(libmvec)(x), normal, log);
  }
};

/*! \brief a**b of floats within 2 units in the last place. */
struct PowFloat {
  static MXNET_AVX512_INLINE __m512 Apply(void (*libmvec)(), __m512 a, __m512 b) {
    __m512 low;
    const __m512 high = Log2(a, &low);
    const __m512 power = _mm512_mul_ps(b, high);
    // |b*log2(a)| below 125: the result is a normal number.
    const __mmask16 inside =
        IsNormalPositive(a) &
        _mm512_cmp_ps_mask(_mm512_abs_ps(power), _mm512_set1_ps(125), _CMP_LT_OQ);
    const __m512 rest = _mm512_fmadd_ps(b, low, _mm512_fmsub_ps(b, high, power));
    const __m512 result = Exp2(inside, power, rest);
    if (__builtin_expect(NeitherSquareNorRoot(inside, b) == 0xffff, 1)) return result;
    // What is no normal number may be squared many times over.
    if ((inside | Squares(b) | Roots(a, b)) == 0xffff) return SquareOrRoot(a, b, result);
    const auto function = reinterpret_cast<__m512 (*)(__m512, __m512)>(libmvec);
    return SquareOrRoot(a, b, _mm512_mask_mov_ps(function(a, b), inside, result));
  }

 private:
  static MXNET_AVX512_INLINE __mmask16 NeitherSquareNorRoot(__mmask16 lanes, __m512 b) {
    lanes = _mm512_mask_cmp_ps_mask(lanes, b, _mm512_set1_ps(2), _CMP_NEQ_UQ);
    return _mm512_mask_cmp_ps_mask(lanes, b, _mm512_set1_ps(0.5F), _CMP_NEQ_UQ);
  }

  static MXNET_AVX512_INLINE __mmask16 Squares(__m512 b) {
    return _mm512_cmp_ps_mask(b, _mm512_set1_ps(2), _CMP_EQ_OQ);
  }

  /*! \brief Of 0 and below the root is pow's, which differs of -0 and -infinity. */
  static MXNET_AVX512_INLINE __mmask16 Roots(__m512 a, __m512 b) {
    return _mm512_cmp_ps_mask(b, _mm512_set1_ps(0.5F), _CMP_EQ_OQ) &
           _mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_GT_OQ);
  }

  static MXNET_AVX512_INLINE __m512 SquareOrRoot(__m512 a, __m512 b, __m512 power) {
    return _mm512_mask_sqrt_ps(_mm512_mask_mul_ps(power, Squares(b), a, a), Roots(a, b), a);
  }

  /*! \brief 2**(x + x_low) of some lanes; of others it may be too small, which takes long. */
  static MXNET_AVX512_INLINE __m512 Exp2(__mmask16 lanes, __m512 x, __m512 x_low) {
    static constexpr float kTerms[] = {1,
                                       0x1.62e430p-1F,
                                       0x1.ebfbe0p-3F,
                                       0x1.c6af6cp-5F,
                                       0x1.3b2a54p-7F,
                                       0x1.5f0890p-10F,
                                       0x1.44138ap-13F};
    const __m512 nearest = _mm512_roundscale_ps(x, 0);
    const __m512 rest = _mm512_add_ps(_mm512_sub_ps(x, nearest), x_low);
    return _mm512_maskz_scalef_ps(lanes, Polynomial(kTerms, rest), nearest);
  }
};

}  // namespace avx512
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_LOG_FLOAT_H_
