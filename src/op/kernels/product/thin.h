/*!
 * \file thin.h
 * \brief Products of float matrices that sum few numbers for each element: k is small.
 *
 * Such a product reads little and writes much. BLAS packs both operands and goes over the result
 * as if it had to be read; here each tile of it is made in registers, and handed on at once.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_THIN_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_THIN_H_

#include <algorithm>
#include <cstdint>

#include "op/kernels/cpu.h"
#include "op/kernels/lanes/intrinsics.h"
#include "op/parallel/parallel.h"

namespace mxnet {
namespace op {
namespace thin {

/*! \brief Numbers in a register. */
constexpr int64_t kLanes = 16;
/*! \brief Of more terms the libraries are as fast. */
constexpr int64_t kMostTerms = 32;
/*! \brief Elements of the smallest result that is worth it. */
constexpr int64_t kLeastElements = int64_t{1} << 14;

/*! \brief a of m x k elements, b of k x n elements, whose rows are dense. */
struct Operands {
  int64_t m, n, k;
  const float* a;
  int64_t a_row, a_column;
  const float* b;
  int64_t b_row;
};

/*! \brief Whether the loops of this file are the ones to take on this processor: 32 registers of 16
 * lanes hold a tile, and products are added in one instruction. */
inline bool Suits(int64_t m, int64_t n, int64_t k) {
  return k >= 1 && k <= kMostTerms && m >= 2 && n >= 16 && m * n >= kLeastElements &&
         HostCpuLevel() >= CpuLevel::kAvx512;
}

#if MXNET_CPU_LEVELS
namespace internal {

constexpr int64_t kRows = 6;
constexpr int64_t kVectors = 4;
constexpr int64_t kColumns = kVectors * kLanes;
/*! \brief Elements of b that are packed at a time, for the first cache. */
constexpr int64_t kPacked = 8192;

/*! \brief Sums `R` rows of `width` columns and hands them on. Of a, `kRows` lie side by side. */
template <int R, typename Finish>
MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE void Tile(const float* a, const float* b, int64_t k,
                                                  int64_t row, int64_t column, int64_t width,
                                                  const Finish& finish) {
  __m512 sums[R][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    // Of the tile that comes next.
    finish.Prefetch(row + r, column + kColumns);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_setzero_ps();
  }
  for (int64_t l = 0; l < k; ++l) {
    __m512 columns[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) columns[v] = _mm512_load_ps(b + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const __m512 factor = _mm512_set1_ps(a[r]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = _mm512_fmadd_ps(factor, columns[v], sums[r][v]);
      }
    }
    a += kRows;
    b += kColumns;
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const int64_t count = width - v * kLanes;
      const auto mask =
          static_cast<__mmask16>(count >= kLanes ? 0xffff : (1 << std::max<int64_t>(count, 0)) - 1);
      finish.Take(row + r, column + v * kLanes, sums[r][v], mask);
    }
  }
}

template <typename Finish>
MXNET_TARGET_AVX512 void Rows(const Operands& p, int64_t begin, int64_t end, const Finish& finish) {
  alignas(64) float packed[kPacked];
  alignas(64) float strip[kRows * kMostTerms];
  const int64_t panel = p.k * kColumns;
  const int64_t at_once = std::max<int64_t>(1, kPacked / panel) * kColumns;
  for (int64_t first = 0; first < p.n; first += at_once) {
    const int64_t last = std::min(p.n, first + at_once);
    for (int64_t j = first; j < last; j += kColumns) {
      const int64_t width = std::min(kColumns, last - j);
      float* to = packed + (j - first) / kColumns * panel;
      for (int64_t l = 0; l < p.k; ++l, to += kColumns) {
        const float* from = p.b + l * p.b_row + j;
        for (int64_t i = 0; i < width; ++i) to[i] = from[i];
        for (int64_t i = width; i < kColumns; ++i) to[i] = 0;
      }
    }
    for (int64_t i = begin; i < end; i += kRows) {
      const int64_t count = std::min(kRows, end - i);
      for (int64_t l = 0; l < p.k; ++l) {
        const float* from = p.a + i * p.a_row + l * p.a_column;
        for (int64_t r = 0; r < count; ++r) strip[l * kRows + r] = from[r * p.a_row];
      }
      for (int64_t j = first; j < last; j += kColumns) {
        const int64_t width = std::min(kColumns, last - j);
        const float* from = packed + (j - first) / kColumns * panel;
        if (count == kRows) {
          Tile<kRows>(strip, from, p.k, i, j, width, finish);
        } else {
          for (int64_t r = 0; r < count; ++r) {
            Tile<1>(strip + r, from, p.k, i + r, j, width, finish);
          }
        }
      }
    }
  }
  finish.End();
}

}  // namespace internal

/*! \brief All elements of a b, in any order and from several threads, each once: finish.Take(row,
 * column, sums, mask) is given those of a mask, side by side, some time after
 * finish.Prefetch(row, column), which may be asked for columns that there are none of; a thread
 * calls finish.End() when it has given some. Only where Suits says so. */
template <typename Finish>
void Product(const Operands& p, const Finish& finish) {
  constexpr int64_t kStrip = internal::kRows;
  const int64_t strips = (p.m + kStrip - 1) / kStrip;
  // As many at a time that b is not packed for few.
  constexpr int64_t kStrips = 8;
  InParallel((strips + kStrips - 1) / kStrips, 1, [&](int64_t begin, int64_t end) {
    internal::Rows(p, begin * kStrips * kStrip, std::min(p.m, end * kStrips * kStrip), finish);
  });
}
#endif

}  // namespace thin
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_PRODUCT_THIN_H_
