/*!
 * \file avx512.h
 * \brief Registers of AVX-512 as lanes: what loops that are written once for each level are made
 * of.
 */
#ifndef MXNET_SRC_OP_KERNELS_LANES_AVX512_H_
#define MXNET_SRC_OP_KERNELS_LANES_AVX512_H_

#include <cstdint>

#include "op/kernels/cpu.h"
#include "op/kernels/lanes/intrinsics.h"
#include "op/kernels/lanes/order.h"

namespace mxnet {
namespace op {
namespace avx512 {

#define MXNET_INLINE static MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE

/*! \brief What lanes of 32 bits have in common; those of 64 bits follow. */
struct Lanes32 {
  using Vector = __m512i;
  using Mask = __mmask16;
  static constexpr int kCount = 16;
  static constexpr Mask kAll = 0xffff;

  MXNET_INLINE bool Any(Mask lanes) { return lanes != 0; }

  /*! \brief The lanes of numbers with a bit set. */
  static constexpr Mask Having(int bit) {
    return bit == 1 ? 0xaaaa : bit == 2 ? 0xcccc : bit == 4 ? 0xf0f0 : 0xff00;
  }
  MXNET_INLINE Vector Load(const void* x) { return _mm512_loadu_si512(x); }
  MXNET_INLINE void Store(void* x, Vector v) { _mm512_storeu_si512(x, v); }
  MXNET_INLINE Mask First(int64_t n) {
    return static_cast<Mask>(n >= kCount ? 0xffff : n <= 0 ? 0 : _bzhi_u32(0xffff, unsigned(n)));
  }
  MXNET_INLINE Vector LoadFirst(const void* x, int64_t n, Vector others) {
    return _mm512_mask_loadu_epi32(others, First(n), x);
  }
  MXNET_INLINE void StoreFirst(void* x, int64_t n, Vector v) {
    _mm512_mask_storeu_epi32(x, First(n), v);
  }
  /*! \brief a, and b in lanes of numbers with the bit. */
  template <int kBit>
  MXNET_INLINE Vector Blend(Vector a, Vector b) {
    return _mm512_mask_mov_epi32(a, Having(kBit), b);
  }
  /*! \brief Lane i gets what lane i ^ kBits has. */
  template <int kBits>
  MXNET_INLINE Vector Swap(Vector v) {
    if constexpr (kBits == 1) return _mm512_shuffle_epi32(v, _MM_PERM_CDAB);
    if constexpr (kBits == 2) return _mm512_shuffle_epi32(v, _MM_PERM_BADC);
    if constexpr (kBits == 3) return _mm512_shuffle_epi32(v, _MM_PERM_ABCD);
    if constexpr (kBits == 4) return _mm512_shuffle_i64x2(v, v, 0xb1);
    if constexpr (kBits == 7) return Swap<4>(Swap<3>(v));
    if constexpr (kBits == 8) return _mm512_shuffle_i64x2(v, v, 0x4e);
    if constexpr (kBits == 15) return Swap<3>(_mm512_shuffle_i64x2(v, v, 0x1b));
  }
  /*! \brief The lower halves of a and b, lane by lane in turns. */
  MXNET_INLINE Vector ZipLow(Vector a, Vector b) {
    const Vector from = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_epi32(a, from, b);
  }
  MXNET_INLINE Vector ZipHigh(Vector a, Vector b) {
    const Vector from =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    return _mm512_permutex2var_epi32(a, from, b);
  }
  /*! \brief Every second lane of a and then of b, from the first on. */
  MXNET_INLINE Vector Evens(Vector a, Vector b) {
    const Vector from =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_epi32(a, from, b);
  }
  /*! \brief The lane before each: that of v, and of `previous` its last. */
  MXNET_INLINE Vector Shifted(Vector previous, Vector v) {
    return _mm512_alignr_epi32(v, previous, 15);
  }
  /*! \brief The lanes in the mask, one after the other. */
  MXNET_INLINE Vector Compress(Mask mask, Vector v) { return _mm512_maskz_compress_epi32(mask, v); }
  MXNET_INLINE int64_t CountOf(Mask mask) { return _mm_popcnt_u32(mask); }
};

struct Lanes64 {
  using Vector = __m512i;
  using Mask = __mmask8;
  static constexpr int kCount = 8;
  static constexpr Mask kAll = 0xff;

  MXNET_INLINE bool Any(Mask lanes) { return lanes != 0; }

  static constexpr Mask Having(int bit) { return bit == 1 ? 0xaa : bit == 2 ? 0xcc : 0xf0; }
  MXNET_INLINE Vector Load(const void* x) { return _mm512_loadu_si512(x); }
  MXNET_INLINE void Store(void* x, Vector v) { _mm512_storeu_si512(x, v); }
  MXNET_INLINE Mask First(int64_t n) {
    return static_cast<Mask>(n >= kCount ? 0xff : n <= 0 ? 0 : _bzhi_u32(0xff, unsigned(n)));
  }
  MXNET_INLINE Vector LoadFirst(const void* x, int64_t n, Vector others) {
    return _mm512_mask_loadu_epi64(others, First(n), x);
  }
  MXNET_INLINE void StoreFirst(void* x, int64_t n, Vector v) {
    _mm512_mask_storeu_epi64(x, First(n), v);
  }
  template <int kBit>
  MXNET_INLINE Vector Blend(Vector a, Vector b) {
    return _mm512_mask_mov_epi64(a, Having(kBit), b);
  }
  template <int kBits>
  MXNET_INLINE Vector Swap(Vector v) {
    if constexpr (kBits == 1) return _mm512_shuffle_epi32(v, _MM_PERM_BADC);
    if constexpr (kBits == 2) return _mm512_permutex_epi64(v, 0x4e);
    if constexpr (kBits == 3) return _mm512_permutex_epi64(v, 0x1b);
    if constexpr (kBits == 4) return _mm512_shuffle_i64x2(v, v, 0x4e);
    if constexpr (kBits == 7) return Swap<1>(_mm512_shuffle_i64x2(v, v, 0x1b));
  }
  MXNET_INLINE Vector ZipLow(Vector a, Vector b) {
    return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b);
  }
  MXNET_INLINE Vector ZipHigh(Vector a, Vector b) {
    return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b);
  }
  MXNET_INLINE Vector Evens(Vector a, Vector b) {
    return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b);
  }
  MXNET_INLINE Vector Shifted(Vector previous, Vector v) {
    return _mm512_alignr_epi64(v, previous, 7);
  }
  MXNET_INLINE Vector Compress(Mask mask, Vector v) { return _mm512_maskz_compress_epi64(mask, v); }
  /*! \brief The lanes in the mask, and then the others. */
  MXNET_INLINE Vector Split(Mask mask, Vector v) {
    const __m256i order =
        _mm256_load_si256(reinterpret_cast<const __m256i*>(internal::kOrderOf8.of[mask]));
    return _mm512_permutexvar_epi64(_mm512_cvtepu32_epi64(order), v);
  }
  MXNET_INLINE int64_t CountOf(Mask mask) { return _mm_popcnt_u32(mask); }
};

/*! \brief Half a register of 32 bits a lane, of which there are few enough for a table of masks. */
struct SplitLanes32 {
  using Vector = __m256i;
  using Mask = __mmask8;
  static constexpr int kCount = 8;

  MXNET_INLINE Vector Load(const void* x) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(x));
  }
  MXNET_INLINE void Store(void* x, Vector v) { _mm256_storeu_si256(static_cast<__m256i*>(x), v); }
  /*! \brief The lanes in the mask, and then the others. */
  MXNET_INLINE Vector Split(Mask mask, Vector v) {
    return _mm256_permutexvar_epi32(Load(internal::kOrderOf8.of[mask]), v);
  }
  MXNET_INLINE int64_t CountOf(Mask mask) { return _mm_popcnt_u32(mask); }
};

/*! \brief Lanes of T: how they compare. */
template <typename T>
struct Lanes;

template <>
struct Lanes<int32_t> : Lanes32 {
  MXNET_INLINE Vector Set(int32_t x) { return _mm512_set1_epi32(x); }
  MXNET_INLINE Vector Min(Vector a, Vector b) { return _mm512_min_epi32(a, b); }
  MXNET_INLINE Vector Max(Vector a, Vector b) { return _mm512_max_epi32(a, b); }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) { return _mm512_cmple_epi32_mask(a, b); }
  MXNET_INLINE Mask Less(Vector a, Vector b) { return _mm512_cmplt_epi32_mask(a, b); }
  MXNET_INLINE Mask Differ(Vector a, Vector b) { return _mm512_cmpneq_epi32_mask(a, b); }
  MXNET_INLINE Mask Unordered(Vector, Vector) { return 0; }
  MXNET_INLINE Vector NaNOr(Vector, Vector other) { return other; }
};

template <>
struct Lanes<int64_t> : Lanes64 {
  MXNET_INLINE Vector Set(int64_t x) { return _mm512_set1_epi64(x); }
  MXNET_INLINE Vector Min(Vector a, Vector b) { return _mm512_min_epi64(a, b); }
  MXNET_INLINE Vector Max(Vector a, Vector b) { return _mm512_max_epi64(a, b); }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) { return _mm512_cmple_epi64_mask(a, b); }
  MXNET_INLINE Mask Less(Vector a, Vector b) { return _mm512_cmplt_epi64_mask(a, b); }
  MXNET_INLINE Mask Differ(Vector a, Vector b) { return _mm512_cmpneq_epi64_mask(a, b); }
  MXNET_INLINE Mask Unordered(Vector, Vector) { return 0; }
  MXNET_INLINE Vector NaNOr(Vector, Vector other) { return other; }
};

template <>
struct Lanes<float> : Lanes32 {
  MXNET_INLINE __m512 Cast(Vector v) { return _mm512_castsi512_ps(v); }
  MXNET_INLINE Vector Set(float x) { return _mm512_castps_si512(_mm512_set1_ps(x)); }
  MXNET_INLINE Vector Min(Vector a, Vector b) {
    return _mm512_castps_si512(_mm512_min_ps(Cast(a), Cast(b)));
  }
  MXNET_INLINE Vector Max(Vector a, Vector b) {
    return _mm512_castps_si512(_mm512_max_ps(Cast(a), Cast(b)));
  }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) {
    return _mm512_cmp_ps_mask(Cast(a), Cast(b), _CMP_LE_OQ);
  }
  MXNET_INLINE Mask Less(Vector a, Vector b) {
    return _mm512_cmp_ps_mask(Cast(a), Cast(b), _CMP_LT_OQ);
  }
  MXNET_INLINE Mask Differ(Vector a, Vector b) {
    return _mm512_cmp_ps_mask(Cast(a), Cast(b), _CMP_NEQ_UQ);
  }
  /*! \brief Lanes in which one of both is NaN. */
  MXNET_INLINE Mask Unordered(Vector a, Vector b) {
    return _mm512_cmp_ps_mask(Cast(a), Cast(b), _CMP_UNORD_Q);
  }
  /*! \brief x in lanes in which it is NaN, and other. */
  MXNET_INLINE Vector NaNOr(Vector x, Vector other) {
    return _mm512_castps_si512(_mm512_mask_mov_ps(Cast(other), Unordered(x, x), Cast(x)));
  }
};

template <>
struct Lanes<double> : Lanes64 {
  MXNET_INLINE __m512d Cast(Vector v) { return _mm512_castsi512_pd(v); }
  MXNET_INLINE Vector Set(double x) { return _mm512_castpd_si512(_mm512_set1_pd(x)); }
  MXNET_INLINE Vector Min(Vector a, Vector b) {
    return _mm512_castpd_si512(_mm512_min_pd(Cast(a), Cast(b)));
  }
  MXNET_INLINE Vector Max(Vector a, Vector b) {
    return _mm512_castpd_si512(_mm512_max_pd(Cast(a), Cast(b)));
  }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) {
    return _mm512_cmp_pd_mask(Cast(a), Cast(b), _CMP_LE_OQ);
  }
  MXNET_INLINE Mask Less(Vector a, Vector b) {
    return _mm512_cmp_pd_mask(Cast(a), Cast(b), _CMP_LT_OQ);
  }
  MXNET_INLINE Mask Differ(Vector a, Vector b) {
    return _mm512_cmp_pd_mask(Cast(a), Cast(b), _CMP_NEQ_UQ);
  }
  /*! \brief Lanes in which one of both is NaN. */
  MXNET_INLINE Mask Unordered(Vector a, Vector b) {
    return _mm512_cmp_pd_mask(Cast(a), Cast(b), _CMP_UNORD_Q);
  }
  /*! \brief x in lanes in which it is NaN, and other. */
  MXNET_INLINE Vector NaNOr(Vector x, Vector other) {
    return _mm512_castpd_si512(_mm512_mask_mov_pd(Cast(other), Unordered(x, x), Cast(x)));
  }
};

/*! \brief The lanes in which elements of T are partitioned. */
template <typename T>
struct SplitLanes : Lanes<T> {};

template <>
struct SplitLanes<int32_t> : SplitLanes32 {
  MXNET_INLINE Vector Set(int32_t x) { return _mm256_set1_epi32(x); }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) { return _mm256_cmple_epi32_mask(a, b); }
  MXNET_INLINE Mask Less(Vector a, Vector b) { return _mm256_cmplt_epi32_mask(a, b); }
};

template <>
struct SplitLanes<float> : SplitLanes32 {
  MXNET_INLINE __m256 Cast(Vector v) { return _mm256_castsi256_ps(v); }
  MXNET_INLINE Vector Set(float x) { return _mm256_castps_si256(_mm256_set1_ps(x)); }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) {
    return _mm256_cmp_ps_mask(Cast(a), Cast(b), _CMP_LE_OQ);
  }
  MXNET_INLINE Mask Less(Vector a, Vector b) {
    return _mm256_cmp_ps_mask(Cast(a), Cast(b), _CMP_LT_OQ);
  }
};

#undef MXNET_INLINE

}  // namespace avx512
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_LANES_AVX512_H_
