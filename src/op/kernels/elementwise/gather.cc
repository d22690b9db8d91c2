/*!
 * \file gather.cc
 * \brief Gather of strided elements, by their size.
 */
#include "op/kernels/elementwise/gather.h"

#include <algorithm>

#include "op/kernels/cpu.h"

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
    } else if (stride == -kItem) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) dense[i] = x[-i];
    } else {
#pragma GCC unroll 4
      for (int64_t i = 0; i < n; ++i) dense[i] = *reinterpret_cast<const T*>(from + i * stride);
    }
  }
};

template <typename T>
void Gather(const char* from, int64_t stride, int64_t n, char* dense) {
  static const auto run = ForCpu<GatherBody<T>>();
  run(from, stride, n, reinterpret_cast<T*>(dense));
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

void RunGathered(void (*loop)(char* const* data, const int64_t* strides, int64_t n),
                 const int64_t* items, int count, char* const* data, const int64_t* strides,
                 int64_t n) {
  alignas(64) char buffers[kMostOperands][kChunk * sizeof(Wide)];
  char* chunk[kMostOperands];
  int64_t steps[kMostOperands];
  for (int i = 0; i < count; ++i) steps[i] = strides[i] == 0 ? 0 : items[i];
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t length = std::min(kChunk, n - begin);
    for (int i = 0; i < count; ++i) {
      chunk[i] = data[i] + begin * strides[i];
      if (steps[i] == strides[i]) continue;
      GatherStrided(chunk[i], strides[i], items[i], length, buffers[i]);
      chunk[i] = buffers[i];
    }
    loop(chunk, steps, length);
  }
}

}  // namespace op
}  // namespace mxnet
