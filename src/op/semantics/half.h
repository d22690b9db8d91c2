/*!
 * \file half.h
 * \brief Half and BFloat16: two-byte floating point numbers that compute as float.
 */
#ifndef MXNET_SRC_OP_SEMANTICS_HALF_H_
#define MXNET_SRC_OP_SEMANTICS_HALF_H_

#include <cstdint>
#include <cstring>

namespace mxnet {
namespace op {

inline uint32_t BitsOfFloat(float value) noexcept {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FloatOfBits(uint32_t bits) noexcept {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/*!
 * \brief A double as a float rounded to odd, so that rounding once more to a type of at most 22
 * significant bits gives the same as rounding the double directly.
 */
inline float RoundToOddFloat(double value) noexcept {
  const float nearest = static_cast<float>(value);
  const double error = value - static_cast<double>(nearest);
  // Infinity and NaN give an error that compares false to both, and stay as they are.
  if (!(error < 0 || error > 0)) return nearest;
  uint32_t bits = BitsOfFloat(nearest);
  if ((bits & 1) != 0 || (bits & 0x7f800000u) == 0x7f800000u) return nearest;
  const bool away_from_zero = (error > 0) == (value > 0);
  // A zero has no neighbour towards zero; its sign bit must not be borrowed from.
  return FloatOfBits(away_from_zero ? bits + 1 : bits - 1);
}

/*! \brief IEEE binary16. Conversion rounds to nearest, ties to even. */
struct Half {
  uint16_t bits;

  Half() = default;
  explicit Half(float value) noexcept : bits(FromFloat(value)) {}
  explicit Half(double value) noexcept : bits(FromFloat(RoundToOddFloat(value))) {}

  operator float() const noexcept {
    const uint32_t magnitude = (bits & 0x7fffu) << 13;
    // The product moves the exponent to float's bias and normalizes subnormals on the way.
    uint32_t out = BitsOfFloat(FloatOfBits(magnitude) * 0x1p112f);
    if ((bits & 0x7c00u) == 0x7c00u) out |= 0x7f800000u;
    return FloatOfBits(out | ((bits & 0x8000u) << 16));
  }

 private:
  static uint16_t FromFloat(float value) noexcept {
    const uint32_t all = BitsOfFloat(value);
    const uint32_t sign = (all >> 16) & 0x8000u;
    const uint32_t x = all & 0x7fffffffu;
    // All three are computed and one is taken by masks: without a branch around the addition,
    // which might trap, a compiler can do many values at once.
    // Below 2**-14 one unit of the result is 2**-24, which is also the unit of 0.5f.
    const uint32_t subnormal = BitsOfFloat(FloatOfBits(x) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (x - 0x38000000u + 0xfffu + ((x >> 13) & 1u)) >> 13;
    const uint32_t special = x > 0x7f800000u ? 0x7e00u | ((x >> 13) & 0x3ffu) : 0x7c00u;
    const uint32_t is_subnormal = 0u - static_cast<uint32_t>(x < 0x38800000u);
    const uint32_t is_finite = 0u - static_cast<uint32_t>(x < 0x47800000u);
    const uint32_t finite = (subnormal & is_subnormal) | (normal & ~is_subnormal);
    const uint32_t out = (finite & is_finite) | (special & ~is_finite);
    return static_cast<uint16_t>(out | sign);
  }
};

/*! \brief The upper half of a float. Conversion rounds to nearest, ties to even. */
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  explicit BFloat16(float value) noexcept : bits(FromFloat(value)) {}
  explicit BFloat16(double value) noexcept : bits(FromFloat(RoundToOddFloat(value))) {}

  operator float() const noexcept { return FloatOfBits(static_cast<uint32_t>(bits) << 16); }

 private:
  static uint16_t FromFloat(float value) noexcept {
    const uint32_t x = BitsOfFloat(value);
    if ((x & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((x >> 16) | 0x40u);
    return static_cast<uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
  }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2, "two-byte storage");

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SEMANTICS_HALF_H_
