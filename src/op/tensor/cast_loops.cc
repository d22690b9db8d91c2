/*!
 * \file cast_loops.cc
 * \brief The inner loops that convert every element type to every other.
 */
#include <algorithm>
#include <cstring>
#include <utility>

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/fill.h"
#include "op/kernels/elementwise/gather.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief What is read for a bool: a foreign array may hold bytes other than 0 and 1. */
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

/*!
 * \brief A double as a float that float16 is rounded to alike: the last bit tells whether any
 * beyond it is set. Below float's normal numbers, where this is not so, float16 is zero.
 */
MXNET_ALWAYS_INLINE float FloatForHalf(double value) noexcept {
  constexpr uint64_t kBeyond = (uint64_t(1) << 29) - 1;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint64_t beyond = bits & kBeyond;
  bits = (bits ^ beyond) | ((beyond + kBeyond) & (kBeyond + 1));
  std::memcpy(&value, &bits, sizeof(bits));
  return static_cast<float>(value);
}

/*!
 * \brief IntegerOfFloat by instructions alone, many at a time: those of x86-64 give the least
 * integer for what is none. Each is by way of an integer that there are instructions for at every
 * level of the processor, whose results are alike.
 */
template <typename To, typename From>
MXNET_ALWAYS_INLINE To TruncatedTo(From value) noexcept {
#if defined(__x86_64__)
  if constexpr (sizeof(To) < 4 || std::is_same_v<To, int32_t>) {
    return static_cast<To>(static_cast<int32_t>(value));
  } else if constexpr (!std::is_same_v<To, uint64_t>) {
    return static_cast<To>(static_cast<int64_t>(value));
  } else {
    constexpr auto kHigh = static_cast<From>(0x1p63);
    const auto low = static_cast<uint64_t>(static_cast<int64_t>(value));
    const auto rest = static_cast<uint64_t>(static_cast<int64_t>(value - kHigh));
    return value >= kHigh ? rest ^ (uint64_t(1) << 63) : low;
  }
#else
  return IntegerOfFloat<To>(value);
#endif
}

template <typename From, typename To>
MXNET_ALWAYS_INLINE To CastStored(Stored<From> value) noexcept {
  if constexpr (std::is_same_v<From, bool>) {
    return CastValue<To>(value != 0);
  } else if constexpr (std::is_same_v<From, double> && std::is_same_v<To, Half>) {
    return Half(FloatForHalf(value));
  } else if constexpr (kIsIntType<To> && kIsComplexType<From>) {
    return TruncatedTo<To>(value.real());
  } else if constexpr (kIsIntType<To> && kIsHalfType<From>) {
    return TruncatedTo<To>(static_cast<float>(value));
  } else if constexpr (kIsIntType<To> && std::is_floating_point_v<From>) {
    return TruncatedTo<To>(value);
  } else {
    return CastValue<To>(value);
  }
}

template <typename From, typename To>
struct CastBody {
  static MXNET_ALWAYS_INLINE void Run(char* const* data, const int64_t* strides, int64_t n) {
    char* to = data[0];
    const char* from = data[1];
    if (strides[0] == sizeof(To) && strides[1] == sizeof(From)) {
      auto* out = reinterpret_cast<To*>(to);
      auto* in = reinterpret_cast<const Stored<From>*>(from);
      if constexpr (kIsComplexType<To> && !kIsComplexType<From>) {
        // By parts, which compilers make vectors of.
        using Part = typename To::value_type;
        auto* parts = reinterpret_cast<Part*>(to);
        for (int64_t i = 0; i < n; ++i) {
          parts[2 * i] = CastStored<From, To>(in[i]).real();
          parts[2 * i + 1] = Part(0);
        }
        return;
      }
      for (int64_t i = 0; i < n; ++i) out[i] = CastStored<From, To>(in[i]);
      return;
    }
    // Copies, as what is written might be the strides for all that the compiler knows.
    const int64_t step = strides[0];
    const int64_t step_from = strides[1];
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i, to += step, from += step_from) {
      *reinterpret_cast<To*>(to) =
          CastStored<From, To>(*reinterpret_cast<const Stored<From>*>(from));
    }
  }
};

#if MXNET_CPU_LEVELS
/*!
 * \brief int64 to float64 where the processor has no such instruction for registers: each half of
 * an integer becomes the last bits of a number that is known, and their sum is rounded once.
 */
struct CastByHalves {
  static MXNET_ALWAYS_INLINE void Run(char* const* data, const int64_t* strides, int64_t n) {
    if (strides[0] != sizeof(double) || strides[1] != sizeof(int64_t)) {
      return CastBody<int64_t, double>::Run(data, strides, n);
    }
    constexpr uint64_t kLowHalf = (uint64_t(1) << 32) - 1;
    constexpr uint64_t kTwoTo52 = uint64_t(0x433) << 52;
    // The sign's bit counts the other way round.
    constexpr uint64_t kTwoTo84And63 = uint64_t(0x45300000'80000000);
    auto* out = reinterpret_cast<double*>(data[0]);
    auto* in = reinterpret_cast<const int64_t*>(data[1]);
    for (int64_t i = 0; i < n; ++i) {
      const auto x = static_cast<uint64_t>(in[i]);
      out[i] = (FloatOfBits((x >> 32) ^ kTwoTo84And63) - (0x1p84 + 0x1p63 + 0x1p52)) +
               FloatOfBits((x & kLowHalf) | kTwoTo52);
    }
  }

 private:
  static MXNET_ALWAYS_INLINE double FloatOfBits(uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
};
#endif

/*! \brief The loop of a conversion for the processor. */
template <typename From, typename To>
InnerLoop CastForCpu() {
#if MXNET_CPU_LEVELS
  if constexpr (std::is_same_v<From, int64_t> && std::is_same_v<To, double>) {
    if (HostCpuLevel() < CpuLevel::kAvx512) return ForCpu<CastByHalves>();
  }
#endif
  return ForWideCpu<CastBody<From, To>>();
}

/*! \brief Whether a conversion is one of many that registers of any width hold. */
template <typename From, typename To>
constexpr bool kGainsFromCpu = !kIsComplexType<From> && !kIsHalfType<From>;

/*! \brief Fewer elements are not worth bringing together. */
constexpr int64_t kFewElements = 32;

template <typename From, typename To>
void CastRun(char* const* data, const int64_t* strides, int64_t n) {
  if constexpr (kGainsFromCpu<From, To>) {
    static const InnerLoop run = CastForCpu<From, To>();
    const bool writes_dense = strides[0] == sizeof(To);
    if (!writes_dense || strides[1] == sizeof(From) || strides[1] == 0 || n < kFewElements) {
      return run(data, strides, n);
    }
    constexpr int64_t kItems[2] = {sizeof(To), sizeof(From)};
    return RunGathered(run, kItems, 2, data, strides, n);
  }
  CastBody<From, To>::Run(data, strides, n);
}

/*! \brief Whether elements can be read as integers; a foreign array's may lie anywhere. */
template <int64_t Size>
bool IsAlignedRun(const char* from, int64_t stride) {
  constexpr uintptr_t kUnit = Size < 8 ? Size : 8;
  const auto bits = reinterpret_cast<uintptr_t>(from) | static_cast<uintptr_t>(stride);
  return (bits & (kUnit - 1)) == 0;
}

/*!
 * \brief Writes to every other element, by registers, for processors that have stores for that:
 * what lies apart, or is one element, is brought together first.
 */
template <int64_t Size>
void MoveToEveryOther(char* to, const char* from, int64_t step_from, int64_t n) {
  constexpr int64_t kChunk = 256;
  alignas(64) char chunk[kChunk * Size];
  if (step_from == 0) FillDense(from, Size, std::min(kChunk, n), chunk);
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t count = std::min(kChunk, n - begin);
    const char* dense = step_from == Size ? from + begin * Size : chunk;
    if (step_from != Size && step_from != 0) {
      GatherStrided(from + begin * step_from, step_from, Size, count, chunk);
    }
    ScatterStrided(dense, Size, count, to + begin * 2 * Size, 2 * Size);
  }
}

/*! \brief Moves elements of Size bytes, whatever their type and alignment. */
template <int64_t Size>
void MoveRun(char* const* data, const int64_t* strides, int64_t n) {
  char* to = data[0];
  const char* from = data[1];
  const int64_t step = strides[0];
  const int64_t step_from = strides[1];
  if (step == Size && step_from == Size) {
    if (to != from) std::memcpy(to, from, static_cast<size_t>(n * Size));
    return;
  }
  if (step == Size && step_from == 0) return FillDense(from, Size, n, to);
  if (IsAlignedRun<Size>(from, step_from)) {
    if (step == Size) return GatherStrided(from, step_from, Size, n, to);
    static const bool stores_apart = HostCpuLevel() >= CpuLevel::kAvx512;
    if (stores_apart && step == 2 * Size && n >= kFewElements && IsAlignedRun<Size>(to, step)) {
      return MoveToEveryOther<Size>(to, from, step_from, n);
    }
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i, to += step, from += step_from) std::memcpy(to, from, Size);
}

template <typename From, typename To>
constexpr InnerLoop LoopOf() {
  return std::is_same_v<From, To> ? &MoveRun<sizeof(To)> : &CastRun<From, To>;
}

struct CastRow {
  InnerLoop to[kNumDTypes];
};

template <typename From>
constexpr CastRow RowOf() {
  return {{LoopOf<From, bool>(), LoopOf<From, int8_t>(), LoopOf<From, int16_t>(),
           LoopOf<From, int32_t>(), LoopOf<From, int64_t>(), LoopOf<From, uint8_t>(),
           LoopOf<From, uint16_t>(), LoopOf<From, uint32_t>(), LoopOf<From, uint64_t>(),
           LoopOf<From, Half>(), LoopOf<From, BFloat16>(), LoopOf<From, float>(),
           LoopOf<From, double>(), LoopOf<From, Complex64>(), LoopOf<From, Complex128>()}};
}

constexpr CastRow kCastLoops[kNumDTypes] = {
    RowOf<bool>(),     RowOf<int8_t>(),    RowOf<int16_t>(),   RowOf<int32_t>(),
    RowOf<int64_t>(),  RowOf<uint8_t>(),   RowOf<uint16_t>(),  RowOf<uint32_t>(),
    RowOf<uint64_t>(), RowOf<Half>(),      RowOf<BFloat16>(),  RowOf<float>(),
    RowOf<double>(),   RowOf<Complex64>(), RowOf<Complex128>()};

}  // namespace

InnerLoop CastLoop(int from, int to) noexcept { return kCastLoops[from].to[to]; }

}  // namespace op
}  // namespace mxnet
