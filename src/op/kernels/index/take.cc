/*!
 * \file take.cc
 * \brief Gather and scatter of single elements, by their size.
 */
#include "op/kernels/index/take.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/gather.h"
#include "op/parallel/parallel.h"

namespace mxnet {
namespace op {
namespace {

struct Wide {
  uint64_t parts[2];
};

/*! \brief Whether some of n indices are not from -extent to extent - 1. */
struct AnyOutOfBounds {
  static MXNET_ALWAYS_INLINE bool Run(const int64_t* indices, int64_t n, int64_t extent) {
    // The sign of a sum tells of an index that is too low, and that of what is left of one that is
    // too high; an index so high that the sum overflows is made a low one.
    const auto from = static_cast<uint64_t>(extent);
    const uint64_t last = 2 * from - 1;
    uint64_t signs = 0;
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t position = static_cast<uint64_t>(indices[i]) + from;
      signs |= position | (last - position);
    }
    return signs >> 63 != 0;
  }
};

/*! \brief Whether some of n indices count from the end. */
struct AnyNegative {
  static MXNET_ALWAYS_INLINE bool Run(const int64_t* indices, int64_t n) {
    int64_t signs = 0;
    for (int64_t i = 0; i < n; ++i) signs |= indices[i];
    return signs < 0;
  }
};

MXNET_ALWAYS_INLINE int64_t FromFront(int64_t index, int64_t extent) {
  return index + (extent & (index >> 63));
}

template <typename T>
void Take(const char* data, int64_t stride, int64_t extent, const int64_t* indices, int64_t n,
          T* out) {
  static const auto any_negative = ForWideCpu<AnyNegative>();
  if (any_negative(indices, n)) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) {
      out[i] = *reinterpret_cast<const T*>(data + FromFront(indices[i], extent) * stride);
    }
  } else if (stride == sizeof(T)) {
    const auto* elements = reinterpret_cast<const T*>(data);
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) out[i] = elements[indices[i]];
  } else {
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) {
      out[i] = *reinterpret_cast<const T*>(data + indices[i] * stride);
    }
  }
}

/*! \brief The element at an index. */
template <typename T>
MXNET_ALWAYS_INLINE T* ElementAt(char* data, int64_t stride, int64_t extent, int64_t index) {
  return reinterpret_cast<T*>(data + FromFront(index, extent) * stride);
}

/*! \brief Writes an element, which another thread may write the same to. */
template <typename T>
MXNET_ALWAYS_INLINE void Store(T* to, T value) {
  if constexpr (sizeof(T) <= sizeof(uint64_t)) {
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
  } else {
    *to = value;
  }
}

/*!
 * \brief Of more bytes than the nearest caches hold, an element is asked for so many indices before
 * it is written: else Intel's processors soon wait with as many writes as they can keep.
 */
constexpr int64_t kAhead = 32;
constexpr int64_t kInCaches = int64_t{1} << 17;

/*! \brief Whether asking ahead is faster. AMD's processors keep enough writes, and lose by it. */
bool AsksAhead() noexcept {
#if MXNET_CPU_LEVELS
  static const bool asks = __builtin_cpu_is("intel") != 0;
  return asks;
#else
  return false;
#endif
}

template <typename T>
void Put(char* data, int64_t stride, int64_t extent, const int64_t* indices, int64_t n,
         const char* values, int64_t value_stride) {
  const auto value = [&](int64_t i) {
    return *reinterpret_cast<const T*>(values + i * value_stride);
  };
  int64_t i = 0;
  if (extent * std::abs(stride) > kInCaches && AsksAhead()) {
    for (; i + kAhead < n; ++i) {
      __builtin_prefetch(ElementAt<T>(data, stride, extent, indices[i + kAhead]), 1);
      Store(ElementAt<T>(data, stride, extent, indices[i]), value(i));
    }
  }
  if (value_stride == 0) {
    const T same = value(0);
#pragma GCC unroll 4
    for (; i < n; ++i) Store(ElementAt<T>(data, stride, extent, indices[i]), same);
    return;
  }
#pragma GCC unroll 4
  for (; i < n; ++i) *ElementAt<T>(data, stride, extent, indices[i]) = value(i);
}

void PutSome(char* data, int64_t stride, int64_t extent, int64_t item, const int64_t* indices,
             int64_t n, const char* values, int64_t value_stride) {
  switch (item) {
    case 1:
      return Put<uint8_t>(data, stride, extent, indices, n, values, value_stride);
    case 2:
      return Put<uint16_t>(data, stride, extent, indices, n, values, value_stride);
    case 4:
      return Put<uint32_t>(data, stride, extent, indices, n, values, value_stride);
    case 8:
      return Put<uint64_t>(data, stride, extent, indices, n, values, value_stride);
    default:
      return Put<Wide>(data, stride, extent, indices, n, values, value_stride);
  }
}

void TakeSome(const char* data, int64_t stride, int64_t extent, int64_t item,
              const int64_t* indices, int64_t n, char* out) {
  switch (item) {
    case 1:
      return Take(data, stride, extent, indices, n, reinterpret_cast<uint8_t*>(out));
    case 2:
      return Take(data, stride, extent, indices, n, reinterpret_cast<uint16_t*>(out));
    case 4:
      return Take(data, stride, extent, indices, n, reinterpret_cast<uint32_t*>(out));
    case 8:
      return Take(data, stride, extent, indices, n, reinterpret_cast<uint64_t*>(out));
    default:
      return Take(data, stride, extent, indices, n, reinterpret_cast<Wide*>(out));
  }
}

/*! \brief As many indices at a time as stay in the nearest cache. */
constexpr int64_t kChunk = 512;

/*!
 * \brief Calls f(dense indices, the first one's number, how many) for indices from begin on, before
 * end, that lie apart: a chunk of them at a time is brought together.
 */
template <typename F>
[[gnu::noinline]] void ForEachGathered(const Indices& indices, int64_t begin, int64_t end,
                                       const F& f) {
  constexpr int64_t kWord = sizeof(int64_t);
  alignas(64) int64_t chunk[kChunk];
  for (; begin < end; begin += kChunk) {
    const int64_t n = std::min(kChunk, end - begin);
    GatherStrided(reinterpret_cast<const char*>(indices.data + begin * indices.step),
                  indices.step * kWord, kWord, n, reinterpret_cast<char*>(chunk));
    f(chunk, begin, n);
  }
}

/*! \brief The same of any indices; those that are dense are read where they lie. */
template <typename F>
void ForEachChunk(const Indices& indices, int64_t begin, int64_t end, const F& f) {
  if (indices.step != 1) return ForEachGathered(indices, begin, end, f);
  for (; begin < end; begin += kChunk) {
    f(indices.data + begin, begin, std::min(kChunk, end - begin));
  }
}

/*! \brief Of so few indices each is compared in less time than their range is found. */
constexpr int64_t kFewIndices = 16;

int64_t FirstOutOfBounds(const Indices& indices, int64_t extent) {
  int64_t i = 0;
  while (i < indices.size && indices[i] >= -extent && indices[i] < extent) ++i;
  return i;
}

}  // namespace

int64_t FindOutOfBounds(const Indices& indices, int64_t extent) {
  const int64_t size = indices.size;
  if (size <= kFewIndices) return FirstOutOfBounds(indices, extent);
  static const auto any_out_of_bounds = ForWideCpu<AnyOutOfBounds>();
  std::atomic<bool> all_are_in{true};
  const auto look = [&](int64_t begin, int64_t end) {
    ForEachChunk(indices, begin, end, [&](const int64_t* chunk, int64_t, int64_t n) {
      if (any_out_of_bounds(chunk, n, extent)) all_are_in = false;
    });
  };
  if (size < kFewForThreads) {
    look(0, size);
  } else {
    InParallel(size, kElementsTimed, look);
  }
  return all_are_in ? size : FirstOutOfBounds(indices, extent);
}

void TakeElements(const char* data, int64_t stride, int64_t extent, int64_t item,
                  const Indices& indices, char* out) {
  const auto take = [&](int64_t begin, int64_t end) {
    ForEachChunk(indices, begin, end, [&](const int64_t* chunk, int64_t first, int64_t n) {
      TakeSome(data, stride, extent, item, chunk, n, out + first * item);
    });
  };
  if (indices.size < kFewForThreads) return take(0, indices.size);
  InParallel(indices.size, kElementsTimed, take);
}

void PutElements(char* data, int64_t stride, int64_t extent, int64_t item, const Indices& indices,
                 const char* values, int64_t value_stride) {
  const auto put = [&](int64_t begin, int64_t end) {
    ForEachChunk(indices, begin, end, [&](const int64_t* chunk, int64_t first, int64_t n) {
      PutSome(data, stride, extent, item, chunk, n, values + first * value_stride, value_stride);
    });
  };
  // Of several values for one index the last counts; one value for all may be written in any order.
  const bool may_share = value_stride == 0 && item <= static_cast<int64_t>(sizeof(uint64_t));
  if (!may_share || indices.size < kFewForThreads) return put(0, indices.size);
  InParallel(indices.size, kElementsTimed, put);
}

}  // namespace op
}  // namespace mxnet
