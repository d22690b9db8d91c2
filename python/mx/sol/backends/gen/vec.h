/* Vectors of VW floats on what the compiler has for them: GCC's vector extensions, and intrinsics
 * where those do not say it. Comparisons give vi: -1 where they hold, 0 elsewhere. NaN and
 * infinities are as IEEE 754 says; do not compile with -ffast-math. */
#ifndef MX_SOL_VEC_H_
#define MX_SOL_VEC_H_

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif
#if defined(__clang__) || __GNUC__ >= 9
#define MX_CONVERT(value, type) __builtin_convertvector(value, type)
#else
#error "a compiler with __builtin_convertvector is needed"
#endif

#ifndef VW
#if defined(__AVX512F__)
#define VW 16
#elif defined(__AVX2__)
#define VW 8
#else
#define VW 4
#endif
#endif

#define MX_INLINE static inline __attribute__((always_inline, unused))

typedef float vf __attribute__((vector_size(4 * VW)));
typedef int32_t vi __attribute__((vector_size(4 * VW)));
typedef uint32_t vu __attribute__((vector_size(4 * VW)));
typedef uint8_t vb __attribute__((vector_size(VW)));
typedef float vf_any __attribute__((vector_size(4 * VW), aligned(4), may_alias));
typedef int32_t vi_any __attribute__((vector_size(4 * VW), aligned(4), may_alias));
typedef uint8_t vb_any __attribute__((vector_size(VW), aligned(1), may_alias));

/* -- memory -- */

MX_INLINE vf vf_load(const float *p) { return *(const vf_any *)p; }
MX_INLINE void vf_store(float *p, vf a) { *(vf_any *)p = a; }
MX_INLINE vi vi_load(const int32_t *p) { return *(const vi_any *)p; }
MX_INLINE void vi_store(int32_t *p, vi a) { *(vi_any *)p = a; }
MX_INLINE vf vf_set1(float a) { return a - (vf){0}; }
MX_INLINE vi vi_set1(int32_t a) { return a + (vi){0}; }
/* The same in a register: compilers load again, for each use, what they find in memory. */
MX_INLINE vf vf_held(vf a) {
#if defined(__AVX2__)
  __asm__("" : "+v"(a));
#endif
  return a;
}

/* The first n of VW elements, 0 < n < VW; zeros behind them. */
MX_INLINE vf vf_load_n(const float *p, int64_t n) {
#if VW == 16 && defined(__AVX512F__)
  return (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
  vf a = {0};
  for (int64_t i = 0; i < n; ++i) a[i] = p[i];
  return a;
#endif
}
MX_INLINE void vf_store_n(float *p, vf a, int64_t n) {
#if VW == 16 && defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)a);
#else
  for (int64_t i = 0; i < n; ++i) p[i] = a[i];
#endif
}
MX_INLINE vi vi_load_n(const int32_t *p, int64_t n) {
  vi a = {0};
  for (int64_t i = 0; i < n; ++i) a[i] = p[i];
  return a;
}
MX_INLINE void vi_store_n(int32_t *p, vi a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) p[i] = a[i];
}
/* Booleans of one byte, as vi. */
MX_INLINE vi vb_load(const uint8_t *p) { return MX_CONVERT(*(const vb_any *)p, vi) != 0; }
MX_INLINE void vb_store(uint8_t *p, vi a) { *(vb_any *)p = MX_CONVERT(a & 1, vb); }
MX_INLINE vi vb_load_n(const uint8_t *p, int64_t n) {
  vi a = {0};
  for (int64_t i = 0; i < n; ++i) a[i] = p[i] ? -1 : 0;
  return a;
}
MX_INLINE void vb_store_n(uint8_t *p, vi a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) p[i] = (uint8_t)(a[i] & 1);
}

/* -- choice -- */

MX_INLINE vf vf_select(vi where, vf a, vf b) {
  return (vf)(((vi)a & where) | ((vi)b & ~where));
}
MX_INLINE vi vi_select(vi where, vi a, vi b) { return (a & where) | (b & ~where); }
MX_INLINE vi vf_isnan(vf a) { return a != a; }

/* b where one is NaN, and where they are equal. */
MX_INLINE vf vf_max(vf a, vf b) {
#if VW == 16 && defined(__AVX512F__)
  return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif VW == 8 && defined(__AVX__)
  return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#elif VW == 4 && defined(__SSE2__)
  return (vf)_mm_max_ps((__m128)a, (__m128)b);
#else
  return vf_select(a > b, a, b);
#endif
}
MX_INLINE vf vf_min(vf a, vf b) {
#if VW == 16 && defined(__AVX512F__)
  return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif VW == 8 && defined(__AVX__)
  return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#elif VW == 4 && defined(__SSE2__)
  return (vf)_mm_min_ps((__m128)a, (__m128)b);
#else
  return vf_select(a < b, a, b);
#endif
}
/* NaN where one is, a where they are equal. */
MX_INLINE vf vf_maximum(vf a, vf b) { return vf_select(vf_isnan(b), b, vf_max(b, a)); }
MX_INLINE vf vf_minimum(vf a, vf b) { return vf_select(vf_isnan(b), b, vf_min(b, a)); }

/* -- arithmetic -- */

MX_INLINE vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
MX_INLINE vf vf_abs(vf a) { return (vf)((vi)a & 0x7fffffff); }
MX_INLINE vf vf_copysign(vf a, vf sign) {
  return (vf)(((vi)a & 0x7fffffff) | ((vi)sign & (int32_t)0x80000000));
}
MX_INLINE vf vf_sqrt(vf a) {
#if VW == 16 && defined(__AVX512F__)
  return (vf)_mm512_sqrt_ps((__m512)a);
#elif VW == 8 && defined(__AVX__)
  return (vf)_mm256_sqrt_ps((__m256)a);
#elif VW == 4 && defined(__SSE2__)
  return (vf)_mm_sqrt_ps((__m128)a);
#else
  for (int i = 0; i < VW; ++i) a[i] = sqrtf(a[i]);
  return a;
#endif
}
/* To the nearest integer, of two the even one. */
MX_INLINE vf vf_rint(vf a) {
  const vf far = vf_set1(8388608.0f);
  const vf moved = vf_copysign(far, a);
  return vf_copysign(vf_select(vf_abs(a) < far, (a + moved) - moved, a), a);
}
MX_INLINE vf vf_floor(vf a) {
  const vf near = vf_rint(a);
  return vf_copysign(near - vf_select(near > a, vf_set1(1.0f), (vf){0}), a);
}
MX_INLINE vf vf_ceil(vf a) {
  const vf near = vf_rint(a);
  return vf_copysign(near + vf_select(near < a, vf_set1(1.0f), (vf){0}), a);
}
MX_INLINE vf vf_trunc(vf a) { return vf_copysign(vf_floor(vf_abs(a)), a); }

/* -- integers, which wrap -- */

MX_INLINE vi vi_add(vi a, vi b) { return (vi)((vu)a + (vu)b); }
MX_INLINE vi vi_sub(vi a, vi b) { return (vi)((vu)a - (vu)b); }
MX_INLINE vi vi_mul(vi a, vi b) { return (vi)((vu)a * (vu)b); }
MX_INLINE vi vi_max(vi a, vi b) { return vi_select(a > b, a, b); }
MX_INLINE vi vi_min(vi a, vi b) { return vi_select(a < b, a, b); }
/* Without the fraction; the least integer for what does not fit. */
MX_INLINE vi vi_from(vf a) {
  const vi fits = (a >= -2147483648.0f) & (a < 2147483648.0f);
  return vi_select(fits, MX_CONVERT(vf_select(fits, a, (vf){0}), vi), vi_set1(INT32_MIN));
}
MX_INLINE vf vf_from(vi a) { return MX_CONVERT(a, vf); }
/* -1 in the first n lanes. */
MX_INLINE vi vi_first(int64_t n) {
  vi a;
  for (int i = 0; i < VW; ++i) a[i] = i < n ? -1 : 0;
  return a;
}

/* -- all lanes to one: halves, quarters, so that the order is the same everywhere -- */

#define MX_HORIZONTAL(name, type, element, join) \
  MX_INLINE element name(type a) {               \
    for (int step = VW / 2; step > 0; step /= 2) \
      for (int i = 0; i < step; ++i) {           \
        const element x = a[i], y = a[i + step]; \
        a[i] = (join);                           \
      }                                          \
    return a[0];                                 \
  }
#if VW == 16 && defined(__AVX512F__)
MX_INLINE float vf_hsum(vf a) { return _mm512_reduce_add_ps((__m512)a); }
#else
MX_HORIZONTAL(vf_hsum, vf, float, x + y)
#endif
MX_HORIZONTAL(vf_hmax, vf, float, x > y || x != x ? x : y) /* NaN where one is */
MX_HORIZONTAL(vf_hmin, vf, float, x < y || x != x ? x : y)
MX_HORIZONTAL(vf_hprod, vf, float, x * y)

/* -- functions -- */

/* a * 2^n for integers n; of a from 0.5 to 2. */
MX_INLINE vf vf_scale(vf a, vf n) {
#if VW == 16 && defined(__AVX512F__)
  return (vf)_mm512_scalef_ps((__m512)a, (__m512)n);
#else
  const vi whole = MX_CONVERT(n, vi);
  const vi half = whole >> 1;
  return a * (vf)((vu)(half + 127) << 23) * (vf)((vu)(whole - half + 127) << 23);
#endif
}

/* The coefficients of what follows are those of the least largest relative error. Their
 * results differ from the right ones by so many units in the last bit at most: exp, log and expm1
 * 4, sigmoid 3, tanh and erf 7. */

/* e^a - 1 for |a| <= ln(2)/2. */
MX_INLINE vf vf_exp_small(vf a) {
  vf p = vf_set1(1.9790344e-4f);
  p = vf_fma(p, a, vf_set1(1.3944657e-3f));
  p = vf_fma(p, a, vf_set1(8.3334967e-3f));
  p = vf_fma(p, a, vf_set1(4.1666295e-2f));
  p = vf_fma(p, a, vf_set1(1.66666657e-1f));
  p = vf_fma(p, a, vf_set1(0.5f));
  return vf_fma(p * a, a, a);
}
MX_INLINE vf vf_near(vf a) { /* vf_rint for |a| < 2^22 */
  const vf moved = vf_set1(12582912.0f);
  return (a + moved) - moved;
}
MX_INLINE vf vf_exp(vf a) {
  a = vf_min(vf_set1(89.0f), vf_max(vf_set1(-104.0f), a));
  const vf n = vf_near(a * 1.44269502f);
  const vf r = vf_fma(n, vf_set1(2.12194442e-4f), vf_fma(n, vf_set1(-0.693359375f), a));
  return vf_scale(1.0f + vf_exp_small(r), n);
}
/* The same for what is not above 0, and 0 where the result would be no normal number: those are
 * slow to compute with, and nothing beside the 1 that a softmax has. */
MX_INLINE vf vf_exp_below(vf a) {
  const vf clipped = vf_max(vf_set1(-87.0f), a);
  const vf n = vf_near(clipped * 1.44269502f);
  const vf r = vf_fma(n, vf_set1(2.12194442e-4f), vf_fma(n, vf_set1(-0.693359375f), clipped));
  const vf power = (vf)((vu)(MX_CONVERT(n, vi) + 127) << 23);
  return vf_select(a < -87.0f, (vf){0}, (1.0f + vf_exp_small(r)) * power);
}
MX_INLINE vf vf_expm1(vf a) {
  const vf near = vf_exp_small(a);
  return vf_select(vf_abs(a) < 0.34657359f, near, vf_exp(a) - 1.0f);
}
MX_INLINE vf vf_sigmoid(vf a) { return 1.0f / (1.0f + vf_exp(-a)); }

MX_INLINE vf vf_log(vf a) {
  const vi is_small = a < 1.17549435e-38f;
  const vf scaled = vf_select(is_small, a * 8388608.0f, a);
  /* a = m * 2^e with m from sqrt(1/2) to sqrt(2). */
  const vi bits = (vi)((vu)scaled - 0x3f3504f3u);
  vf e = MX_CONVERT(bits >> 23, vf);
  e = e - vf_select(is_small, vf_set1(23.0f), (vf){0});
  const vf f = (vf)((bits & 0x007fffff) + 0x3f3504f3) - 1.0f;
  vf p = vf_set1(6.7466453e-2f);
  p = vf_fma(p, f, vf_set1(-1.16756603e-1f));
  p = vf_fma(p, f, vf_set1(1.18881643e-1f));
  p = vf_fma(p, f, vf_set1(-1.24055877e-1f));
  p = vf_fma(p, f, vf_set1(1.42195523e-1f));
  p = vf_fma(p, f, vf_set1(-1.66679963e-1f));
  p = vf_fma(p, f, vf_set1(2.00021192e-1f));
  p = vf_fma(p, f, vf_set1(-2.50000089e-1f));
  p = vf_fma(p, f, vf_set1(3.33333135e-1f));
  const vf square = f * f;
  vf log = vf_fma(e, vf_set1(-2.12194440e-4f), p * f * square);
  log = vf_fma(square, vf_set1(-0.5f), log) + f;
  log = vf_fma(e, vf_set1(0.693359375f), log);
  const vf infinity = vf_set1(INFINITY);
  log = vf_select(a == infinity, infinity, log);
  log = vf_select(a == 0.0f, -infinity, log);
  return vf_select(~(a >= 0.0f), vf_select(vf_isnan(a), a, vf_set1(NAN)), log);
}
MX_INLINE vf vf_tanh(vf a) {
  const vf x = vf_max(vf_set1(-9.02f), vf_min(vf_set1(9.02f), a));
  const vf z = x * x;
  vf p = vf_set1(1.33190277e-8f);
  p = vf_fma(p, z, vf_set1(2.05834476e-5f));
  p = vf_fma(p, z, vf_set1(3.49403243e-3f));
  p = vf_fma(p, z, vf_set1(1.33797169e-1f));
  p = vf_fma(p, z, vf_set1(1.0f));
  vf q = vf_set1(7.76200068e-7f);
  q = vf_fma(q, z, vf_set1(3.28308932e-4f));
  q = vf_fma(q, z, vf_set1(2.58710645e-2f));
  q = vf_fma(q, z, vf_set1(4.67130303e-1f));
  q = vf_fma(q, z, vf_set1(1.0f));
  const vf one = vf_set1(1.0f);
  return vf_max(-one, vf_min(one, x * p / q));
}
MX_INLINE vf vf_erf(vf a) {
  const vf x = vf_max(vf_set1(-3.93f), vf_min(vf_set1(3.93f), a));
  const vf z = x * x;
  vf p = vf_set1(2.04200228e-6f);
  p = vf_fma(p, z, vf_set1(2.84807087e-4f));
  p = vf_fma(p, z, vf_set1(3.7794993e-3f));
  p = vf_fma(p, z, vf_set1(5.27899452e-2f));
  p = vf_fma(p, z, vf_set1(1.90781131e-1f));
  p = vf_fma(p, z, vf_set1(1.12837911f));
  vf q = vf_set1(3.80043275e-5f);
  q = vf_fma(q, z, vf_set1(1.16518803e-3f));
  q = vf_fma(q, z, vf_set1(1.49972141e-2f));
  q = vf_fma(q, z, vf_set1(1.14256419e-1f));
  q = vf_fma(q, z, vf_set1(5.02408087e-1f));
  q = vf_fma(q, z, vf_set1(1.0f));
  const vf one = vf_set1(1.0f);
  return vf_max(-one, vf_min(one, x * p / q));
}
/* a^b by powf: lanes one by one. */
MX_INLINE vf vf_pow(vf a, vf b) {
  for (int i = 0; i < VW; ++i) a[i] = powf(a[i], b[i]);
  return a;
}

#endif /* MX_SOL_VEC_H_ */
