/*!
 * \file bytes_of_masks.h
 * \brief Results of comparisons with AVX2, which are as wide as what is compared, as bytes.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_BYTES_OF_MASKS_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_BYTES_OF_MASKS_H_

#include "op/kernels/cpu.h"

#if MXNET_CPU_LEVELS
#include <cstdint>

#include "op/kernels/lanes/intrinsics.h"

namespace mxnet {
namespace op {
namespace avx2 {

/*! \brief Numbers whose results fill a register with bytes. */
constexpr int64_t kBytesAtOnce = 32;

/*! \brief Four registers of lanes of 32 bits, all or none of them set: as bytes, in order. */
static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256i BytesOf(const __m256i (&masks)[4]) {
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(masks[0], masks[1]),
                                           _mm256_packs_epi32(masks[2], masks[3]));
  // The instructions pack the lower and the upper halves of registers by themselves.
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/*! \brief The same of eight registers of lanes of 64 bits. */
static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE __m256i BytesOf(const __m256i (&masks)[8]) {
  const __m256i first = _mm256_packs_epi32(_mm256_packs_epi32(masks[0], masks[1]),
                                           _mm256_packs_epi32(masks[2], masks[3]));
  const __m256i second = _mm256_packs_epi32(_mm256_packs_epi32(masks[4], masks[5]),
                                            _mm256_packs_epi32(masks[6], masks[7]));
  const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(first, second), 0xd8);
  const __m256i order = _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,  //
                                         0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  return _mm256_shuffle_epi8(bytes, order);
}

/*! \brief Writes 1 where a byte is set and 0 where not; the opposite where kInverts. */
template <bool kInverts>
static MXNET_TARGET_AVX2 MXNET_ALWAYS_INLINE void StoreTruth(__m256i bytes, char* out) {
  const __m256i ones = _mm256_set1_epi8(1);
  const __m256i truth = kInverts ? _mm256_andnot_si256(bytes, ones) : _mm256_and_si256(bytes, ones);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), truth);
}

}  // namespace avx2
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_CPU_LEVELS

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_BYTES_OF_MASKS_H_
