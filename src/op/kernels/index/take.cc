/*!
 * \file take.cc
 * \brief Gather and scatter of single elements, by their size.
 */
#include "op/kernels/index/take.h"

#include <algorithm>

#include "op/kernels/cpu.h"
#include "op/parallel/parallel.h"

namespace mxnet {
namespace op {
namespace {

struct Wide {
  uint64_t parts[2];
};

/*! \brief The least and the largest of n > 0 indices. */
struct Range {
  static MXNET_ALWAYS_INLINE void Run(const int64_t* indices, int64_t n, int64_t* range) {
    int64_t least = indices[0];
    int64_t most = indices[0];
    for (int64_t i = 0; i < n; ++i) {
      least = indices[i] < least ? indices[i] : least;
      most = indices[i] > most ? indices[i] : most;
    }
    range[0] = least;
    range[1] = most;
  }
};

MXNET_ALWAYS_INLINE int64_t FromFront(int64_t index, int64_t extent) {
  return index + (extent & (index >> 63));
}

template <typename T>
void Take(const char* data, int64_t stride, int64_t extent, const int64_t* indices, int64_t n,
          T* out) {
  if (stride == sizeof(T)) {
    const auto* elements = reinterpret_cast<const T*>(data);
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) out[i] = elements[FromFront(indices[i], extent)];
  } else {
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) {
      out[i] = *reinterpret_cast<const T*>(data + FromFront(indices[i], extent) * stride);
    }
  }
}

template <typename T>
void Put(char* data, int64_t stride, int64_t extent, const int64_t* indices, int64_t n,
         const char* values, int64_t value_stride) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i, values += value_stride) {
    *reinterpret_cast<T*>(data + FromFront(indices[i], extent) * stride) =
        *reinterpret_cast<const T*>(values);
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

}  // namespace

int64_t FindOutOfBounds(const int64_t* indices, int64_t n, int64_t extent) {
  static const auto find_range = ForWideCpu<Range>();
  if (n == 0) return n;
  int64_t range[2];
  find_range(indices, n, range);
  if (range[0] >= -extent && range[1] < extent) return n;
  return std::find_if(indices, indices + n,
                      [extent](int64_t index) { return index < -extent || index >= extent; }) -
         indices;
}

void TakeElements(const char* data, int64_t stride, int64_t extent, int64_t item,
                  const int64_t* indices, int64_t n, char* out) {
  const auto take = [&](int64_t begin, int64_t end) {
    TakeSome(data, stride, extent, item, indices + begin, end - begin, out + begin * item);
  };
  if (n < kFewForThreads) return take(0, n);
  InParallel(n, kElementsTimed, take);
}

void PutElements(char* data, int64_t stride, int64_t extent, int64_t item, const int64_t* indices,
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

}  // namespace op
}  // namespace mxnet
