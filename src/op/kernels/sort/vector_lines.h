/*!
 * \file vector_lines.h
 * \brief Lines of any numbers sorted in registers, as those numbers that registers compare.
 */
#ifndef MXNET_SRC_OP_KERNELS_SORT_VECTOR_LINES_H_
#define MXNET_SRC_OP_KERNELS_SORT_VECTOR_LINES_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "op/kernels/sort/key.h"
#include "op/kernels/sort/vector_sort.h"

namespace mxnet {
namespace op {
namespace internal {

/*! \brief What registers compare instead of T; void where there is nothing. */
template <typename T>
using Compared = std::conditional_t<std::is_floating_point_v<T>, T,
                                    std::conditional_t<std::is_integral_v<T> && sizeof(T) >= 4,
                                                       std::make_signed_t<KeyOf<T>>, void>>;

template <typename T>
const VectorSort<T>& VectorSortOf() {
  static const VectorSort<T> found = FindVectorSort<T>();
  return found;
}

template <typename T>
struct FlipSigns {
  static MXNET_ALWAYS_INLINE void Run(KeyOf<T>* bits, int64_t n) {
    for (int64_t i = 0; i < n; ++i) bits[i] ^= SortKey<T>::kSign;
  }
};

/*! \brief What of a line of floats needs attention. */
struct Specials {
  bool has_nan;
  bool has_negative_zero;
};

template <typename T>
struct FindSpecials {
  static MXNET_ALWAYS_INLINE Specials Run(const KeyOf<T>* bits, int64_t n) {
    using Key = KeyOf<T>;
    Key nan = 0;
    Key zero = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Key magnitude = bits[i] & static_cast<Key>(~SortKey<T>::kSign);
      nan |= magnitude > kInfinityBits<T> ? Key(1) : Key(0);
      zero |= bits[i] == SortKey<T>::kSign ? Key(1) : Key(0);
    }
    return {nan != 0, zero != 0};
  }
};

/*! \brief Moves NaN to the end, where they become the same one; how many elements come before. */
template <typename T>
int64_t MoveNanLast(T* x, int64_t n) {
  T* end = std::remove_if(x, x + n, [](T value) { return value != value; });
  std::fill(reinterpret_cast<KeyOf<T>*>(end), reinterpret_cast<KeyOf<T>*>(x + n),
            SortKey<T>::Bits(SortKey<T>::kLast));
  return end - x;
}

template <typename T>
void SortFloats(T* x, int64_t n) {
  const VectorSort<T>& vectors = VectorSortOf<T>();
  static const auto find_specials = ForWideCpu<FindSpecials<T>>();
  auto* bits = reinterpret_cast<KeyOf<T>*>(x);
  const Specials specials = find_specials(bits, n);
  if (specials.has_nan) n = MoveNanLast(x, n);
  // Zeros of both signs are equal: they get their order back afterwards.
  std::vector<KeyOf<T>> zeros;
  if (specials.has_negative_zero) {
    for (int64_t i = 0; i < n; ++i) {
      if (x[i] == 0) zeros.push_back(bits[i]);
    }
  }
  vectors.sort(x, n);
  const int64_t first = zeros.empty() ? 0 : std::lower_bound(x, x + n, T(0)) - x;
  std::copy(zeros.begin(), zeros.end(), bits + first);
}

/*! \brief The key as a signed number of the same order. */
inline int64_t SignedWord(uint64_t key) { return static_cast<int64_t>(key ^ uint64_t{1} << 63); }

/*! \brief Keys of n elements of 64 bits; the least and the greatest. */
template <typename T>
struct WideKeys {
  static MXNET_ALWAYS_INLINE void Run(const uint64_t* bits, int64_t n, uint64_t* keys,
                                      uint64_t* least, uint64_t* greatest) {
    uint64_t low = SortKey<T>::kLast;
    uint64_t high = 0;
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t key = SortKey<T>::OfEqual(bits[i]);
      keys[i] = key;
      low = key < low ? key : low;
      high = key > high ? key : high;
    }
    *least = low;
    *greatest = high;
  }
};

template <typename T>
struct PackedKeys {
  static MXNET_ALWAYS_INLINE void Run(const KeyOf<T>* bits, int64_t n, int64_t* words) {
    for (int64_t i = 0; i < n; ++i) {
      const auto key = static_cast<uint64_t>(SortKey<T>::OfEqual(bits[i]));
      words[i] = SignedWord(key << 32 | static_cast<uint64_t>(i));
    }
  }
};

/*! \brief Orders the words of runs whose keys differ at most in the `dropped` lower bits. */
template <typename T>
void SortRuns(const uint64_t* bits, uint64_t least, int64_t* words, int64_t n, int position_bits,
              int dropped) {
  const int64_t mask = (int64_t{1} << position_bits) - 1;
  const uint64_t rest = (uint64_t{1} << dropped) - 1;
  for (int64_t begin = 0, end; begin < n; begin = end) {
    end = begin + 1;
    while (end < n && (words[begin] ^ words[end]) >> position_bits == 0) ++end;
    if (end == begin + 1) continue;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t position = words[i] & mask;
      const uint64_t key = (SortKey<T>::OfEqual(bits[position]) - least) & rest;
      words[i] = static_cast<int64_t>(key << 32) | position;
    }
    const VectorSort<int64_t>& vectors = VectorSortOf<int64_t>();
    if (!vectors.is_sorted(words + begin, end - begin)) vectors.sort(words + begin, end - begin);
  }
}

/*! \brief Keys that span fewer than so many numbers are counted, and there are not much fewer. */
constexpr uint64_t kCountedSpan = 4096;

/*! \brief Positions in the order of keys below `span` that are counted from `least` on. */
inline void CountPositions(const uint64_t* keys, uint64_t least, uint64_t span, int64_t n,
                           int64_t* out) {
  // Neighbours count apart, so that one does not wait for the other's sum.
  uint32_t counts[2][kCountedSpan];
  std::fill_n(counts[0], span, 0);
  std::fill_n(counts[1], span, 0);
  for (int64_t i = 0; i < n; ++i) ++counts[i & 1][keys[i] - least];
  uint32_t next = 0;
  for (uint64_t key = 0; key < span; ++key) {
    const uint32_t count = counts[0][key] + counts[1][key];
    counts[0][key] = next;
    next += count;
  }
  for (int64_t i = 0; i < n; ++i) out[counts[0][keys[i] - least]++] = i;
}

}  // namespace internal

/*! \brief Whether the processor has the registers. */
inline bool SortsInVectors() { return internal::VectorSortOf<int64_t>().sort != nullptr; }

template <typename T>
constexpr bool kSortsInVectors = !std::is_void_v<internal::Compared<T>>;

/*! \brief Sorts a line of neighbours in place. */
template <typename T>
void SortInVectors(T* line, int64_t n) {
  using Compared = internal::Compared<T>;
  const VectorSort<Compared>& vectors = internal::VectorSortOf<Compared>();
  auto* x = reinterpret_cast<Compared*>(line);
  if constexpr (std::is_unsigned_v<T>) {
    static const auto flip_signs = ForCpu<internal::FlipSigns<T>>();
    flip_signs(line, n);
    if (!vectors.is_sorted(x, n)) vectors.sort(x, n);
    flip_signs(line, n);
  } else if (!vectors.is_sorted(x, n)) {
    if constexpr (std::is_floating_point_v<T>) internal::SortFloats(x, n);
    if constexpr (!std::is_floating_point_v<T>) vectors.sort(x, n);
  }
}

/*!
 * \brief Positions that sort a line of neighbours, with room for as many words.
 *
 * A word is a key and then its position, so that words differ and equal keys keep their order. Of
 * keys for which there is no room the upper bits are sorted first, and then runs of the same ones.
 */
template <typename T>
void ArgSortInVectors(const KeyOf<T>* bits, int64_t n, int64_t* out, int64_t* words) {
  const VectorSort<int64_t>& vectors = internal::VectorSortOf<int64_t>();
  if constexpr (sizeof(T) <= 4) {
    static const auto pack = ForCpu<internal::PackedKeys<T>>();
    pack(bits, n, words);
    if (!vectors.is_sorted(words, n)) vectors.sort(words, n);
    for (int64_t i = 0; i < n; ++i) out[i] = words[i] & INT32_MAX;
  } else {
    static const auto wide_keys = ForWideCpu<internal::WideKeys<T>>();
    uint64_t least;
    uint64_t greatest;
    auto* keys = reinterpret_cast<uint64_t*>(words);
    wide_keys(bits, n, keys, &least, &greatest);
    const uint64_t span = greatest - least;
    if (span < internal::kCountedSpan - 1 && span < static_cast<uint64_t>(n)) {
      return internal::CountPositions(keys, least, span + 1, n, out);
    }
    const auto bits_of = [](uint64_t x) { return x == 0 ? 0 : 64 - __builtin_clzll(x); };
    const int position_bits = bits_of(static_cast<uint64_t>(n));
    const int dropped = std::max(0, bits_of(span) + position_bits - 64);
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t upper = (keys[i] - least) >> dropped;
      words[i] = internal::SignedWord(upper << position_bits | static_cast<uint64_t>(i));
    }
    if (!vectors.is_sorted(words, n)) vectors.sort(words, n);
    if (dropped > 0) internal::SortRuns<T>(bits, least, words, n, position_bits, dropped);
    const int64_t mask = (int64_t{1} << position_bits) - 1;
    for (int64_t i = 0; i < n; ++i) out[i] = words[i] & mask;
  }
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SORT_VECTOR_LINES_H_
