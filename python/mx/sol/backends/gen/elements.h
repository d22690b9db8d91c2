/* Single elements where neither C nor a header of operators says what ONNX means: what
 * mxnet/op/formulas.inc has is not here, but generated of that. */
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

/* -- what ONNX has of integers and mxnet/op/formulas.inc has not; by 0 all give 0 -- */

/* Div and Mod with fmod=1 truncate, where floor_divide and remainder round down. */
#define MX_SIGNED(name, type)                                     \
  MX_INLINE type mx_div_##name(type a, type b) {                  \
    if (b == 0) return 0;                                         \
    return b == -1 ? (type)(0 - (uint64_t)a) : (type)(a / b);     \
  }                                                               \
  MX_INLINE type mx_fmod_##name(type a, type b) {                 \
    return b == 0 || b == -1 ? 0 : (type)(a % b);                 \
  }
#define MX_UNSIGNED(name, type)                                                        \
  MX_INLINE type mx_div_##name(type a, type b) { return b == 0 ? 0 : (type)(a / b); }  \
  MX_INLINE type mx_fmod_##name(type a, type b) { return b == 0 ? 0 : (type)(a % b); }
MX_SIGNED(i8, int8_t)
MX_SIGNED(i16, int16_t)
MX_SIGNED(i32, int32_t)
MX_SIGNED(i64, int64_t)
MX_UNSIGNED(u8, uint8_t)
MX_UNSIGNED(u16, uint16_t)
MX_UNSIGNED(u32, uint32_t)
MX_UNSIGNED(u64, uint64_t)

/* Pow may have a negative exponent, which power has not. */
MX_INLINE int64_t mx_inverse_power(int64_t a, int64_t b) {
  return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
}

#endif /* MX_SOL_ELEMENTS_H_ */
