/*!
 * \file vector_log.h
 * \brief Logarithm and power of doubles in registers of AVX-512, where libmvec's are slower than
 * they may be.
 *
 * x = 2**k * m with m from 0.734375 to 1.46875, and m*c = 1 + r, where c is one of sixteen numbers
 * near 1/m and is 1 around m = 1, so that a logarithm near 0 has no cancellation. What is not a
 * normal positive number, and what a power takes out of range, is left to libmvec's function. The
 * powers 2 and 0.5 are those of multiplication and sqrt, which round once.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_LOG_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_LOG_H_

#include "op/kernels/cpu.h"
#include "op/kernels/lanes/intrinsics.h"

#define MXNET_AVX512_INLINE MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE

namespace mxnet {
namespace op {
namespace avx512 {

/*! \brief Sixteen numbers, of which each lane looks one up. */
struct alignas(64) Table {
  double values[16];
};

constexpr Table kInverse = {0x1.55p+0, 0x1.48p+0, 0x1.3bp+0, 0x1.2fp+0, 0x1.25p+0, 0x1.1ap+0,
                            0x1.11p+0, 0x1.08p+0, 0x1.00p+0, 0x1.e2p-1, 0x1.c8p-1, 0x1.b0p-1,
                            0x1.9ap-1, 0x1.86p-1, 0x1.74p-1, 0x1.64p-1};

/*! \brief -log2(c) in 40 bits after the point, so that an exponent can be added without error. */
constexpr Table kLog2High = {-0x1.a78e146f7cp-2, -0x1.6e221cd9dp-2, -0x1.32639636b4p-2,
                             -0x1.f205339208p-3, -0x1.8edcae835p-3, -0x1.1dcd19755p-3,
                             -0x1.7beee96b9p-4,  -0x1.6bad3758ep-5, 0,
                             0x1.64ce26c06p-4,   0x1.563dc29ff8p-3, 0x1.f5fd8a906p-3,
                             0x1.48365e695cp-2,  0x1.921800924cp-2, 0x1.d7e6c0abc4p-2,
                             0x1.0c6caaf0c6p-1};

/*! \brief -log2(c) - kLog2High. */
constexpr Table kLog2Low = {0x1.0bad7dfa568f7p-46,  -0x1.9bcaf1aa4168ap-43, 0x1.7ca651c1c3f13p-42,
                            -0x1.e4e8eea54ce63p-44, -0x1.5b5dae6a10ccap-42, -0x1.5bdaf522a183cp-42,
                            0x1.75fb0ef947373p-42,  -0x1.fb0e626c0de13p-42, 0,
                            0x1.c55ad0f90a497p-42,  0x1.6590643906f2ap-42,  0x1.f1a4847f7b278p-42,
                            0x1.796aa2981fdbcp-42,  0x1.d3b7f711abd5cp-42,  -0x1.50e785694a8c6p-43,
                            -0x1.4d20c519e12f4p-42};

/*! \brief -log(c) in 40 bits after the point, and the rest. */
constexpr Table kLnHigh = {-0x1.2596010df8p-2, -0x1.fb9186d5ep-3,  -0x1.a8becfc88p-3,
                           -0x1.59338d998p-3,  -0x1.1478584678p-3, -0x1.8c345d632p-4,
                           -0x1.075983599p-4,  -0x1.f829b0e78p-6,  0,
                           0x1.eea31c006p-5,   0x1.da72763840p-4,  0x1.5bf406b54p-3,
                           0x1.c6ffbc6fp-3,    0x1.16b5ccbadp-2,   0x1.4718dc271cp-2,
                           0x1.741d876c68p-2};

constexpr Table kLnLow = {0x1.38c21eed8ae0fp-43,  -0x1.f1546aaa3361cp-42, -0x1.78c6173c86e74p-42,
                          -0x1.042e9a2dd5575p-42, 0x1.ea9cbaefd838bp-42,  0x1.937c294d2f567p-42,
                          0x1.b8ecfe4b59987p-44,  -0x1.980267c7e09e4p-45, 0,
                          0x1.70f760d81b624p-42,  0x1.1a89401fa7173p-42,  0x1.ed8fdc149767ep-42,
                          0x1.ee138d3a69d43p-44,  -0x1.23299042d74bfp-44, 0x1.06c18fb4c14c5p-44,
                          -0x1.13a7b5b11cfa7p-44};

/*! \brief 2**(i/16). */
constexpr Table kExp2 = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};

/*! \brief 2**(i/16) - kExp2. */
constexpr Table kExp2Low = {0,
                            0x1.8a62e4adc610bp-54,
                            -0x1.19041b9d78a76p-55,
                            0x1.9b07eb6c70573p-54,
                            0x1.6f46ad23182e4p-55,
                            0x1.ada0911f09ebcp-55,
                            0x1.d4397afec42e2p-56,
                            0x1.6324c054647adp-54,
                            -0x1.bdd3413b26456p-54,
                            -0x1.41577ee04992fp-55,
                            0x1.6e9f156864b27p-54,
                            0x1.c7c46b071f2bep-56,
                            0x1.7a1cd345dcc81p-54,
                            0x1.11065895048ddp-55,
                            0x1.2ed02d75b3707p-55,
                            -0x1.e9c23179c2893p-54};

MXNET_AVX512_INLINE __m512d Lookup(const Table& table, __m512i index) {
  return _mm512_permutex2var_pd(_mm512_load_pd(table.values), index,
                                _mm512_load_pd(table.values + 8));
}

/*! \brief c0 + x*(c1 + x*(...)). */
template <int n>
MXNET_AVX512_INLINE __m512d Polynomial(const double (&coefficients)[n], __m512d x) {
  __m512d sum = _mm512_set1_pd(coefficients[n - 1]);
  for (int i = n - 2; i >= 0; --i) {
    sum = _mm512_fmadd_pd(sum, x, _mm512_set1_pd(coefficients[i]));
  }
  return sum;
}

/*! \brief x = 2**exponent * mantissa, and the index of its c. */
struct Split {
  __m512d mantissa;
  __m512d exponent;
  __m512i index;
};

MXNET_AVX512_INLINE Split SplitNumber(__m512d x) {
  const __m512i bits = _mm512_castpd_si512(x);
  const __m512i above = _mm512_sub_epi64(bits, _mm512_set1_epi64(0x3fe7800000000000));
  const __m512i exponent = _mm512_and_epi64(above, _mm512_set1_epi64(int64_t(0xfff) << 52));
  return {_mm512_castsi512_pd(_mm512_sub_epi64(bits, exponent)),
          _mm512_cvtepi64_pd(_mm512_srai_epi64(above, 52)), _mm512_srli_epi64(above, 48)};
}

MXNET_AVX512_INLINE __mmask8 IsNormalPositive(__m512d x) {
  return _mm512_cmp_pd_mask(x, _mm512_set1_pd(0x1p-1022), _CMP_GE_OQ) &
         _mm512_cmp_pd_mask(x, _mm512_set1_pd(0x1.fffffffffffffp+1023), _CMP_LE_OQ);
}

/*! \brief log(x) within 1 unit in the last place. */
struct LogDouble {
  static MXNET_AVX512_INLINE __m512d Apply(void (*libmvec)(), __m512d x) {
    static constexpr double kTerms[] = {
        -0x1.0000000000000p-1, 0x1.555555555552fp-2,  -0x1.00000000006d1p-2,
        0x1.9999999aa98e5p-3,  -0x1.5555553fed130p-3, 0x1.249238969dc1dp-3,
        -0x1.0000a47627207p-3, 0x1.c7dc65bf8e6c9p-4,  -0x1.96d56d4050bd8p-4};
    const __mmask8 normal = IsNormalPositive(x);
    const Split split = SplitNumber(x);
    const __m512d r =
        _mm512_fmsub_pd(split.mantissa, Lookup(kInverse, split.index), _mm512_set1_pd(1));
    const __m512d high = _mm512_fmadd_pd(split.exponent, _mm512_set1_pd(0x1.62e42fefa38p-1),
                                         Lookup(kLnHigh, split.index));
    const __m512d low = _mm512_fmadd_pd(split.exponent, _mm512_set1_pd(0x1.ef35793c7673p-45),
                                        Lookup(kLnLow, split.index));
    const __m512d curve = _mm512_mul_pd(_mm512_mul_pd(r, r), Polynomial(kTerms, r));
    // high is 0 or larger than r: the rounding of the first sum is known without error.
    const __m512d sum = _mm512_add_pd(high, r);
    const __m512d rest = _mm512_add_pd(_mm512_sub_pd(high, sum), r);
    const __m512d log = _mm512_add_pd(sum, _mm512_add_pd(curve, _mm512_add_pd(rest, low)));
    if (__builtin_expect(normal == 0xff, 1)) return log;
    return _mm512_mask_mov_pd(reinterpret_cast<__m512d (*)(__m512d)>(libmvec)(x), normal, log);
  }
};

/*! \brief a**b within 3 units in the last place. */
struct PowDouble {
  static MXNET_AVX512_INLINE __m512d Apply(void (*libmvec)(), __m512d a, __m512d b) {
    __m512d low;
    const __m512d high = Log2(a, &low);
    // |b*log2(a)| below 1020: the result is a normal number.
    const __m512d power = _mm512_mul_pd(b, high);
    const __mmask8 inside =
        IsNormalPositive(a) &
        _mm512_cmp_pd_mask(_mm512_abs_pd(power), _mm512_set1_pd(1020), _CMP_LT_OQ);
    const __m512d rest = _mm512_fmadd_pd(b, low, _mm512_fmsub_pd(b, high, power));
    const __m512d result = Exp2(inside, power, rest);
    if (__builtin_expect(NeitherSquareNorRoot(inside, b) == 0xff, 1)) return result;
    // What is no normal number may be squared many times over.
    if ((inside | Squares(b) | Roots(a, b)) == 0xff) return SquareOrRoot(a, b, result);
    const auto function = reinterpret_cast<__m512d (*)(__m512d, __m512d)>(libmvec);
    return SquareOrRoot(a, b, _mm512_mask_mov_pd(function(a, b), inside, result));
  }

 private:
  static MXNET_AVX512_INLINE __mmask8 NeitherSquareNorRoot(__mmask8 lanes, __m512d b) {
    lanes = _mm512_mask_cmp_pd_mask(lanes, b, _mm512_set1_pd(2), _CMP_NEQ_UQ);
    return _mm512_mask_cmp_pd_mask(lanes, b, _mm512_set1_pd(0.5), _CMP_NEQ_UQ);
  }

  static MXNET_AVX512_INLINE __mmask8 Squares(__m512d b) {
    return _mm512_cmp_pd_mask(b, _mm512_set1_pd(2), _CMP_EQ_OQ);
  }

  /*! \brief Of 0 and below the root is pow's, which differs of -0 and -infinity. */
  static MXNET_AVX512_INLINE __mmask8 Roots(__m512d a, __m512d b) {
    return _mm512_cmp_pd_mask(b, _mm512_set1_pd(0.5), _CMP_EQ_OQ) &
           _mm512_cmp_pd_mask(a, _mm512_setzero_pd(), _CMP_GT_OQ);
  }

  static MXNET_AVX512_INLINE __m512d SquareOrRoot(__m512d a, __m512d b, __m512d power) {
    return _mm512_mask_sqrt_pd(_mm512_mask_mul_pd(power, Squares(b), a, a), Roots(a, b), a);
  }

  /*! \brief log2(x) in two parts, with some 68 bits after the point. */
  static MXNET_AVX512_INLINE __m512d Log2(__m512d x, __m512d* low) {
    static constexpr double kTerms[] = {
        0x1.ec709dc3a03fdp-2,  -0x1.71547652b82ccp-2, 0x1.2776c50efa501p-2,
        -0x1.ec709dc507e5ap-3, 0x1.a617628b6107dp-3,  -0x1.7154606e2f019p-3,
        0x1.484bed306f67ep-3,  -0x1.27f5b2356f570p-3, 0x1.0ac715a4c2fbcp-3};
    const __m512d slope = _mm512_set1_pd(0x1.71547652b82fep+0);  // 1/log(2), and the rest of it
    const __m512d slope_low = _mm512_set1_pd(0x1.777d0ffda0d24p-56);
    const __m512d one = _mm512_set1_pd(1);
    const Split split = SplitNumber(x);
    const __m512d inverse = Lookup(kInverse, split.index);
    const __m512d product = _mm512_mul_pd(split.mantissa, inverse);
    const __m512d r = _mm512_sub_pd(product, one);
    const __m512d r_low = _mm512_fmsub_pd(split.mantissa, inverse, product);
    // The linear term, and what r_low changes: slope/(1 + r) times it.
    const __m512d linear = _mm512_mul_pd(r, slope);
    const __m512d shrink = _mm512_fmadd_pd(r, _mm512_sub_pd(r, one), one);
    __m512d rest = _mm512_fmsub_pd(r, slope, linear);
    rest = _mm512_fmadd_pd(r, slope_low, rest);
    rest = _mm512_fmadd_pd(_mm512_mul_pd(r_low, slope), shrink, rest);
    // The square term, -slope/2 * r**2, in two parts as well.
    const __m512d half = _mm512_mul_pd(slope, _mm512_set1_pd(-0.5));
    const __m512d square = _mm512_mul_pd(r, r);
    const __m512d bend = _mm512_mul_pd(square, half);
    rest = _mm512_add_pd(rest, _mm512_fmsub_pd(square, half, bend));
    rest = _mm512_fmadd_pd(_mm512_fmsub_pd(r, r, square), half, rest);
    rest = _mm512_fmadd_pd(_mm512_mul_pd(square, r), Polynomial(kTerms, r), rest);
    rest = _mm512_add_pd(rest, Lookup(kLog2Low, split.index));
    // Each sum is of a larger and a smaller part, so that its rounding is known without error.
    const __m512d whole = _mm512_add_pd(split.exponent, Lookup(kLog2High, split.index));
    const __m512d first = _mm512_add_pd(whole, linear);
    rest = _mm512_add_pd(rest, _mm512_add_pd(_mm512_sub_pd(whole, first), linear));
    const __m512d second = _mm512_add_pd(first, bend);
    rest = _mm512_add_pd(rest, _mm512_add_pd(_mm512_sub_pd(first, second), bend));
    *low = rest;
    return second;
  }

  /*! \brief 2**(x + x_low) of some lanes; of others it may be too small, which takes long. */
  static MXNET_AVX512_INLINE __m512d Exp2(__mmask8 lanes, __m512d x, __m512d x_low) {
    static constexpr double kTerms[] = {0x1.62e42fefa39f3p-1,  0x1.ebfbdff82c590p-3,
                                        0x1.c6b08d6f2a289p-5,  0x1.3b2ab6fb41213p-7,
                                        0x1.5d897e525c216p-10, 0x1.430a1d08ec681p-13};
    // Adding it leaves x in sixteenths in the lowest bits.
    const __m512d shift = _mm512_set1_pd(0x1.8p+48);
    const __m512d shifted = _mm512_add_pd(_mm512_add_pd(x, x_low), shift);
    const __m512d nearest = _mm512_sub_pd(shifted, shift);
    const __m512d rest = _mm512_add_pd(_mm512_sub_pd(x, nearest), x_low);
    // The small terms first: powers that a double can hold come out exact.
    const __m512i index = _mm512_castpd_si512(shifted);
    const __m512d root = Lookup(kExp2, index);
    const __m512d growth = _mm512_mul_pd(rest, Polynomial(kTerms, rest));
    const __m512d more = _mm512_fmadd_pd(root, growth, Lookup(kExp2Low, index));
    return _mm512_maskz_scalef_pd(lanes, _mm512_add_pd(root, more), nearest);
  }
};

}  // namespace avx512
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_VECTOR_LOG_H_
