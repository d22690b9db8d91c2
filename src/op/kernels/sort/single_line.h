/*!
 * \file single_line.h
 * \brief One line sorted by its keys: by counting, by digits, or by comparing.
 */
#ifndef MXNET_SRC_OP_KERNELS_SORT_SINGLE_LINE_H_
#define MXNET_SRC_OP_KERNELS_SORT_SINGLE_LINE_H_

#include <algorithm>
#include <cstring>
#include <vector>

#include "op/kernels/sort/key.h"
#include "op/kernels/sort/radix.h"
#include "op/kernels/sort/sort.h"

namespace mxnet {
namespace op {
namespace internal {

/*! \brief Below it counting digits takes longer than comparing. */
constexpr int64_t kFewElements = 96;

/*! \brief Whether there is a -0, which comes just before 0 as a key and is its equal in a sort. */
template <typename T>
struct NegativeZero {
  static MXNET_ALWAYS_INLINE bool Run(const KeyOf<T>* bits, int64_t n) {
    KeyOf<T> found = 0;
    for (int64_t i = 0; i < n; ++i)
      found |= bits[i] == SortKey<T>::kSign ? KeyOf<T>(1) : KeyOf<T>(0);
    return found != 0;
  }
};

/*! \brief The zeros of lines that have a -0, to be put back in their order. */
template <typename T>
class ZerosInOrder {
 public:
  using Key = KeyOf<T>;

  ZerosInOrder(Key* bits, const SortedLines& lines) : bits_(bits), lines_(lines) {
    if constexpr (internal::kIsIeee<T>) {
      static const auto has_negative_zero = ForCpu<NegativeZero<T>>();
      if (!has_negative_zero(bits, lines.count() * lines.extent)) return;
      for (int64_t line = 0; line < lines.count(); ++line) {
        const Key* x = bits + lines.start(line);
        for (int64_t e = 0; e < lines.extent; ++e) {
          if (IsZero(x[e * lines.inner])) zeros_.push_back(x[e * lines.inner]);
        }
      }
    }
  }

  void PutBack() const {
    if (zeros_.empty()) return;
    auto next = zeros_.begin();
    for (int64_t line = 0; line < lines_.count(); ++line) {
      Key* x = bits_ + lines_.start(line);
      for (int64_t e = 0; e < lines_.extent; ++e) {
        if (IsZero(x[e * lines_.inner])) x[e * lines_.inner] = *next++;
      }
    }
  }

 private:
  static bool IsZero(Key bits) { return (bits & static_cast<Key>(~SortKey<T>::kSign)) == 0; }

  Key* bits_;
  const SortedLines& lines_;
  std::vector<Key> zeros_;
};

/*! \brief Writes each of 256 keys as often as it is there. */
template <typename T>
void SortByCounting(uint8_t* bits, int64_t n, int64_t stride) {
  int64_t counts[2][256] = {};
  int64_t i = 0;
  for (; i + 2 <= n; i += 2) {
    ++counts[0][SortKey<T>::Of(bits[i * stride])];
    ++counts[1][SortKey<T>::Of(bits[(i + 1) * stride])];
  }
  if (i < n) ++counts[0][SortKey<T>::Of(bits[i * stride])];
  uint8_t* to = bits;
  for (int key = 0; key < 256; ++key) {
    const uint8_t value = SortKey<T>::Bits(static_cast<uint8_t>(key));
    const int64_t count = counts[0][key] + counts[1][key];
    if (stride == 1) {
      std::memset(to, value, static_cast<size_t>(count));
      to += count;
    } else {
      for (int64_t c = 0; c < count; ++c, to += stride) *to = value;
    }
  }
}

/*! \brief Keys of n elements `stride` apart, and back. */
template <typename T>
struct ToKeys {
  static MXNET_ALWAYS_INLINE void Run(const KeyOf<T>* bits, int64_t stride, KeyOf<T>* keys,
                                      int64_t n) {
    if (stride == 1) {
      for (int64_t i = 0; i < n; ++i) keys[i] = SortKey<T>::Of(bits[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) keys[i] = SortKey<T>::Of(bits[i * stride]);
    }
  }
};

template <typename T>
struct FromKeys {
  static MXNET_ALWAYS_INLINE void Run(const KeyOf<T>* keys, KeyOf<T>* bits, int64_t stride,
                                      int64_t n) {
    if (stride == 1) {
      for (int64_t i = 0; i < n; ++i) bits[i] = SortKey<T>::Bits(keys[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) bits[i * stride] = SortKey<T>::Bits(keys[i]);
    }
  }
};

template <typename T>
void SortLine(KeyOf<T>* bits, int64_t stride, int64_t n, KeyOf<T>* keys) {
  if constexpr (sizeof(T) == 1) {
    if (n >= kFewElements) return SortByCounting<T>(bits, n, stride);
  }
  static const auto to_keys = ForCpu<ToKeys<T>>();
  static const auto from_keys = ForCpu<FromKeys<T>>();
  to_keys(bits, stride, keys, n);
  KeyOf<T>* sorted = keys;
  if (n < kFewElements) {
    std::sort(keys, keys + n);
  } else if (!std::is_sorted(keys, keys + n)) {
    sorted = RadixSort(keys, keys + n, n, VaryingBits(keys, n));
  }
  from_keys(sorted, bits, stride, n);
}

/*! \brief Whether a key and a position have room in one word. */
template <typename T>
constexpr bool kPacks = sizeof(T) <= 4;

template <typename T>
uint64_t Packed(KeyOf<T> bits, int64_t position) {
  return static_cast<uint64_t>(SortKey<T>::OfEqual(bits)) << 32 | static_cast<uint64_t>(position);
}

/*! \brief Sorts n packed words, of which `bits` above the position are of the key. */
inline void ArgSortPacked(uint64_t* items, int64_t n, int position_bits, int64_t* out,
                          int64_t stride) {
  uint64_t* sorted = items;
  if (n < kFewElements) {
    std::sort(items, items + n);
  } else {
    const uint64_t relevant = VaryingBits(items, n) >> position_bits << position_bits;
    sorted = RadixSort(items, items + n, n, relevant);
  }
  const uint64_t mask = (uint64_t{1} << position_bits) - 1;
  for (int64_t i = 0; i < n; ++i) out[i * stride] = static_cast<int64_t>(sorted[i] & mask);
}

template <typename T>
void ArgSortLine(const KeyOf<T>* bits, int64_t stride, int64_t n, int64_t* out, void* workspace) {
  auto* items = static_cast<uint64_t*>(workspace);
  if constexpr (kPacks<T>) {
    for (int64_t i = 0; i < n; ++i) items[i] = Packed<T>(bits[i * stride], i);
    return ArgSortPacked(items, n, 32, out, stride);
  }
  for (int64_t i = 0; i < n; ++i) items[i] = SortKey<T>::OfEqual(bits[i * stride]);
  const auto [least, most] = std::minmax_element(items, items + n);
  const uint64_t base = *least;
  const int position_bits = 64 - __builtin_clzll(static_cast<uint64_t>(n));
  if ((*most - base) >> (64 - position_bits) == 0) {
    for (int64_t i = 0; i < n; ++i) {
      items[i] = (items[i] - base) << position_bits | static_cast<uint64_t>(i);
    }
    return ArgSortPacked(items, n, position_bits, out, stride);
  }
  auto* pairs = static_cast<PositionedKey*>(workspace);
  for (int64_t i = 0; i < n; ++i) {
    pairs[i] = {SortKey<T>::OfEqual(bits[i * stride]), static_cast<uint64_t>(i)};
  }
  if (n < kFewElements) {
    std::sort(pairs, pairs + n);
  } else {
    pairs = RadixSort(pairs, pairs + n, n, VaryingBits(pairs, n));
  }
  for (int64_t i = 0; i < n; ++i) out[i * stride] = static_cast<int64_t>(pairs[i].position);
}

}  // namespace internal
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SORT_SINGLE_LINE_H_
