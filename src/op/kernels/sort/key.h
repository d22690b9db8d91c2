/*!
 * \file key.h
 * \brief Elements as unsigned integers of the same order, which can be sorted digit by digit.
 */
#ifndef MXNET_SRC_OP_KERNELS_SORT_KEY_H_
#define MXNET_SRC_OP_KERNELS_SORT_KEY_H_

#include <cstring>
#include <limits>
#include <type_traits>

#include "op/kernels/cpu.h"
#include "op/semantics/half.h"

namespace mxnet {
namespace op {
namespace internal {

template <size_t size>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = uint64_t;
};

template <typename T>
constexpr bool kIsIeee = !std::is_integral_v<T>;

/*! \brief The bits of infinity, above which those of NaN are. */
template <typename T>
constexpr uint64_t kInfinityBits = 0;
template <>
constexpr uint64_t kInfinityBits<Half> = 0x7c00;
template <>
constexpr uint64_t kInfinityBits<BFloat16> = 0x7f80;
template <>
constexpr uint64_t kInfinityBits<float> = 0x7f800000;
template <>
constexpr uint64_t kInfinityBits<double> = 0x7ff0000000000000;

}  // namespace internal

/*! \brief The unsigned integer of T's size. */
template <typename T>
using KeyOf = typename internal::UnsignedOf<sizeof(T)>::type;

/*!
 * \brief Conversion of T to keys and back. All NaN have the last key; -0 is just before 0.
 *
 * Bools are bytes, of which a foreign array's may be other than 0 and 1.
 */
template <typename T>
struct SortKey {
  using Key = KeyOf<T>;
  static constexpr int kBits = 8 * sizeof(T);
  static constexpr Key kSign = Key(1) << (kBits - 1);
  static constexpr Key kLast = std::numeric_limits<Key>::max();

  static MXNET_ALWAYS_INLINE Key Of(Key bits) {
    if constexpr (std::is_same_v<T, bool>) return bits != 0;
    if constexpr (std::is_unsigned_v<T>) return bits;
    if constexpr (std::is_integral_v<T>) return bits ^ kSign;
    constexpr Key kInfinity = static_cast<Key>(internal::kInfinityBits<T>);
    const Key magnitude = bits & static_cast<Key>(~kSign);
    const Key ordered = (bits & kSign) != 0 ? static_cast<Key>(~bits) : Key(bits | kSign);
    return magnitude > kInfinity ? kLast : ordered;
  }

  static MXNET_ALWAYS_INLINE Key Bits(Key key) {
    if constexpr (std::is_unsigned_v<T>) return key;
    if constexpr (std::is_integral_v<T>) return key ^ kSign;
    constexpr Key kInfinity = static_cast<Key>(internal::kInfinityBits<T>);
    constexpr Key kNan = kInfinity | static_cast<Key>((kInfinity & (~kInfinity + 1)) >> 1);
    const Key bits = (key & kSign) != 0 ? Key(key & static_cast<Key>(~kSign)) : Key(~key);
    return key == kLast ? kNan : bits;
  }

  /*! \brief The key by which positions are ordered: -0 and 0 are the same. */
  static MXNET_ALWAYS_INLINE Key OfEqual(Key bits) {
    if constexpr (internal::kIsIeee<T>) return Of(bits == kSign ? Key(0) : bits);
    if constexpr (!internal::kIsIeee<T>) return Of(bits);
  }
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SORT_KEY_H_
