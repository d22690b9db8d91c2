/*!
 * \file gather.cc
 * \brief Gather and scatter of strided elements, by their size.
 */
#include "op/kernels/elementwise/gather.h"

#include <algorithm>

#include "op/kernels/cpu.h"
#include "op/kernels/lanes/intrinsics.h"

namespace mxnet {
namespace op {
namespace {

struct Wide {
  uint64_t parts[2];
};

/*! \brief Operands of a loop at most, and elements of a chunk: they stay in the nearest cache. */
constexpr int kMostOperands = 4;
constexpr int64_t kChunk = 256;

template <typename T>
struct GatherBody {
  static MXNET_ALWAYS_INLINE void Run(const char* from, int64_t stride, int64_t n, T* dense) {
    auto* x = reinterpret_cast<const T*>(from);
    constexpr int64_t kItem = sizeof(T);
    // Steps that the compiler knows it can vectorize.
    if (stride == 2 * kItem) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) dense[i] = x[2 * i];
    } else if (stride == 4 * kItem) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) dense[i] = x[4 * i];
    } else if (stride == -kItem) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) dense[i] = x[-i];
    } else {
#pragma GCC unroll 4
      for (int64_t i = 0; i < n; ++i) dense[i] = *reinterpret_cast<const T*>(from + i * stride);
    }
  }
};

#if MXNET_CPU_LEVELS
/*! \brief The first of each two elements, which are of one or two bytes. */
template <typename T>
MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m256i FirstOfEach(__m512i pairs) {
  return sizeof(T) == 1 ? _mm512_cvtepi16_epi8(pairs) : _mm512_cvtepi32_epi16(pairs);
}

/*! \brief The first of each two elements of two registers. */
template <typename T>
MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE __m512i FirstOfEach(__m512i low, __m512i high) {
  if constexpr (sizeof(T) == 8) {
    return _mm512_permutex2var_epi64(low, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), high);
  } else if constexpr (sizeof(T) == 4) {
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutex2var_epi32(low, even, high);
  } else {
    const __m256i half = FirstOfEach<T>(low);
    return _mm512_inserti64x4(_mm512_castsi256_si512(half), FirstOfEach<T>(high), 1);
  }
}

/*!
 * \brief Every other element. What is left of whole registers is read and written as one, too:
 * a compiler goes one by one there, and what reads the results as registers would wait for those.
 */
template <typename T>
MXNET_TARGET_AVX512 void GatherEveryOther(const char* from, int64_t n, char* dense) {
  constexpr int64_t kAtOnce = 64 / sizeof(T);
  // The gap after the last element may not be there to be read.
  for (; n > kAtOnce; n -= kAtOnce, from += 128, dense += 64) {
    const __m512i low = _mm512_loadu_si512(from);
    _mm512_storeu_si512(dense, FirstOfEach<T>(low, _mm512_loadu_si512(from + 64)));
  }
  if (n == 0) return;
  const auto bytes = static_cast<unsigned>(n * sizeof(T));
  const unsigned reach = 2 * bytes - sizeof(T);
  const uint64_t all = ~uint64_t{0};
  const __m512i low = _mm512_maskz_loadu_epi8(_bzhi_u64(all, std::min(reach, 64u)), from);
  const __m512i high =
      _mm512_maskz_loadu_epi8(_bzhi_u64(all, reach - std::min(reach, 64u)), from + 64);
  _mm512_mask_storeu_epi8(dense, _bzhi_u64(all, bytes), FirstOfEach<T>(low, high));
}
#endif

template <typename T>
void Gather(const char* from, int64_t stride, int64_t n, char* dense) {
#if MXNET_CPU_LEVELS
  if constexpr (sizeof(T) <= 8) {
    static const bool is_wide = HostCpuLevel() >= CpuLevel::kAvx512;
    if (is_wide && stride == 2 * sizeof(T)) return GatherEveryOther<T>(from, n, dense);
  }
#endif
  static const auto run = ForWideCpu<GatherBody<T>>();
  run(from, stride, n, reinterpret_cast<T*>(dense));
}

/*! \brief Writes dense elements `stride` bytes apart. */
template <typename T>
void ScatterRun(const char* dense, int64_t n, char* to, int64_t stride) {
  auto* x = reinterpret_cast<const T*>(dense);
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + i * stride) = x[i];
}

#if MXNET_CPU_LEVELS
/*! \brief So many bytes ahead memory is asked for that is written: few processors do it alone for
 * lines of which parts are written. */
constexpr int64_t kWrittenAhead = 1024;

/*!
 * \brief Writes dense elements to every other element: by registers of which half is written, so
 * that what lies between is not touched.
 */
template <typename T>
MXNET_TARGET_AVX512 void ScatterToEveryOther(const char* dense, int64_t n, char* to) {
  constexpr int64_t kAtOnce = 32 / sizeof(T);
  int64_t i = 0;
  for (; i + kAtOnce <= n; i += kAtOnce) {
    const __m256i half =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(dense + i * sizeof(T)));
    char* const at = to + 2 * i * static_cast<int64_t>(sizeof(T));
    __builtin_prefetch(at + kWrittenAhead, 1);
    if constexpr (sizeof(T) == 1) {
      _mm512_mask_storeu_epi8(at, 0x5555555555555555u, _mm512_cvtepu8_epi16(half));
    } else if constexpr (sizeof(T) == 2) {
      _mm512_mask_storeu_epi16(at, 0x55555555u, _mm512_cvtepu16_epi32(half));
    } else if constexpr (sizeof(T) == 4) {
      _mm512_mask_storeu_epi32(at, 0x5555, _mm512_cvtepu32_epi64(half));
    } else {
      const __m512i twice = _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0),
                                                     _mm512_castsi256_si512(half));
      _mm512_mask_storeu_epi64(at, 0x55, twice);
    }
  }
  ScatterRun<T>(dense + i * sizeof(T), n - i, to + 2 * i * sizeof(T), 2 * sizeof(T));
}
#endif

template <typename T>
void Scatter(const char* dense, int64_t n, char* to, int64_t stride) {
#if MXNET_CPU_LEVELS
  if constexpr (sizeof(T) <= 8) {
    static const bool is_wide = HostCpuLevel() >= CpuLevel::kAvx512;
    if (is_wide && stride == 2 * sizeof(T)) return ScatterToEveryOther<T>(dense, n, to);
  }
#endif
  ScatterRun<T>(dense, n, to, stride);
}

}  // namespace

void GatherStrided(const char* from, int64_t stride, int64_t item, int64_t n, char* dense) {
  switch (item) {
    case 1:
      return Gather<uint8_t>(from, stride, n, dense);
    case 2:
      return Gather<uint16_t>(from, stride, n, dense);
    case 4:
      return Gather<uint32_t>(from, stride, n, dense);
    case 8:
      return Gather<uint64_t>(from, stride, n, dense);
    default:
      return Gather<Wide>(from, stride, n, dense);
  }
}

void ScatterStrided(const char* dense, int64_t item, int64_t n, char* to, int64_t stride) {
  switch (item) {
    case 1:
      return Scatter<uint8_t>(dense, n, to, stride);
    case 2:
      return Scatter<uint16_t>(dense, n, to, stride);
    case 4:
      return Scatter<uint32_t>(dense, n, to, stride);
    case 8:
      return Scatter<uint64_t>(dense, n, to, stride);
    default:
      return Scatter<Wide>(dense, n, to, stride);
  }
}

void RunGathered(void (*loop)(char* const* data, const int64_t* strides, int64_t n),
                 const int64_t* items, int count, char* const* data, const int64_t* strides,
                 int64_t n) {
  alignas(64) char buffers[kMostOperands][kChunk * sizeof(Wide)];
  char* chunk[kMostOperands];
  int64_t steps[kMostOperands];
  int64_t at_once = kChunk;
  for (int i = 0; i < count; ++i) {
    steps[i] = strides[i] == 0 ? 0 : items[i];
    if (steps[i] != strides[i]) at_once = GatheredAtOnce(n * strides[i], at_once);
  }
  for (int64_t begin = 0; begin < n; begin += at_once) {
    const int64_t length = std::min(at_once, n - begin);
    for (int i = 0; i < count; ++i) {
      chunk[i] = data[i] + begin * strides[i];
      if (steps[i] == strides[i]) continue;
      if (i > 0) GatherStrided(chunk[i], strides[i], items[i], length, buffers[i]);
      chunk[i] = buffers[i];
    }
    loop(chunk, steps, length);
    if (steps[0] == strides[0]) continue;
    ScatterStrided(buffers[0], items[0], length, data[0] + begin * strides[0], strides[0]);
  }
}

}  // namespace op
}  // namespace mxnet
