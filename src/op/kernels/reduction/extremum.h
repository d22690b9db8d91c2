/*!
 * \file extremum.h
 * \brief The largest or smallest of a dense span of integers or floats, some registers at a time.
 */
#ifndef MXNET_SRC_OP_KERNELS_REDUCTION_EXTREMUM_H_
#define MXNET_SRC_OP_KERNELS_REDUCTION_EXTREMUM_H_

#include <cstdint>
#include <cstring>

#include "op/kernels/cpu.h"
#include "op/kernels/reduction/vector_extremum.h"
#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*! \brief Whether ExtremumOf takes spans of T. */
template <typename T>
constexpr bool kHasExtremum = std::is_floating_point_v<T> || kIsIntType<T>;

namespace internal {

template <typename T, bool kLargest, int kBytes>
struct ExtremumBody {
  typedef T Vector __attribute__((vector_size(kBytes)));

  static MXNET_ALWAYS_INLINE T Run(const T* x, int64_t n, bool* has_nan) {
    constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
    // Four registers take turns, because each waits for its own last comparison.
    constexpr int kRegisters = 4;
    constexpr int64_t kStep = kLanes * kRegisters;
    int64_t i = 0;
    T best = x[0];
    bool unordered = false;
    if (n >= kStep) {
      Vector bests[kRegisters];
      std::memcpy(bests, x, sizeof(bests));
      auto nans = bests[0] != bests[0];
      for (int r = 1; r < kRegisters; ++r) nans |= bests[r] != bests[r];
      for (i = kStep; i + kStep <= n; i += kStep) {
        for (int r = 0; r < kRegisters; ++r) {
          Vector next;
          std::memcpy(&next, x + i + r * kLanes, sizeof(next));
          nans |= next != next;
          bests[r] =
              kLargest ? (next > bests[r] ? next : bests[r]) : (next < bests[r] ? next : bests[r]);
        }
      }
      for (int r = 1; r < kRegisters; ++r) {
        bests[0] = kLargest ? (bests[r] > bests[0] ? bests[r] : bests[0])
                            : (bests[r] < bests[0] ? bests[r] : bests[0]);
      }
      T lanes[kLanes];
      std::memcpy(lanes, bests, sizeof(lanes));
      for (int width = kLanes / 2; width > 0; width /= 2) {
        for (int l = 0; l < width; ++l) lanes[l] = Better(lanes[l + width], lanes[l]);
      }
      best = lanes[0];
      if constexpr (std::is_floating_point_v<T>) {
        for (int l = 0; l < kLanes; ++l) unordered |= nans[l] != 0;
      }
    }
    for (; i < n; ++i) {
      unordered |= x[i] != x[i];
      best = Better(x[i], best);
    }
    *has_nan = unordered;
    return best;
  }

 private:
  static MXNET_ALWAYS_INLINE T Better(T next, T best) {
    if constexpr (kLargest) return next > best ? next : best;
    if constexpr (!kLargest) return next < best ? next : best;
  }
};

template <bool kLargest, typename T>
const VectorExtremum<T>& VectorExtremumOf() {
  static const VectorExtremum<T> found = FindVectorExtremum<kLargest, T>();
  return found;
}

}  // namespace internal

/*!
 * \brief The largest, or smallest, of n > 0 elements.
 *
 * *has_nan is whether there is a NaN; the result is then not specified.
 */
template <bool kLargest, typename T>
T ExtremumOf(const T* x, int64_t n, bool* has_nan) {
  if constexpr (kHasVectorExtremum<T>) {
    const VectorExtremum<T>& vectors = internal::VectorExtremumOf<kLargest, T>();
    if (vectors.extremum != nullptr) return vectors.extremum(x, n, has_nan);
  }
  // Registers of floats as wide are compared lane by lane by some compilers.
  constexpr bool kIsWide = !std::is_floating_point_v<T>;
  static const auto run = kIsWide && HostCpuLevel() >= CpuLevel::kAvx512
                              ? ForWideCpu<internal::ExtremumBody<T, kLargest, kIsWide ? 64 : 32>>()
                          : HostCpuLevel() >= CpuLevel::kAvx2
                              ? ForCpu<internal::ExtremumBody<T, kLargest, 32>>()
                              : ForCpu<internal::ExtremumBody<T, kLargest, 16>>();
  return run(x, n, has_nan);
}

/*! \brief Position of the first of n elements that is a value, which is there. */
template <typename T>
struct FindValue {
  static MXNET_ALWAYS_INLINE int64_t Run(const T* x, int64_t n, T value) {
    using Word = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
    constexpr int64_t kGroup = 128 / sizeof(T);
    int64_t begin = 0;
    for (; begin + kGroup <= n; begin += kGroup) {
      // As wide as the elements, which are then compared without being packed.
      Word found = 0;
      for (int64_t i = 0; i < kGroup; ++i) found |= static_cast<Word>(x[begin + i] == value);
      if (found != 0) break;
    }
    while (x[begin] != value) ++begin;
    return begin;
  }
};

/*! \brief Position of the first NaN, or else of the first of the largest, or smallest, elements. */
template <bool kLargest, typename T>
int64_t FindExtremum(const T* x, int64_t n) {
  constexpr int64_t kBlock = 16384 / sizeof(T);
  int64_t best_block = 0;
  T best = x[0];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = n - begin < kBlock ? n - begin : kBlock;
    bool has_nan = false;
    const T extremum = ExtremumOf<kLargest>(x + begin, count, &has_nan);
    if (has_nan) {
      while (x[begin] == x[begin]) ++begin;
      return begin;
    }
    if (kLargest ? extremum > best : extremum < best) {
      best = extremum;
      best_block = begin;
    }
  }
  if constexpr (kHasVectorExtremum<T>) {
    const VectorExtremum<T>& vectors = internal::VectorExtremumOf<kLargest, T>();
    if (vectors.find != nullptr) {
      return best_block + vectors.find(x + best_block, n - best_block, best);
    }
  }
  static const auto find = ForCpu<FindValue<T>>();
  return best_block + find(x + best_block, n - best_block, best);
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_REDUCTION_EXTREMUM_H_
