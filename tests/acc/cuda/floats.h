/*
 * Floats in memory of the host, as cuBLAS and cuDNN of the tests read and write them.
 */
#include <math.h>
#include <stdint.h>

enum { kReal32 = 0, kReal64 = 1, kReal16 = 2 };

/* Of two-byte floats: bits of the fraction, and what is added to exponents. */
struct Kind {
  int fraction;
  int bias;
};

static inline struct Kind KindOf(int type) {
  const struct Kind half = {10, 15};
  const struct Kind brain = {7, 127};
  return type == kReal16 ? half : brain;
}

static inline double Get(const void* data, int type, int64_t i) {
  if (type == kReal64) return ((const double*)data)[i];
  if (type == kReal32) return ((const float*)data)[i];
  const struct Kind kind = KindOf(type);
  const int bits = ((const uint16_t*)data)[i];
  const int exponent = (bits & 0x7fff) >> kind.fraction;
  const int fraction = bits & ((1 << kind.fraction) - 1);
  double x;
  if (exponent == 2 * kind.bias + 1) {
    x = fraction == 0 ? INFINITY : NAN;
  } else {
    const int whole = exponent == 0 ? fraction : fraction + (1 << kind.fraction);
    x = ldexp(whole, (exponent == 0 ? 1 : exponent) - kind.bias - kind.fraction);
  }
  return bits & 0x8000 ? -x : x;
}

static inline void Put(void* data, int type, int64_t i, double x) {
  if (type == kReal64) ((double*)data)[i] = x;
  if (type == kReal32) ((float*)data)[i] = (float)x;
  if (type == kReal64 || type == kReal32) return;
  const struct Kind kind = KindOf(type);
  const long infinite = (2L * kind.bias + 1) << kind.fraction;
  long bits = infinite;
  if (isnan(x)) {
    bits += 1L << (kind.fraction - 1);
  } else if (!isinf(x)) {
    const int least = 1 - kind.bias;
    const int exponent = x == 0 || ilogb(x) < least ? least : ilogb(x);
    bits = ((long)(exponent - least) << kind.fraction) +
           lrint(ldexp(fabs(x), kind.fraction - exponent));
    if (bits > infinite) bits = infinite;
  }
  ((uint16_t*)data)[i] = (uint16_t)(bits | (signbit(x) ? 0x8000 : 0));
}
