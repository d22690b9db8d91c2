/*!
 * \file radix.h
 * \brief Sorting by the digits of unsigned keys, the least first. It is stable.
 */
#ifndef MXNET_SRC_OP_KERNELS_SORT_RADIX_H_
#define MXNET_SRC_OP_KERNELS_SORT_RADIX_H_

#include <cstdint>
#include <utility>

namespace mxnet {
namespace op {

/*! \brief A key with its position, where one word has not room for both. */
struct PositionedKey {
  uint64_t key;
  uint64_t position;
  bool operator<(const PositionedKey& other) const noexcept {
    return key < other.key || (key == other.key && position < other.position);
  }
};

namespace internal {

inline uint64_t KeyBits(const PositionedKey& item) noexcept { return item.key; }
template <typename Key>
inline Key KeyBits(Key key) noexcept {
  return key;
}

/*! \brief One pass: x in the order of a digit, to `out`. */
template <int kDigitBits, typename Item>
void SortByDigit(const Item* x, Item* out, int64_t n, int shift) {
  constexpr uint32_t kDigits = 1u << kDigitBits;
  // Neighbours count apart, so that one does not wait for the other's sum.
  uint32_t counts[2][kDigits] = {};
  const auto digit = [shift](const Item& item) {
    return static_cast<uint32_t>(KeyBits(item) >> shift) & (kDigits - 1);
  };
  int64_t i = 0;
  for (; i + 2 <= n; i += 2) {
    ++counts[0][digit(x[i])];
    ++counts[1][digit(x[i + 1])];
  }
  if (i < n) ++counts[0][digit(x[i])];
  Item* ends[kDigits];
  Item* next = out;
  for (uint32_t d = 0; d < kDigits; ++d) {
    ends[d] = next;
    next += counts[0][d] + counts[1][d];
  }
  for (i = 0; i < n; ++i) *ends[digit(x[i])]++ = x[i];
}

}  // namespace internal

/*! \brief What the keys of n items differ in, as a mask of bits. */
template <typename Item>
auto VaryingBits(const Item* x, int64_t n) -> decltype(internal::KeyBits(*x)) {
  decltype(internal::KeyBits(*x)) varying = 0;
  for (int64_t i = 1; i < n; ++i) varying |= internal::KeyBits(x[i]) ^ internal::KeyBits(x[0]);
  return varying;
}

/*!
 * \brief Sorts n < 2**32 items by the bits of `relevant` in their keys, with scratch for as many.
 *
 * Returns which of the two has them.
 */
template <typename Item>
Item* RadixSort(Item* x, Item* scratch, int64_t n, uint64_t relevant) {
  constexpr int64_t kMany = 1 << 13;
  const int digit_bits = n >= kMany ? 11 : 8;
  for (int shift = 0; shift < 64 && relevant >> shift != 0;) {
    // Passes begin at a bit in which keys differ.
    shift += __builtin_ctzll(relevant >> shift);
    if (digit_bits == 8) {
      internal::SortByDigit<8>(x, scratch, n, shift);
    } else {
      internal::SortByDigit<11>(x, scratch, n, shift);
    }
    std::swap(x, scratch);
    shift += digit_bits;
  }
  return x;
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SORT_RADIX_H_
