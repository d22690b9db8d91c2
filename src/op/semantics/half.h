/*!
 * \file half.h
 * \brief Half and BFloat16: two-byte floating point numbers that compute as float.
 */
#ifndef MXNET_SRC_OP_SEMANTICS_HALF_H_
#define MXNET_SRC_OP_SEMANTICS_HALF_H_

#include <mxnet/op/narrow_floats.h>

#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief IEEE binary16. Conversion rounds to nearest, ties to even. */
struct Half {
  uint16_t bits;

  Half() = default;
  explicit Half(float value) noexcept : bits(narrow_floats::float16_of_float(value)) {}
  explicit Half(double value) noexcept : Half(narrow_floats::odd_float_of_double(value)) {}

  operator float() const noexcept { return narrow_floats::float_of_float16(bits); }
};

/*! \brief The upper half of a float. Conversion rounds to nearest, ties to even. */
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  explicit BFloat16(float value) noexcept : bits(narrow_floats::bfloat16_of_float(value)) {}
  explicit BFloat16(double value) noexcept : BFloat16(narrow_floats::odd_float_of_double(value)) {}

  operator float() const noexcept { return narrow_floats::float_of_bfloat16(bits); }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2, "two-byte storage");

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SEMANTICS_HALF_H_
