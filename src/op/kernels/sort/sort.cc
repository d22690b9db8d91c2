/*!
 * \file sort.cc
 * \brief Chooses how lines are sorted: by counting, by a network, by digits, or one by one.
 */
#include "op/kernels/sort/sort.h"

#include <algorithm>
#include <vector>

#include "op/kernels/sort/key.h"
#include "op/kernels/sort/network.h"
#include "op/kernels/sort/radix.h"
#include "op/kernels/sort/vector_lines.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Below it counting digits takes longer than comparing. */
constexpr int64_t kFewElements = 96;

/*! \brief From it on counting digits of positions takes less time than comparing. */
constexpr int64_t kManyPositions = 4096;

/*! \brief Fewer lines than these are sorted one by one. */
constexpr int64_t kFewLines = 4;

/*! \brief Longer lines are not sorted side by side where each can be sorted in vectors. */
constexpr int64_t kShortExtent = 8;

/*! \brief So many lines that lie across are brought together at a time. */
constexpr int64_t kBlock = 8;

/*! \brief Whether lines are short and many enough to be sorted side by side. */
bool SuitNetwork(const SortedLines& lines, bool in_vectors) {
  const int64_t most = in_vectors ? kShortExtent : kNetworkExtent;
  return lines.extent > 1 && lines.extent <= most && lines.count() >= kFewLines;
}

/*! \brief Whether what a network leaves is sorted in vectors: elements of T, or their positions. */
template <typename T>
bool SortsElementsInVectors() {
  return kSortsInVectors<T> && SortsInVectors();
}
template <typename T>
bool SortsPositionsInVectors(const SortedLines& lines) {
  // Of fewer bits there are fewer digits.
  return (sizeof(T) >= 4 || lines.extent < kManyPositions) && SortsInVectors();
}

/*! \brief The lines of a block, which lie across, one after the other, and back. */
template <typename T>
void GatherBlock(const T* x, const SortedLines& lines, int64_t count, T* block) {
  for (int64_t e = 0; e < lines.extent; ++e) {
    for (int64_t b = 0; b < count; ++b) block[b * lines.extent + e] = x[e * lines.inner + b];
  }
}
template <typename T>
void ScatterBlock(const T* block, const SortedLines& lines, int64_t count, T* x) {
  for (int64_t e = 0; e < lines.extent; ++e) {
    for (int64_t b = 0; b < count; ++b) x[e * lines.inner + b] = block[b * lines.extent + e];
  }
}

/*! \brief Calls f(first line, how many) for lines that lie beside each other. */
template <typename F>
void ForEachBlock(const SortedLines& lines, F&& f) {
  for (int64_t line = 0; line < lines.count();) {
    const int64_t count = std::min(kBlock, lines.inner - line % lines.inner);
    f(line, count);
    line += count;
  }
}

template <typename T>
void SortBlocks(T* data, const SortedLines& lines, T* block) {
  ForEachBlock(lines, [&](int64_t line, int64_t count) {
    T* x = data + lines.start(line);
    if (lines.inner == 1) return SortInVectors(x, lines.extent);
    GatherBlock(x, lines, count, block);
    for (int64_t b = 0; b < count; ++b) SortInVectors(block + b * lines.extent, lines.extent);
    ScatterBlock(block, lines, count, x);
  });
}

template <typename T>
void ArgSortBlocks(const KeyOf<T>* bits, const SortedLines& lines, int64_t* out, int64_t* words) {
  const int64_t n = lines.extent;
  int64_t* positions = words + n;
  auto* block = reinterpret_cast<KeyOf<T>*>(positions + kBlock * n);
  ForEachBlock(lines, [&](int64_t line, int64_t count) {
    const int64_t start = lines.start(line);
    if (lines.inner == 1) return ArgSortInVectors<T>(bits + start, n, out + start, words);
    GatherBlock(bits + start, lines, count, block);
    for (int64_t b = 0; b < count; ++b) {
      ArgSortInVectors<T>(block + b * n, n, positions + b * n, words);
    }
    ScatterBlock(positions, lines, count, out + start);
  });
}

/*! \brief How many lanes the network has for lines that are left. */
template <typename Key>
int64_t NetworkLanes(int64_t lines) {
  constexpr int64_t kUnit = kLaneUnit / static_cast<int64_t>(sizeof(Key));
  constexpr int64_t kMost = kLaneBytes / static_cast<int64_t>(sizeof(Key));
  return std::min(kMost, (lines + kUnit - 1) / kUnit * kUnit);
}

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

/*! \brief Calls f(first line, how many, lanes) for the groups that a network sorts at a time. */
template <typename Key, typename F>
void ForEachGroup(const SortedLines& lines, F&& f) {
  for (int64_t line = 0; line < lines.count();) {
    const int64_t lanes = NetworkLanes<Key>(lines.count() - line);
    const int64_t count = std::min(lanes, lines.count() - line);
    f(line, count, lanes);
    line += count;
  }
}

template <typename T>
void SortByNetwork(KeyOf<T>* bits, const SortedLines& lines, KeyOf<T>* keys) {
  static const auto sort = ForWideCpu<KeyNetwork<KeyOf<T>>>();
  ForEachGroup<KeyOf<T>>(lines, [&](int64_t first, int64_t count, int64_t lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      // A lane without a line of its own has the last one once more.
      const KeyOf<T>* x = bits + lines.start(first + std::min(lane, count - 1));
      for (int64_t e = 0; e < lines.extent; ++e) {
        keys[e * lanes + lane] = SortKey<T>::Of(x[e * lines.inner]);
      }
    }
    sort(keys, lines.extent, lanes);
    for (int64_t lane = 0; lane < count; ++lane) {
      KeyOf<T>* x = bits + lines.start(first + lane);
      for (int64_t e = 0; e < lines.extent; ++e) {
        x[e * lines.inner] = SortKey<T>::Bits(keys[e * lanes + lane]);
      }
    }
  });
}

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

template <typename T>
void ArgSortByNetwork(const KeyOf<T>* bits, const SortedLines& lines, int64_t* out,
                      uint64_t* keys) {
  static const auto sort = ForWideCpu<KeyNetwork<uint64_t>>();
  static const auto sort_pairs = ForWideCpu<PairNetwork>();
  ForEachGroup<uint64_t>(lines, [&](int64_t first, int64_t count, int64_t lanes) {
    uint64_t* numbers = kPacks<T> ? keys : keys + lines.extent * lanes;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const KeyOf<T>* x = bits + lines.start(first + std::min(lane, count - 1));
      for (int64_t e = 0; e < lines.extent; ++e) {
        if constexpr (kPacks<T>) {
          keys[e * lanes + lane] = Packed<T>(x[e * lines.inner], e);
        } else {
          keys[e * lanes + lane] = SortKey<T>::OfEqual(x[e * lines.inner]);
          numbers[e * lanes + lane] = static_cast<uint64_t>(e);
        }
      }
    }
    kPacks<T> ? sort(keys, lines.extent, lanes) : sort_pairs(keys, numbers, lines.extent, lanes);
    for (int64_t lane = 0; lane < count; ++lane) {
      int64_t* to = out + lines.start(first + lane);
      for (int64_t e = 0; e < lines.extent; ++e) {
        to[e * lines.inner] =
            static_cast<int64_t>(static_cast<uint32_t>(numbers[e * lanes + lane]));
      }
    }
  });
}

/*! \brief Sorts n packed words, of which `bits` above the position are of the key. */
void ArgSortPacked(uint64_t* items, int64_t n, int position_bits, int64_t* out, int64_t stride) {
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

}  // namespace

template <typename T>
int64_t SortWorkspace(const SortedLines& lines) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  const bool in_vectors = SortsElementsInVectors<T>();
  if (SuitNetwork(lines, in_vectors)) return lines.extent * kLaneBytes;
  if (in_vectors) return lines.inner == 1 ? 0 : kBlock * lines.extent * kItem;
  return 2 * lines.extent * kItem;
}

template <typename T>
int64_t ArgSortWorkspace(const SortedLines& lines) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  constexpr auto kWord = static_cast<int64_t>(sizeof(uint64_t));
  const bool in_vectors = SortsPositionsInVectors<T>(lines);
  if (SuitNetwork(lines, in_vectors)) return lines.extent * kLaneBytes * (kPacks<T> ? 1 : 2);
  if (in_vectors) {
    return lines.extent * (lines.inner == 1 ? kWord : kWord + kBlock * (kWord + kItem));
  }
  return 2 * lines.extent * (kPacks<T> ? kWord : static_cast<int64_t>(sizeof(PositionedKey)));
}

template <typename T>
void SortLines(T* data, const SortedLines& lines, void* workspace) {
  auto* bits = reinterpret_cast<KeyOf<T>*>(data);
  auto* keys = static_cast<KeyOf<T>*>(workspace);
  const bool in_vectors = SortsElementsInVectors<T>();
  const bool in_network = SuitNetwork(lines, in_vectors);
  if constexpr (kSortsInVectors<T>) {
    if (in_vectors && !in_network) return SortBlocks(data, lines, static_cast<T*>(workspace));
  }
  const ZerosInOrder<T> zeros(bits, lines);
  if (in_network) {
    SortByNetwork<T>(bits, lines, keys);
  } else {
    for (int64_t line = 0; line < lines.count(); ++line) {
      SortLine<T>(bits + lines.start(line), lines.inner, lines.extent, keys);
    }
  }
  zeros.PutBack();
}

template <typename T>
void ArgSortLines(const T* data, const SortedLines& lines, int64_t* out, void* workspace) {
  const auto* bits = reinterpret_cast<const KeyOf<T>*>(data);
  const bool in_vectors = SortsPositionsInVectors<T>(lines);
  if (SuitNetwork(lines, in_vectors)) {
    return ArgSortByNetwork<T>(bits, lines, out, static_cast<uint64_t*>(workspace));
  }
  if (in_vectors) return ArgSortBlocks<T>(bits, lines, out, static_cast<int64_t*>(workspace));
  for (int64_t line = 0; line < lines.count(); ++line) {
    const int64_t start = lines.start(line);
    ArgSortLine<T>(bits + start, lines.inner, lines.extent, out + start, workspace);
  }
}

template <typename T>
int64_t UniqueOfSorted(T* data, int64_t n) {
  auto* bits = reinterpret_cast<KeyOf<T>*>(data);
  if (n == 0) return 0;
  if constexpr (kSortsInVectors<T>) {
    using Compared = internal::Compared<T>;
    if (SortsInVectors()) {
      const T* nan = std::partition_point(data, data + n, [](T x) { return x == x; });
      const int64_t numbers = nan - data;
      auto* x = reinterpret_cast<Compared*>(data);
      const int64_t count = internal::VectorSortOf<Compared>().unique(x, numbers);
      if (numbers < n) data[count] = data[numbers];
      return count + (numbers < n);
    }
  }
  int64_t count = 1;
  KeyOf<T> last = bits[0];
  for (int64_t i = 1; i < n; ++i) {
    const KeyOf<T> next = bits[i];
    bits[count] = next;
    count += SortKey<T>::OfEqual(next) != SortKey<T>::OfEqual(last);
    last = next;
  }
  return count;
}

#define MXNET_SORT(T)                                                                  \
  template int64_t SortWorkspace<T>(const SortedLines& lines);                         \
  template int64_t ArgSortWorkspace<T>(const SortedLines& lines);                      \
  template void SortLines<T>(T * data, const SortedLines& lines, void* workspace);     \
  template void ArgSortLines<T>(const T* data, const SortedLines& lines, int64_t* out, \
                                void* workspace);                                      \
  template int64_t UniqueOfSorted<T>(T * data, int64_t n);
MXNET_SORT(bool)
MXNET_SORT(int8_t)
MXNET_SORT(int16_t)
MXNET_SORT(int32_t)
MXNET_SORT(int64_t)
MXNET_SORT(uint8_t)
MXNET_SORT(uint16_t)
MXNET_SORT(uint32_t)
MXNET_SORT(uint64_t)
MXNET_SORT(Half)
MXNET_SORT(BFloat16)
MXNET_SORT(float)
MXNET_SORT(double)
#undef MXNET_SORT

}  // namespace op
}  // namespace mxnet
