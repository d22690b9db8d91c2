/*!
 * \file division.cc
 * \brief floor_divide, remainder: the operators whose integers may not be divided by 0.
 */
#include <algorithm>
#include <cmath>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/exact_division.h"
#include "op/kernels/elementwise/math_loops.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief A float in which the quotient of any two T is exact enough to be rounded down. */
template <typename T>
using QuotientOf = std::conditional_t<sizeof(T) == 1, float, double>;

/*!
 * \brief The quotient rounded down, 0 for a divisor of 0: by division of floats, which the compiler
 * vectorizes. It wraps where it overflows.
 */
template <typename T>
T FloorQuotient(T a, T b) {
  using F = QuotientOf<T>;
  // Overflow is the quotient of the least integer and -1.
  const bool negates = std::is_signed_v<T> && b == static_cast<T>(-1);
  const T divisor = b == 0 || negates ? T(1) : b;
  const F floor = std::floor(static_cast<F>(a) / static_cast<F>(divisor));
  using Cast = std::conditional_t<(sizeof(T) < 4 || std::is_signed_v<T>), int32_t, int64_t>;
  const T quotient = static_cast<T>(static_cast<Cast>(floor));
  const T negated = static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(a));
  return b == 0 ? T(0) : (negates ? negated : quotient);
}

struct FloorDivide : formulas::floor_divide {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsIntType<T> && sizeof(T) <= 4) {
      return FloorQuotient(a, b);
    } else {
      return formulas::floor_divide::Apply(a, b);
    }
  }
};

struct Mod : formulas::remainder {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsIntType<T> && sizeof(T) <= 4) {
      using W = Wrapping<T>;
      const W part = static_cast<W>(FloorQuotient(a, b)) * static_cast<W>(b);
      return b == 0 ? T(0) : static_cast<T>(static_cast<W>(a) - part);
    } else {
      return formulas::remainder::Apply(a, b);
    }
  }
};

/*!
 * \brief Division of 64-bit integers by one positive number: a product with its reciprocal.
 *
 * For dividends below 2**63, of which a negative one is made by flipping all of its bits: rounding
 * towards zero is then rounding down.
 */
class Reciprocal {
 public:
  explicit Reciprocal(uint64_t divisor) : divisor_(divisor) {
    shift_ = 64 - __builtin_clzll(divisor - 1);
    const auto numerator = static_cast<unsigned __int128>(1) << (63 + shift_);
    factor_ = static_cast<uint64_t>((numerator + divisor - 1) / divisor);
  }

  MXNET_ALWAYS_INLINE int64_t Quotient(int64_t a) const {
    const uint64_t flips = static_cast<uint64_t>(a >> 63);
    const uint64_t dividend = static_cast<uint64_t>(a) ^ flips;
    const auto product = static_cast<unsigned __int128>(dividend) * factor_;
    return static_cast<int64_t>((static_cast<uint64_t>(product >> 64) >> (shift_ - 1)) ^ flips);
  }

  MXNET_ALWAYS_INLINE int64_t Remainder(int64_t a) const {
    return static_cast<int64_t>(static_cast<uint64_t>(a) -
                                static_cast<uint64_t>(Quotient(a)) * divisor_);
  }

 private:
  uint64_t divisor_;
  uint64_t factor_;
  int shift_;
};

struct QuotientByPower {
  int shift;
  MXNET_ALWAYS_INLINE int64_t operator()(int64_t a) const { return a >> shift; }
};

struct RemainderByPower {
  int64_t mask;
  MXNET_ALWAYS_INLINE int64_t operator()(int64_t a) const { return a & mask; }
};

/*! \brief out[i] = f(a[i]). */
template <typename F>
MXNET_ALWAYS_INLINE void ApplyToEach(char* const* data, const int64_t* strides, int64_t n,
                                     const F& f) {
  const int64_t step = strides[0];
  const int64_t step_a = strides[1];
  if (step == sizeof(int64_t) && step_a == sizeof(int64_t)) {
    auto* out = reinterpret_cast<int64_t*>(data[0]);
    auto* a = reinterpret_cast<const int64_t*>(data[1]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<int64_t*>(data[0] + i * step) = f(LoadAt<int64_t>(data[1] + i * step_a));
  }
}

/*! \brief Loops by an exact division, but for elements of which it is none. */
template <typename Op, typename T>
void ExactRun(char* const* data, const int64_t* strides, int64_t n) {
  constexpr bool kDivides = std::is_same_v<Op, FloorDivide>;
  static const ExactDivision<T> divide =
      kDivides ? FindExactQuotients<T>() : FindExactRemainders<T>();
  static const InnerLoop any = ForCpu<BinaryBody<Op, T>>();
  const auto is_step = [](int64_t stride) { return stride == 0 || stride == sizeof(T); };
  const bool is_dense = strides[0] == sizeof(T) && is_step(strides[1]) && is_step(strides[2]);
  if (divide == nullptr || !is_dense) return any(data, strides, n);
  constexpr int64_t kChunk = 256;
  const int64_t a_step = strides[1] == 0 ? 0 : 1;
  const int64_t b_step = strides[2] == 0 ? 0 : 1;
  T results[kChunk];
  for (int64_t done = 0; done < n; done += kChunk) {
    const int64_t count = std::min(kChunk, n - done);
    const T* a = reinterpret_cast<const T*>(data[1]) + done * a_step;
    const T* b = reinterpret_cast<const T*>(data[2]) + done * b_step;
    if (!divide(a, a_step, b, b_step, count, results)) {
      for (int64_t i = 0; i < count; ++i) {
        const T x = a[i * a_step];
        const T y = b[i * b_step];
        if (!IsExact(x, y)) results[i] = Op::Apply(x, y);
      }
    }
    std::copy_n(results, count, reinterpret_cast<T*>(data[0]) + done);
  }
}

/*! \brief Loops of int64 that divide by one number for all, where that is positive. */
template <typename Op>
void DivideRun(char* const* data, const int64_t* strides, int64_t n) {
  constexpr bool kDivides = std::is_same_v<Op, FloorDivide>;
  // Of no elements there is no divisor either.
  if (strides[2] != 0 || n < 4) return ExactRun<Op, int64_t>(data, strides, n);
  const int64_t divisor = LoadAt<int64_t>(data[2]);
  if (divisor <= 0) return ExactRun<Op, int64_t>(data, strides, n);
  if ((divisor & (divisor - 1)) == 0) {
    if constexpr (kDivides) {
      const int shift = __builtin_ctzll(static_cast<uint64_t>(divisor));
      return ApplyToEach(data, strides, n, QuotientByPower{shift});
    }
    return ApplyToEach(data, strides, n, RemainderByPower{divisor - 1});
  }
  const Reciprocal reciprocal(static_cast<uint64_t>(divisor));
  ApplyToEach(data, strides, n, [&](int64_t a) {
    return kDivides ? reciprocal.Quotient(a) : reciprocal.Remainder(a);
  });
}

/*! \brief out[i] = a[i] divided by one number for all, or what remains, by way of a product. */
template <bool kDivides>
struct ByteDivisionBody {
  static MXNET_ALWAYS_INLINE void Run(const uint8_t* a, uint8_t* out, int64_t n, uint8_t divisor) {
    // Rounded up by less than the divisor, which times 255 is less than the 2**16 it is cut by.
    const auto factor = static_cast<uint16_t>(0x10000 / divisor + 1);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const auto quotient = static_cast<uint16_t>((uint32_t{a[i]} * factor) >> 16);
      const auto rest = static_cast<uint16_t>(a[i] - quotient * divisor);
      out[i] = static_cast<uint8_t>(kDivides ? quotient : rest);
    }
  }
};

/*! \brief Loops of uint8, by one number for all as well. */
template <typename Op>
void ByteDivisionRun(char* const* data, const int64_t* strides, int64_t n) {
  static const InnerLoop any = ForCpu<BinaryBody<Op, uint8_t>>();
  static const auto divide = ForCpu<ByteDivisionBody<std::is_same_v<Op, FloorDivide>>>();
  const bool is_dense = strides[0] == 1 && strides[1] == 1 && strides[2] == 0;
  if (!is_dense || n == 0 || LoadAt<uint8_t>(data[2]) < 2) return any(data, strides, n);
  divide(reinterpret_cast<const uint8_t*>(data[1]), reinterpret_cast<uint8_t*>(data[0]), n,
         LoadAt<uint8_t>(data[2]));
}

template <typename Op>
BinaryOp DivisionOf() {
  BinaryOp op = BinaryOf<Op>();
  op.table.loops[kIndexUInt8] = &ByteDivisionRun<Op>;
  op.table.loops[kIndexInt64] = &DivideRun<Op>;
  op.table.loops[kIndexFloat32] = &ExactRun<Op, float>;
  op.table.loops[kIndexFloat64] = &ExactRun<Op, double>;
  return op;
}

const BinaryOp kFloorDivide = DivisionOf<FloorDivide>();
const BinaryOp kRemainder = DivisionOf<Mod>();

MXNET_REGISTER_BINARY("floor_divide",
                      "Divides and rounds towards minus infinity. An integer divided by 0 gives 0.",
                      kFloorDivide);
MXNET_REGISTER_BINARY("remainder", "Remainder of floor_divide, which has the sign of x2.",
                      kRemainder);

}  // namespace
}  // namespace op
}  // namespace mxnet
