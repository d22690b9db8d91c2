/*!
 * \file lookup.cc
 * \brief Lookup of bytes: one by one, or 32 at a time in tables that are held by registers.
 */
#include "op/kernels/elementwise/lookup.h"

#include <algorithm>

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/gather.h"
#include "op/kernels/lanes/intrinsics.h"

namespace mxnet {
namespace op {
namespace {

using Run = void (*)(const uint16_t* results, const uint8_t* x, int64_t n, uint16_t* out);

void LookUpEach(const uint16_t* results, const uint8_t* x, int64_t n, uint16_t* out) {
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; ++i) out[i] = results[x[i]];
}

#if MXNET_CPU_LEVELS
MXNET_TARGET_AVX512 void LookUpWide(const uint16_t* results, const uint8_t* x, int64_t n,
                                    uint16_t* out) {
  constexpr int kRegisters = 8;
  constexpr int64_t kAtOnce = 32;
  int64_t i = 0;
  // Filling the registers takes as long as some elements.
  if (n >= 2 * kAtOnce) {
    __m512i table[kRegisters];
    for (int r = 0; r < kRegisters; ++r) table[r] = _mm512_loadu_si512(results + r * kAtOnce);
    const __m512i bit6 = _mm512_set1_epi16(0x40);
    const __m512i bit7 = _mm512_set1_epi16(0x80);
    for (; i + kAtOnce <= n; i += kAtOnce) {
      const __m512i index =
          _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)));
      const __mmask32 odd = _mm512_test_epi16_mask(index, bit6);
      const __mmask32 upper = _mm512_test_epi16_mask(index, bit7);
      // Each reads the lower 6 bits; the upper two choose between them.
      const __m512i a = _mm512_permutex2var_epi16(table[0], index, table[1]);
      const __m512i b = _mm512_permutex2var_epi16(table[2], index, table[3]);
      const __m512i c = _mm512_permutex2var_epi16(table[4], index, table[5]);
      const __m512i d = _mm512_permutex2var_epi16(table[6], index, table[7]);
      const __m512i low = _mm512_mask_mov_epi16(a, odd, b);
      const __m512i high = _mm512_mask_mov_epi16(c, odd, d);
      _mm512_storeu_si512(out + i, _mm512_mask_mov_epi16(low, upper, high));
    }
  }
  LookUpEach(results, x + i, n - i, out + i);
}
#endif

Run Find() noexcept {
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx512) return &LookUpWide;
#endif
  return &LookUpEach;
}

}  // namespace

void LookUpBytes(const uint16_t* results, const char* x, int64_t stride, int64_t n, uint16_t* out) {
  static const Run run = Find();
  if (stride == 1) return run(results, reinterpret_cast<const uint8_t*>(x), n, out);
  constexpr int64_t kChunk = 1024;
  uint8_t dense[kChunk];
  for (int64_t done = 0; done < n; done += kChunk) {
    const int64_t count = std::min(kChunk, n - done);
    GatherStrided(x + done * stride, stride, 1, count, reinterpret_cast<char*>(dense));
    run(results, dense, count, out + done);
  }
}

}  // namespace op
}  // namespace mxnet
