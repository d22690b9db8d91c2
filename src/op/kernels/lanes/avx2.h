/*!
 * \file avx2.h
 * \brief Registers of AVX2 as lanes: what loops that are written once for each level are made of.
 */
#ifndef MXNET_SRC_OP_KERNELS_LANES_AVX2_H_
#define MXNET_SRC_OP_KERNELS_LANES_AVX2_H_

#include <cstdint>

#include "op/kernels/cpu.h"
#include "op/kernels/lanes/intrinsics.h"
#include "op/kernels/lanes/order.h"

namespace mxnet {
namespace op {
namespace avx2 {

#define MXNET_INLINE static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE

/*! \brief What lanes of 32 bits have in common; those of 64 bits follow. */
struct Lanes32 {
  using Vector = __m256i;
  using Mask = unsigned;
  static constexpr int kCount = 8;
  static constexpr Mask kAll = 0xff;

  MXNET_INLINE bool Any(Mask lanes) { return lanes != 0; }

  MXNET_INLINE Vector Load(const void* x) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(x));
  }
  MXNET_INLINE void Store(void* x, Vector v) { _mm256_storeu_si256(static_cast<__m256i*>(x), v); }
  MXNET_INLINE Vector First(int64_t n) {
    const Vector numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), numbers);
  }
  MXNET_INLINE Vector LoadFirst(const void* x, int64_t n, Vector others) {
    const Vector first = First(n);
    return _mm256_blendv_epi8(others, _mm256_maskload_epi32(static_cast<const int*>(x), first),
                              first);
  }
  MXNET_INLINE void StoreFirst(void* x, int64_t n, Vector v) {
    _mm256_maskstore_epi32(static_cast<int*>(x), First(n), v);
  }
  /*! \brief a, and b in lanes of numbers with the bit. */
  template <int kBit>
  MXNET_INLINE Vector Blend(Vector a, Vector b) {
    return _mm256_blend_epi32(a, b, kBit == 1 ? 0xaa : kBit == 2 ? 0xcc : 0xf0);
  }
  /*! \brief Lane i gets what lane i ^ kBits has. */
  template <int kBits>
  MXNET_INLINE Vector Swap(Vector v) {
    if constexpr (kBits == 1) return _mm256_shuffle_epi32(v, 0xb1);
    if constexpr (kBits == 2) return _mm256_shuffle_epi32(v, 0x4e);
    if constexpr (kBits == 3) return _mm256_shuffle_epi32(v, 0x1b);
    if constexpr (kBits == 4) return _mm256_permute2x128_si256(v, v, 1);
    if constexpr (kBits == 7) return Swap<3>(_mm256_permute2x128_si256(v, v, 1));
  }
  /*! \brief The lower halves of a and b, lane by lane in turns. */
  MXNET_INLINE Vector ZipLow(Vector a, Vector b) {
    return _mm256_permute2x128_si256(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b),
                                     0x20);
  }
  MXNET_INLINE Vector ZipHigh(Vector a, Vector b) {
    return _mm256_permute2x128_si256(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b),
                                     0x31);
  }
  /*! \brief Every second lane of a and then of b, from the first on. */
  MXNET_INLINE Vector Evens(Vector a, Vector b) {
    const __m256 evens = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(evens), 0xd8);
  }
  /*! \brief The lane before each: that of v, and of `previous` its last. */
  MXNET_INLINE Vector Shifted(Vector previous, Vector v) {
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(previous, v, 0x21), 12);
  }
  /*! \brief The lanes in the mask, and then the others. */
  MXNET_INLINE Vector Split(Mask mask, Vector v) {
    return _mm256_permutevar8x32_epi32(v, Load(internal::kOrderOf8.of[mask]));
  }
  MXNET_INLINE Vector Compress(Mask mask, Vector v) { return Split(mask, v); }
  MXNET_INLINE int64_t CountOf(Mask mask) { return _mm_popcnt_u32(mask); }
  MXNET_INLINE Mask Bits(Vector lanes) {
    return static_cast<Mask>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
  }
};

struct Lanes64 {
  using Vector = __m256i;
  using Mask = unsigned;
  static constexpr int kCount = 4;
  static constexpr Mask kAll = 0xf;

  MXNET_INLINE bool Any(Mask lanes) { return lanes != 0; }

  MXNET_INLINE Vector Load(const void* x) { return Lanes32::Load(x); }
  MXNET_INLINE void Store(void* x, Vector v) { Lanes32::Store(x, v); }
  MXNET_INLINE Vector LoadFirst(const void* x, int64_t n, Vector others) {
    return Lanes32::LoadFirst(x, 2 * n, others);
  }
  MXNET_INLINE void StoreFirst(void* x, int64_t n, Vector v) { Lanes32::StoreFirst(x, 2 * n, v); }
  template <int kBit>
  MXNET_INLINE Vector Blend(Vector a, Vector b) {
    return Lanes32::Blend<2 * kBit>(a, b);
  }
  template <int kBits>
  MXNET_INLINE Vector Swap(Vector v) {
    if constexpr (kBits == 1) return _mm256_shuffle_epi32(v, 0x4e);
    if constexpr (kBits == 2) return _mm256_permute4x64_epi64(v, 0x4e);
    if constexpr (kBits == 3) return _mm256_permute4x64_epi64(v, 0x1b);
  }
  MXNET_INLINE Vector ZipLow(Vector a, Vector b) {
    return _mm256_permute2x128_si256(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b),
                                     0x20);
  }
  MXNET_INLINE Vector ZipHigh(Vector a, Vector b) {
    return _mm256_permute2x128_si256(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b),
                                     0x31);
  }
  MXNET_INLINE Vector Evens(Vector a, Vector b) {
    return _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xd8);
  }
  MXNET_INLINE Vector Shifted(Vector previous, Vector v) {
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(previous, v, 0x21), 8);
  }
  MXNET_INLINE Vector Split(Mask mask, Vector v) {
    return _mm256_permutevar8x32_epi32(v, Load(internal::kOrderOf4.of[mask]));
  }
  MXNET_INLINE Vector Compress(Mask mask, Vector v) { return Split(mask, v); }
  MXNET_INLINE int64_t CountOf(Mask mask) { return _mm_popcnt_u32(mask); }
  MXNET_INLINE Mask Bits(Vector lanes) {
    return static_cast<Mask>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)));
  }
};

/*! \brief Lanes of T: how they compare. */
template <typename T>
struct Lanes;

template <>
struct Lanes<int32_t> : Lanes32 {
  MXNET_INLINE Vector Set(int32_t x) { return _mm256_set1_epi32(x); }
  MXNET_INLINE Vector Min(Vector a, Vector b) { return _mm256_min_epi32(a, b); }
  MXNET_INLINE Vector Max(Vector a, Vector b) { return _mm256_max_epi32(a, b); }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) { return Bits(_mm256_cmpgt_epi32(a, b)) ^ 0xff; }
  MXNET_INLINE Mask Less(Vector a, Vector b) { return Bits(_mm256_cmpgt_epi32(b, a)); }
  MXNET_INLINE Mask Differ(Vector a, Vector b) { return Bits(_mm256_cmpeq_epi32(a, b)) ^ 0xff; }
  MXNET_INLINE Mask Unordered(Vector, Vector) { return 0; }
  MXNET_INLINE Vector NaNOr(Vector, Vector other) { return other; }
};

template <>
struct Lanes<int64_t> : Lanes64 {
  MXNET_INLINE Vector Set(int64_t x) { return _mm256_set1_epi64x(x); }
  MXNET_INLINE Vector Min(Vector a, Vector b) {
    return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
  }
  MXNET_INLINE Vector Max(Vector a, Vector b) {
    return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b));
  }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) { return Bits(_mm256_cmpgt_epi64(a, b)) ^ 0xf; }
  MXNET_INLINE Mask Less(Vector a, Vector b) { return Bits(_mm256_cmpgt_epi64(b, a)); }
  MXNET_INLINE Mask Differ(Vector a, Vector b) { return Bits(_mm256_cmpeq_epi64(a, b)) ^ 0xf; }
  MXNET_INLINE Mask Unordered(Vector, Vector) { return 0; }
  MXNET_INLINE Vector NaNOr(Vector, Vector other) { return other; }
};

template <>
struct Lanes<float> : Lanes32 {
  MXNET_INLINE __m256 Cast(Vector v) { return _mm256_castsi256_ps(v); }
  MXNET_INLINE Vector Set(float x) { return _mm256_castps_si256(_mm256_set1_ps(x)); }
  MXNET_INLINE Vector Min(Vector a, Vector b) {
    return _mm256_castps_si256(_mm256_min_ps(Cast(a), Cast(b)));
  }
  MXNET_INLINE Vector Max(Vector a, Vector b) {
    return _mm256_castps_si256(_mm256_max_ps(Cast(a), Cast(b)));
  }
  template <int kHow>
  MXNET_INLINE Mask Compare(Vector a, Vector b) {
    return static_cast<Mask>(_mm256_movemask_ps(_mm256_cmp_ps(Cast(a), Cast(b), kHow)));
  }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) { return Compare<_CMP_LE_OQ>(a, b); }
  MXNET_INLINE Mask Less(Vector a, Vector b) { return Compare<_CMP_LT_OQ>(a, b); }
  MXNET_INLINE Mask Differ(Vector a, Vector b) { return Compare<_CMP_NEQ_UQ>(a, b); }
  /*! \brief Lanes in which one of both is NaN; as vectors they are gathered in fewer steps. */
  MXNET_INLINE Vector Unordered(Vector a, Vector b) {
    return _mm256_castps_si256(_mm256_cmp_ps(Cast(a), Cast(b), _CMP_UNORD_Q));
  }
  MXNET_INLINE bool Any(Vector lanes) { return _mm256_testz_si256(lanes, lanes) == 0; }
  /*! \brief x in lanes in which it is NaN, and other. */
  MXNET_INLINE Vector NaNOr(Vector x, Vector other) {
    const auto nan = Cast(Unordered(x, x));
    return _mm256_castps_si256(_mm256_blendv_ps(Cast(other), Cast(x), nan));
  }
};

template <>
struct Lanes<double> : Lanes64 {
  MXNET_INLINE __m256d Cast(Vector v) { return _mm256_castsi256_pd(v); }
  MXNET_INLINE Vector Set(double x) { return _mm256_castpd_si256(_mm256_set1_pd(x)); }
  MXNET_INLINE Vector Min(Vector a, Vector b) {
    return _mm256_castpd_si256(_mm256_min_pd(Cast(a), Cast(b)));
  }
  MXNET_INLINE Vector Max(Vector a, Vector b) {
    return _mm256_castpd_si256(_mm256_max_pd(Cast(a), Cast(b)));
  }
  template <int kHow>
  MXNET_INLINE Mask Compare(Vector a, Vector b) {
    return static_cast<Mask>(_mm256_movemask_pd(_mm256_cmp_pd(Cast(a), Cast(b), kHow)));
  }
  MXNET_INLINE Mask LessEqual(Vector a, Vector b) { return Compare<_CMP_LE_OQ>(a, b); }
  MXNET_INLINE Mask Less(Vector a, Vector b) { return Compare<_CMP_LT_OQ>(a, b); }
  MXNET_INLINE Mask Differ(Vector a, Vector b) { return Compare<_CMP_NEQ_UQ>(a, b); }
  /*! \brief Lanes in which one of both is NaN; as vectors they are gathered in fewer steps. */
  MXNET_INLINE Vector Unordered(Vector a, Vector b) {
    return _mm256_castpd_si256(_mm256_cmp_pd(Cast(a), Cast(b), _CMP_UNORD_Q));
  }
  MXNET_INLINE bool Any(Vector lanes) { return _mm256_testz_si256(lanes, lanes) == 0; }
  /*! \brief x in lanes in which it is NaN, and other. */
  MXNET_INLINE Vector NaNOr(Vector x, Vector other) {
    const auto nan = Cast(Unordered(x, x));
    return _mm256_castpd_si256(_mm256_blendv_pd(Cast(other), Cast(x), nan));
  }
};

/*! \brief The lanes in which elements of T are partitioned. */
template <typename T>
using SplitLanes = Lanes<T>;

#undef MXNET_INLINE

}  // namespace avx2
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_LANES_AVX2_H_
