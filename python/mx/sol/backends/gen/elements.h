/* Single elements: what C leaves undefined has ONNX's or NumPy's meaning here. */
#ifndef MX_SOL_ELEMENTS_H_
#define MX_SOL_ELEMENTS_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Elements whose type does not matter. What moves them may be compiled into one function with what
 * computes with them: without the attribute the compiler may change the order of the two. */
typedef uint8_t mx_item8;
typedef uint16_t mx_item16 __attribute__((may_alias));
typedef uint32_t mx_item32 __attribute__((may_alias));
typedef uint64_t mx_item64 __attribute__((may_alias));

/* -- float16 and bfloat16 by their bits -- */

MX_INLINE uint32_t mx_bits(float a) {
  uint32_t bits;
  memcpy(&bits, &a, sizeof(bits));
  return bits;
}
MX_INLINE float mx_of_bits(uint32_t bits) {
  float a;
  memcpy(&a, &bits, sizeof(a));
  return a;
}
MX_INLINE float mx_from_half(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;
  /* Its exponent is 112 below that of a float: by a product, which is right for subnormals, too. */
  const float scaled = mx_of_bits(rest) * 0x1p112f;
  const uint32_t special = mx_bits(scaled) | 0x7f800000u;
  return mx_of_bits(sign | (rest >= 0x0f800000u ? special : mx_bits(scaled)));
}
MX_INLINE uint16_t mx_to_half(float a) {
  const uint32_t bits = mx_bits(a), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000u) return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x1ff));
  if (rest >= 0x477ff000u) return (uint16_t)(sign | 0x7c00);
  if (rest < 0x38800000u) /* subnormal: an addition rounds at the right bit */
    return (uint16_t)(sign | (mx_bits(mx_of_bits(rest) + 0.5f) - 0x3f000000u));
  return (uint16_t)(sign | ((rest + 0xfff + (rest >> 13 & 1) - 0x38000000u) >> 13));
}
MX_INLINE float mx_from_bfloat(uint16_t h) { return mx_of_bits((uint32_t)h << 16); }
MX_INLINE uint16_t mx_to_bfloat(float a) {
  const uint32_t bits = mx_bits(a);
  if ((bits & 0x7fffffff) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
MX_INLINE float mx_round_half(float a) { return mx_from_half(mx_to_half(a)); }
MX_INLINE float mx_round_bfloat(float a) { return mx_from_bfloat(mx_to_bfloat(a)); }
/* A float whose last bit says whether it is inexact, so that a second rounding is right. */
MX_INLINE float mx_to_odd(double a) {
  const float near = (float)a;
  const double back = (double)near;
  if (back == a || a != a || isinf(near)) return near;
  const uint32_t bits = mx_bits(near);
  return mx_of_bits((fabs(back) > fabs(a) ? bits - 1 : bits) | 1);
}

/* -- floats to integers: the least integer for what does not fit -- */

MX_INLINE int32_t mx_to_i32(double a) {
  return a > -2147483649.0 && a < 2147483648.0 ? (int32_t)a : INT32_MIN;
}
MX_INLINE int64_t mx_to_i64(double a) {
  return a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : INT64_MIN;
}

/* -- floats -- */

#define MX_FLOATS(type, f)                                                         \
  MX_INLINE type mx_max##f(type a, type b) { return a > b || a != a ? a : b; }     \
  MX_INLINE type mx_min##f(type a, type b) { return a < b || a != a ? a : b; }     \
  MX_INLINE type mx_mod##f(type a, type b) {                                       \
    type rest = fmod##f(a, b);                                                     \
    if (rest == 0) return copysign##f(0, b);                                       \
    return (rest < 0) != (b < 0) ? rest + b : rest;                                \
  }                                                                                \
  MX_INLINE type mx_sigmoid##f(type a) { return 1 / (1 + exp##f(-a)); }            \
  MX_INLINE type mx_sign##f(type a) { return a > 0 ? 1 : a < 0 ? -1 : a; }
MX_FLOATS(float, f)
MX_FLOATS(double, )

/* -- integers: overflow wraps, a division by 0 gives 0 -- */

#define MX_INTEGERS(name, type)                                                          \
  MX_INLINE type mx_pow_##name(type a, int64_t b) {                                      \
    if (b < 0) return (type)(a == 1 ? 1 : (type)(a + 1) == 0 ? (b & 1 ? a : 1) : 0);     \
    uint64_t power = 1, factor = (uint64_t)a;                                            \
    for (; b > 0; b >>= 1, factor *= factor) power *= b & 1 ? factor : 1;                \
    return (type)power;                                                                  \
  }                                                                                      \
  MX_INLINE type mx_max_##name(type a, type b) { return a > b ? a : b; }                 \
  MX_INLINE type mx_min_##name(type a, type b) { return a < b ? a : b; }
#define MX_SIGNED(name, type)                                                            \
  MX_INTEGERS(name, type)                                                                \
  MX_INLINE type mx_div_##name(type a, type b) {                                         \
    if (b == 0) return 0;                                                                \
    return b == -1 ? (type)(0 - (uint64_t)a) : (type)(a / b);                            \
  }                                                                                      \
  MX_INLINE type mx_fmod_##name(type a, type b) {                                        \
    return b == 0 || b == -1 ? 0 : (type)(a % b);                                        \
  }                                                                                      \
  MX_INLINE type mx_mod_##name(type a, type b) {                                         \
    const type rest = mx_fmod_##name(a, b);                                              \
    return rest != 0 && (rest < 0) != (b < 0) ? (type)(rest + b) : rest;                 \
  }                                                                                      \
  MX_INLINE type mx_abs_##name(type a) { return a < 0 ? (type)(0 - (uint64_t)a) : a; }   \
  MX_INLINE type mx_sign_##name(type a) { return (type)((a > 0) - (a < 0)); }            \
  MX_INLINE type mx_left_##name(type a, type b) {                                        \
    return b < 0 || b >= (type)(8 * sizeof(type)) ? 0 : (type)((uint64_t)a << b);        \
  }                                                                                      \
  MX_INLINE type mx_right_##name(type a, type b) {                                       \
    return (type)(a >> (b < 0 || b >= (type)(8 * sizeof(type)) ? 8 * sizeof(type) - 1    \
                                                               : (size_t)b));            \
  }
#define MX_UNSIGNED(name, type)                                                          \
  MX_INTEGERS(name, type)                                                                \
  MX_INLINE type mx_div_##name(type a, type b) { return b == 0 ? 0 : (type)(a / b); }    \
  MX_INLINE type mx_fmod_##name(type a, type b) { return b == 0 ? 0 : (type)(a % b); }   \
  MX_INLINE type mx_mod_##name(type a, type b) { return mx_fmod_##name(a, b); }          \
  MX_INLINE type mx_abs_##name(type a) { return a; }                                     \
  MX_INLINE type mx_sign_##name(type a) { return a > 0; }                                \
  MX_INLINE type mx_left_##name(type a, type b) {                                        \
    return b >= 8 * sizeof(type) ? 0 : (type)((uint64_t)a << b);                         \
  }                                                                                      \
  MX_INLINE type mx_right_##name(type a, type b) {                                       \
    return b >= 8 * sizeof(type) ? 0 : (type)(a >> b);                                   \
  }
MX_SIGNED(i8, int8_t)
MX_SIGNED(i16, int16_t)
MX_SIGNED(i32, int32_t)
MX_SIGNED(i64, int64_t)
MX_UNSIGNED(u8, uint8_t)
MX_UNSIGNED(u16, uint16_t)
MX_UNSIGNED(u32, uint32_t)
MX_UNSIGNED(u64, uint64_t)

#endif /* MX_SOL_ELEMENTS_H_ */
