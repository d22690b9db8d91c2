#include "loops.h"

#include <algorithm>
#include <cstring>

#include "../sdk/tensor.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#ifdef __x86_64__
#define WITH_AVX2 __attribute__((target("avx2")))
#else
#define WITH_AVX2
#endif

namespace onednn {
namespace {

ALWAYS_INLINE uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

ALWAYS_INLINE float FloatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/*! \brief The bits if the condition holds, else 0; without a branch, which would prevent
 * vectorization. */
ALWAYS_INLINE uint32_t If(bool condition, uint32_t bits) {
  return bits & (0u - static_cast<uint32_t>(condition));
}

/* How elements of each type become float32, and the other way round: to nearest, ties to even. */

struct Single {
  using Type = float;

  ALWAYS_INLINE static float Read(float value) { return value; }
  ALWAYS_INLINE static float Write(float value) { return value; }
};

struct Half {
  using Type = uint16_t;

  ALWAYS_INLINE static float Read(uint16_t bits) {
    // The product moves the exponent to float's bias, of subnormals, too.
    const uint32_t finite = BitsOf(FloatOf((bits & 0x7fffu) << 13) * 0x1p112f);
    const bool is_special = (bits & 0x7c00u) == 0x7c00u;
    return FloatOf(finite | If(is_special, 0x7f800000u) | (bits & 0x8000u) << 16);
  }

  ALWAYS_INLINE static uint16_t Write(float value) {
    const uint32_t x = BitsOf(value) & 0x7fffffffu;
    // One unit of 0.5f is that of subnormals.
    const uint32_t subnormal = BitsOf(FloatOf(x) + 0.5f) - BitsOf(0.5f);
    const uint32_t normal = (x - (112u << 23) + 0xfffu + (x >> 13 & 1u)) >> 13;
    const uint32_t special = 0x7c00u | If(x > 0x7f800000u, 0x200u | (x >> 13 & 0x3ffu));
    const bool is_subnormal = x < BitsOf(0x1p-14f);
    const bool is_finite = x < BitsOf(0x1p16f);
    const uint32_t finite = If(is_subnormal, subnormal) | If(!is_subnormal, normal);
    const uint32_t sign = BitsOf(value) >> 16 & 0x8000u;
    return static_cast<uint16_t>(sign | If(is_finite, finite) | If(!is_finite, special));
  }
};

struct Brain {
  using Type = uint16_t;

  ALWAYS_INLINE static float Read(uint16_t bits) { return FloatOf(uint32_t{bits} << 16); }

  ALWAYS_INLINE static uint16_t Write(float value) {
    const uint32_t x = BitsOf(value);
    const bool is_nan = (x & 0x7fffffffu) > 0x7f800000u;
    const uint32_t number = (x + 0x7fffu + (x >> 16 & 1u)) >> 16;
    return static_cast<uint16_t>(If(is_nan, x >> 16 | 0x40u) | If(!is_nan, number));
  }
};

/*! \brief Any byte but 0 is true, and any number but 0. */
struct Truth {
  using Type = uint8_t;

  ALWAYS_INLINE static float Read(uint8_t byte) { return byte != 0 ? 1.0f : 0.0f; }
  ALWAYS_INLINE static uint8_t Write(float value) { return value != 0 ? 1 : 0; }
};

/*! \brief Elements that are converted at once: so many that a compiler uses vectors. */
constexpr int64_t kBlock = 64;

template <typename From, typename To>
ALWAYS_INLINE void ConvertBlock(const typename From::Type* __restrict from,
                                typename To::Type* __restrict to) {
  for (int64_t i = 0; i < kBlock; ++i) to[i] = To::Write(From::Read(from[i]));
}

template <typename From, typename To>
ALWAYS_INLINE void Convert(const void* from, void* to, int64_t count) {
  const auto* source = static_cast<const typename From::Type*>(from);
  auto* target = static_cast<typename To::Type*>(to);
  const int64_t rest = count % kBlock;
  for (int64_t i = 0; i < count - rest; i += kBlock) ConvertBlock<From, To>(source + i, target + i);
  typename From::Type last[kBlock]{};
  typename To::Type converted[kBlock];
  std::copy_n(source + count - rest, rest, last);
  ConvertBlock<From, To>(last, converted);
  std::copy_n(converted, rest, target + count - rest);
}

template <typename From, typename To>
void Plain(const void* from, void* to, int64_t count) {
  Convert<From, To>(from, to, count);
}

template <typename From, typename To>
WITH_AVX2 void Wide(const void* from, void* to, int64_t count) {
  Convert<From, To>(from, to, count);
}

bool HasAvx2() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

constexpr MXAccDataType kSingle{kMXAccFloat, 32, 1};
constexpr MXAccDataType kHalf{kMXAccFloat, 16, 1};
constexpr MXAccDataType kBrain{kMXAccBfloat, 16, 1};
constexpr MXAccDataType kTruth{kMXAccBool, 8, 1};

struct Known {
  MXAccDataType from;
  MXAccDataType to;
  Loop plain;
  Loop wide;
};

template <typename From, typename To>
constexpr Known Between(MXAccDataType from, MXAccDataType to) {
  return {from, to, Plain<From, To>, Wide<From, To>};
}

constexpr Known kLoops[] = {
    Between<Half, Single>(kHalf, kSingle),   Between<Brain, Single>(kBrain, kSingle),
    Between<Single, Half>(kSingle, kHalf),   Between<Single, Brain>(kSingle, kBrain),
    Between<Single, Truth>(kSingle, kTruth), Between<Truth, Single>(kTruth, kSingle),
    Between<Half, Truth>(kHalf, kTruth),     Between<Truth, Half>(kTruth, kHalf),
    Between<Brain, Truth>(kBrain, kTruth),   Between<Truth, Brain>(kTruth, kBrain),
};

}  // namespace

Loop LoopFor(MXAccDataType from, MXAccDataType to) {
  for (const Known& known : kLoops) {
    if (!mxacc::SameType(known.from, from) || !mxacc::SameType(known.to, to)) continue;
    return HasAvx2() ? known.wide : known.plain;
  }
  return nullptr;
}

}  // namespace onednn
