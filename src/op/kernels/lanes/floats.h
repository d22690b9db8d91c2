/*!
 * \file floats.h
 * \brief Registers of floats with the arithmetic of products and exponentials, for each level of
 * the processor: what loops that are written once for all levels are made of.
 */
#ifndef MXNET_SRC_OP_KERNELS_LANES_FLOATS_H_
#define MXNET_SRC_OP_KERNELS_LANES_FLOATS_H_

#include <cstdint>
#include <cstring>

#include "op/kernels/cpu.h"

#if MXNET_CPU_LEVELS
#include "op/kernels/lanes/avx2.h"
#include "op/kernels/lanes/avx512.h"
#include "op/kernels/lanes/intrinsics.h"
#endif

namespace mxnet {
namespace op {

namespace baseline {

/*! \brief Four floats, in what the compiler has for them. */
struct Floats {
  using Vector = float __attribute__((vector_size(16)));
  using Integers = int32_t __attribute__((vector_size(16)));
  using Unsigned = uint32_t __attribute__((vector_size(16)));
  static constexpr int kCount = 4;
  /*! \brief Rows, and vectors of columns, whose sums the registers hold. */
  static constexpr int kRows = 4;
  static constexpr int kVectors = 2;

  static MXNET_ALWAYS_INLINE Vector Set(float x) { return Vector{x, x, x, x}; }
  static MXNET_ALWAYS_INLINE Vector Load(const float* x) {
    Vector v;
    std::memcpy(&v, x, sizeof(v));
    return v;
  }
  static MXNET_ALWAYS_INLINE void Store(float* x, Vector v) { std::memcpy(x, &v, sizeof(v)); }
  /*! \brief The first n lanes of memory, and the others of another register. */
  static MXNET_ALWAYS_INLINE Vector LoadFirst(const float* x, int64_t n, Vector others) {
    for (int64_t i = 0; i < n && i < kCount; ++i) others[i] = x[i];
    return others;
  }
  static MXNET_ALWAYS_INLINE void StoreFirst(float* x, int64_t n, Vector v) {
    for (int64_t i = 0; i < n && i < kCount; ++i) x[i] = v[i];
  }
  static MXNET_ALWAYS_INLINE Vector Add(Vector a, Vector b) { return a + b; }
  static MXNET_ALWAYS_INLINE Vector Sub(Vector a, Vector b) { return a - b; }
  static MXNET_ALWAYS_INLINE Vector Mul(Vector a, Vector b) { return a * b; }
  /*! \brief a * b + c. */
  static MXNET_ALWAYS_INLINE Vector Fma(Vector a, Vector b, Vector c) { return a * b + c; }
  /*! \brief The larger one; b where one is NaN. */
  static MXNET_ALWAYS_INLINE Vector Max(Vector a, Vector b) {
    const Integers first = a > b;
    return reinterpret_cast<Vector>((reinterpret_cast<Integers>(a) & first) |
                                    (reinterpret_cast<Integers>(b) & ~first));
  }
  /*! \brief Every second lane of a and then of b, from the first on. */
  static MXNET_ALWAYS_INLINE Vector Evens(Vector a, Vector b) {
    return Vector{a[0], a[2], b[0], b[2]};
  }
  /*! \brief The same from the second lane on. */
  static MXNET_ALWAYS_INLINE Vector Odds(Vector a, Vector b) {
    return Vector{a[1], a[3], b[1], b[3]};
  }
  /*! \brief v, and 0 in lanes where x is less than a bound. */
  static MXNET_ALWAYS_INLINE Vector ZeroBelow(Vector x, Vector bound, Vector v) {
    return reinterpret_cast<Vector>(reinterpret_cast<Integers>(v) & ~(x < bound));
  }
  /*! \brief 2 to the power of whole numbers from -126 to 127. */
  static MXNET_ALWAYS_INLINE Vector PowerOfTwo(Vector n) {
    // Of the sum with 1.5 * 2**23 the last bits are the number.
    const auto bits = reinterpret_cast<Unsigned>(n + Set(12582912));
    return reinterpret_cast<Vector>((bits - 0x4b400000U + 127U) << 23);
  }
  /*! \brief Exchanges rows and columns of kCount registers. */
  static MXNET_ALWAYS_INLINE void Transpose(Vector* v) {
    for (int i = 0; i < kCount; ++i) {
      for (int j = 0; j < i; ++j) {
        const float kept = v[i][j];
        v[i][j] = v[j][i];
        v[j][i] = kept;
      }
    }
  }
};

}  // namespace baseline

#if MXNET_CPU_LEVELS

/*! \brief Exchanges rows and columns of L::kCount registers: the halves of all lanes are laid into
 * each other, as often as the number can be halved. */
#define MXNET_TRANSPOSE(L)                                 \
  L::Vector next[kCount];                                  \
  for (int step = 1; step < kCount; step *= 2) {           \
    for (int i = 0; i < kCount / 2; ++i) {                 \
      const L::Vector a = Bits(v[i]);                      \
      const L::Vector b = Bits(v[i + kCount / 2]);         \
      next[2 * i] = L::ZipLow(a, b);                       \
      next[2 * i + 1] = L::ZipHigh(a, b);                  \
    }                                                      \
    for (int i = 0; i < kCount; ++i) v[i] = Real(next[i]); \
  }

namespace avx2 {

#define MXNET_INLINE static MXNET_TARGET_AVX2_FMA MXNET_ALWAYS_INLINE

/*! \brief As baseline::Floats, in a register of AVX2. */
struct Floats {
  using Vector = __m256;
  static constexpr int kCount = 8;
  static constexpr int kRows = 6;
  static constexpr int kVectors = 2;

  MXNET_INLINE __m256i Bits(Vector v) { return _mm256_castps_si256(v); }
  MXNET_INLINE Vector Real(__m256i v) { return _mm256_castsi256_ps(v); }
  MXNET_INLINE Vector Set(float x) { return _mm256_set1_ps(x); }
  MXNET_INLINE Vector Load(const float* x) { return _mm256_loadu_ps(x); }
  MXNET_INLINE void Store(float* x, Vector v) { _mm256_storeu_ps(x, v); }
  MXNET_INLINE Vector LoadFirst(const float* x, int64_t n, Vector others) {
    return Real(Lanes32::LoadFirst(x, n, Bits(others)));
  }
  MXNET_INLINE void StoreFirst(float* x, int64_t n, Vector v) {
    Lanes32::StoreFirst(x, n, Bits(v));
  }
  MXNET_INLINE Vector Add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  MXNET_INLINE Vector Sub(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
  MXNET_INLINE Vector Mul(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  MXNET_INLINE Vector Fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  MXNET_INLINE Vector Max(Vector a, Vector b) { return _mm256_max_ps(a, b); }
  MXNET_INLINE Vector Evens(Vector a, Vector b) { return InOrder(_mm256_shuffle_ps(a, b, 0x88)); }
  MXNET_INLINE Vector Odds(Vector a, Vector b) { return InOrder(_mm256_shuffle_ps(a, b, 0xdd)); }
  /*! \brief What has been taken from two registers by halves of them, one after the other. */
  MXNET_INLINE Vector InOrder(Vector v) {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xd8));
  }
  MXNET_INLINE Vector ZeroBelow(Vector x, Vector bound, Vector v) {
    return _mm256_andnot_ps(_mm256_cmp_ps(x, bound, _CMP_LT_OQ), v);
  }
  MXNET_INLINE Vector PowerOfTwo(Vector n) {
    const __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return Real(_mm256_slli_epi32(biased, 23));
  }
  MXNET_INLINE void Transpose(Vector* v) { MXNET_TRANSPOSE(Lanes32) }
};

#undef MXNET_INLINE

}  // namespace avx2

namespace avx512 {

#define MXNET_INLINE static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE

/*! \brief As baseline::Floats, in a register of AVX-512. */
struct Floats {
  using Vector = __m512;
  static constexpr int kCount = 16;
  static constexpr int kRows = 6;
  static constexpr int kVectors = 4;

  MXNET_INLINE __m512i Bits(Vector v) { return _mm512_castps_si512(v); }
  MXNET_INLINE Vector Real(__m512i v) { return _mm512_castsi512_ps(v); }
  MXNET_INLINE Vector Set(float x) { return _mm512_set1_ps(x); }
  MXNET_INLINE Vector Load(const float* x) { return _mm512_loadu_ps(x); }
  MXNET_INLINE void Store(float* x, Vector v) { _mm512_storeu_ps(x, v); }
  MXNET_INLINE Vector LoadFirst(const float* x, int64_t n, Vector others) {
    return Real(Lanes32::LoadFirst(x, n, Bits(others)));
  }
  MXNET_INLINE void StoreFirst(float* x, int64_t n, Vector v) {
    Lanes32::StoreFirst(x, n, Bits(v));
  }
  MXNET_INLINE Vector Add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  MXNET_INLINE Vector Sub(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
  MXNET_INLINE Vector Mul(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  MXNET_INLINE Vector Fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  MXNET_INLINE Vector Max(Vector a, Vector b) { return _mm512_max_ps(a, b); }
  MXNET_INLINE Vector Evens(Vector a, Vector b) {
    const __m512i from =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(a, from, b);
  }
  MXNET_INLINE Vector Odds(Vector a, Vector b) {
    const __m512i from =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_ps(a, from, b);
  }
  MXNET_INLINE Vector ZeroBelow(Vector x, Vector bound, Vector v) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, bound, _CMP_NLT_UQ), v);
  }
  MXNET_INLINE Vector PowerOfTwo(Vector n) {
    const __m512i biased = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
    return Real(_mm512_slli_epi32(biased, 23));
  }
  MXNET_INLINE void Transpose(Vector* v) { MXNET_TRANSPOSE(Lanes32) }
};

#undef MXNET_INLINE

}  // namespace avx512

#undef MXNET_TRANSPOSE

#endif  // MXNET_CPU_LEVELS

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_LANES_FLOATS_H_
