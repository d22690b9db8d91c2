/*!
 * \file floating.cc
 * \brief Binary operators of floating point numbers: arctan2, hypot, logaddexp, copysign.
 */
#include <algorithm>
#include <cmath>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/math_loops.h"

namespace mxnet {
namespace op {
namespace {

struct Arctan2 : formulas::arctan2 {
  static constexpr char kFunction[] = "atan2";
};

struct Hypot : formulas::hypot {
  static constexpr char kFunction[] = "hypot";
};

/*! \brief out[i] = -|a[i] - b[i]|. */
template <typename C>
struct MinusDistanceBody {
  static MXNET_ALWAYS_INLINE void Run(const C* a, const C* b, C* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[i] = -std::fabs(a[i] - b[i]);
  }
};

/*! \brief Whether the logarithm may be so near 0 that little is left of the larger operand. */
template <typename C>
MXNET_ALWAYS_INLINE bool MayCancel(C larger) {
  return (larger < C(0)) & (larger > C(-4));
}

/*!
 * \brief more[i] becomes the larger of a[i] and b[i], and that many more, or log2 where they are
 * equal. Whether any MayCancel.
 */
template <typename C>
struct AddToLargerBody {
  static MXNET_ALWAYS_INLINE bool Run(const C* a, const C* b, C log2, C* more, int64_t n) {
    using Mask = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;
    Mask any = 0;
    for (int64_t i = 0; i < n; ++i) {
      // Of NaN the logarithm is NaN; of equal operands, which may be infinite, it may be as well.
      const C larger = a[i] > b[i] ? a[i] : b[i];
      more[i] = larger + (a[i] == b[i] ? log2 : more[i]);
      any |= MayCancel(larger) ? Mask(1) : Mask(0);
    }
    return any != 0;
  }
};

/*! \brief log(exp(a) + exp(b)) of floats, with the functions of many at a time. */
template <typename T>
void LogAddExpRun(char* const* data, const int64_t* strides, int64_t n) {
  using C = Computed<T>;
  static const VectorUnary<C> exp = FindVectorUnary<C>("exp");
  static const VectorUnary<C> log1p = FindVectorUnary<C>("log1p");
  static const C log2 = std::log(C(2));
  if (!exp || !log1p) return BinaryRun<formulas::logaddexp, T>(data, strides, n);
  static const auto subtract = ForCpu<MinusDistanceBody<C>>();
  static const auto add = ForCpu<AddToLargerBody<C>>();
  C buffers[2][kMathChunk];
  C more[kMathChunk];
  for (int64_t begin = 0; begin < n; begin += kMathChunk) {
    const int64_t count = std::min(kMathChunk, n - begin);
    const C* a = DenseOf<T>(data[1] + begin * strides[1], strides[1], count, buffers[0]);
    const C* b = DenseOf<T>(data[2] + begin * strides[2], strides[2], count, buffers[1]);
    subtract(a, b, more, count);
    exp(more, more, count);
    log1p(more, more, count);
    if (add(a, b, log2, more, count)) {
      for (int64_t i = 0; i < count; ++i) {
        if (MayCancel(std::max(a[i], b[i]))) more[i] = formulas::logaddexp::Apply(a[i], b[i]);
      }
    }
    Scatter<T>(more, count, data[0] + begin * strides[0], strides[0]);
  }
}

BinaryOp LogAddExpOf() {
  LoopTable table;
  table.loops[kIndexFloat16] = &LogAddExpRun<Half>;
  table.loops[kIndexBFloat16] = &LogAddExpRun<BFloat16>;
  table.loops[kIndexFloat32] = &LogAddExpRun<float>;
  table.loops[kIndexFloat64] = &LogAddExpRun<double>;
  return {table, formulas::logaddexp::kRule, formulas::logaddexp::kResult};
}

template <typename Op>
BinaryOp MathOf() {
  return {MathBinaryLoops<Op>(), Op::kRule, Op::kResult};
}

const BinaryOp kArctan2 = MathOf<Arctan2>();
const BinaryOp kHypot = MathOf<Hypot>();
const BinaryOp kCopysign = BinaryOf<formulas::copysign>();
const BinaryOp kLogAddExp = LogAddExpOf();

MXNET_REGISTER_BINARY("arctan2",
                      "Angle in radians, from -pi to pi, of the point with coordinates (x2, x1).",
                      kArctan2);
MXNET_REGISTER_BINARY("hypot", "Length of the hypotenuse, sqrt(x1**2 + x2**2), without overflow.",
                      kHypot);
MXNET_REGISTER_BINARY("copysign", "x1 with the sign of x2.", kCopysign);
MXNET_REGISTER_BINARY("logaddexp", "log(exp(x1) + exp(x2)), without overflow.", kLogAddExp);

}  // namespace
}  // namespace op
}  // namespace mxnet
