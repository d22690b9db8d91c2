/*!
 * \file nonzero.cc
 * \brief Masks, eight bytes at a time.
 */
#include "op/kernels/select/nonzero.h"

#include <cstring>

#include "op/kernels/cpu.h"

namespace mxnet {
namespace op {
namespace {

constexpr int64_t kGroup = 8;

uint64_t GroupAt(const uint8_t* mask) noexcept {
  uint64_t group;
  std::memcpy(&group, mask, sizeof(group));
  return group;
}

struct CountBody {
  static MXNET_ALWAYS_INLINE int64_t Run(const uint8_t* mask, int64_t n) {
    // So many that a byte counts them, and a register does so for many bytes.
    constexpr int64_t kLanes = 64;
    constexpr int64_t kTurns = 255;
    int64_t count = 0;
    int64_t i = 0;
    while (i + kLanes <= n) {
      uint8_t counts[kLanes] = {};
      for (int64_t turn = 0; turn < kTurns && i + kLanes <= n; ++turn, i += kLanes) {
        for (int64_t l = 0; l < kLanes; ++l) counts[l] += mask[i + l] != 0;
      }
      for (int64_t l = 0; l < kLanes; ++l) count += counts[l];
    }
    for (; i < n; ++i) count += mask[i] != 0;
    return count;
  }
};

/*! \brief Writes value(i) for each i of n whose byte in the mask is not zero, `count` of them. */
template <typename T, typename Value>
void Select(const uint8_t* mask, int64_t n, int64_t count, T* out, const Value& value) {
  const T* const end = out + count;
  int64_t i = 0;
  // Each is written and stays if its byte is set: without branches, which a mask without a pattern
  // makes slow. A group has room for eight.
  for (; i + kGroup <= n && end - out >= kGroup; i += kGroup) {
    if (GroupAt(mask + i) == 0) continue;
    for (int64_t j = 0; j < kGroup; ++j) {
      *out = value(i + j);
      out += mask[i + j] != 0;
    }
  }
  for (; out != end; ++i) {
    if (mask[i] != 0) *out++ = value(i);
  }
}

struct Wide {
  uint64_t parts[2];
};

template <typename T>
void Compress(const char* data, const uint8_t* mask, int64_t n, int64_t count, char* out) {
  const auto* elements = reinterpret_cast<const T*>(data);
  Select(mask, n, count, reinterpret_cast<T*>(out), [elements](int64_t i) { return elements[i]; });
}

}  // namespace

int64_t CountNonzero(const uint8_t* mask, int64_t n) {
  static const auto run = ForCpu<CountBody>();
  return run(mask, n);
}

void WriteNonzero(const uint8_t* mask, int64_t n, int64_t count, int64_t* positions) {
  Select(mask, n, count, positions, [](int64_t i) { return i; });
}

void CompressElements(const char* data, int64_t item, const uint8_t* mask, int64_t n, int64_t count,
                      char* out) {
  switch (item) {
    case 1:
      return Compress<uint8_t>(data, mask, n, count, out);
    case 2:
      return Compress<uint16_t>(data, mask, n, count, out);
    case 4:
      return Compress<uint32_t>(data, mask, n, count, out);
    case 8:
      return Compress<uint64_t>(data, mask, n, count, out);
    default:
      return Compress<Wide>(data, mask, n, count, out);
  }
}

void UnravelAscending(const int64_t* positions, int64_t count, const int64_t* shape, int ndim,
                      int64_t* const* indices) {
  // Most positions are in the row of the one before, which needs no division.
  const int64_t extent = shape[ndim - 1];
  int64_t row = 0;
  int64_t row_end = extent;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = positions[i];
    if (position >= row_end) {
      row = position / extent;
      row_end = (row + 1) * extent;
    }
    indices[ndim - 1][i] = position - (row_end - extent);
    int64_t rest = row;
    for (int d = ndim - 2; d > 0; --d) {
      indices[d][i] = rest % shape[d];
      rest /= shape[d];
    }
    if (ndim > 1) indices[0][i] = rest;
  }
}

}  // namespace op
}  // namespace mxnet
