#include "loops.h"

#include <mxnet/op/narrow_floats.h>

#include <algorithm>

#include "../sdk/tensor.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#ifdef __x86_64__
#define WITH_AVX2 __attribute__((target("avx2")))
#else
#define WITH_AVX2
#endif

namespace onednn {
namespace {

namespace narrow = mxnet::op::narrow_floats;

/* How elements of each type become float32, and the other way round: to nearest, ties to even. */

struct Single {
  using Type = float;

  ALWAYS_INLINE static float Read(float value) { return value; }
  ALWAYS_INLINE static float Write(float value) { return value; }
};

struct Half {
  using Type = uint16_t;

  ALWAYS_INLINE static float Read(uint16_t bits) { return narrow::float_of_float16(bits); }
  ALWAYS_INLINE static uint16_t Write(float value) { return narrow::float16_of_float(value); }
};

struct Brain {
  using Type = uint16_t;

  ALWAYS_INLINE static float Read(uint16_t bits) { return narrow::float_of_bfloat16(bits); }
  ALWAYS_INLINE static uint16_t Write(float value) { return narrow::bfloat16_of_float(value); }
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
