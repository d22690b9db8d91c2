/*!
 * \file math_loops.h
 * \brief Inner loops of operators that call an elementary function of each element.
 *
 * Whatever the strides and the length, elements go through the same function, so that an element's
 * result does not depend on where it lies.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_MATH_LOOPS_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_MATH_LOOPS_H_

#include <algorithm>

#include "op/kernels/elementwise/loops.h"
#include "op/kernels/elementwise/vector_math.h"

namespace mxnet {
namespace op {

/*! \brief Elements that are gathered at a time where they are not dense: they stay in the cache. */
constexpr int64_t kMathChunk = 256;

template <typename T>
struct GatherBody {
  static MXNET_ALWAYS_INLINE void Run(const char* from, int64_t stride, int64_t n,
                                      Computed<T>* out) {
    if (stride == sizeof(T)) {
      const auto* x = reinterpret_cast<const T*>(from);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Computed<T>>(x[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = LoadAt<T>(from + i * stride);
    }
  }
};

template <typename T>
struct ScatterBody {
  static MXNET_ALWAYS_INLINE void Run(const Computed<T>* x, int64_t n, char* to, int64_t stride) {
    if (stride == sizeof(T)) {
      auto* out = reinterpret_cast<T*>(to);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = T(x[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + i * stride) = T(x[i]);
    }
  }
};

template <typename T>
inline void Gather(const char* from, int64_t stride, int64_t n, Computed<T>* out) {
  static const auto gather = ForCpu<GatherBody<T>>();
  gather(from, stride, n, out);
}

template <typename T>
inline void Scatter(const Computed<T>* x, int64_t n, char* to, int64_t stride) {
  static const auto scatter = ForCpu<ScatterBody<T>>();
  scatter(x, n, to, stride);
}

/*! \brief Elements that are computed with as they are stored, where they lie; others are gathered.
 */
template <typename T>
inline const Computed<T>* DenseOf(const char* from, int64_t stride, int64_t n,
                                  Computed<T>* buffer) {
  if constexpr (std::is_same_v<T, Computed<T>>) {
    if (stride == sizeof(T)) return reinterpret_cast<const T*>(from);
  }
  Gather<T>(from, stride, n, buffer);
  return buffer;
}

/*! \brief out[i] = Op(x[i]), Op::kFunction being the name of a function of the C library. */
template <typename Op, typename T>
void MathUnaryRun(char* const* data, const int64_t* strides, int64_t n) {
  using C = Computed<T>;
  static const VectorUnary<C> function = FindVectorUnary<C>(Op::kFunction);
  if (!function) return UnaryRun<Op, T>(data, strides, n);
  if constexpr (std::is_same_v<T, C>) {
    if (strides[0] == sizeof(T) && strides[1] == sizeof(T)) {
      return function(reinterpret_cast<const T*>(data[1]), reinterpret_cast<T*>(data[0]), n);
    }
  }
  C buffer[kMathChunk];
  for (int64_t begin = 0; begin < n; begin += kMathChunk) {
    const int64_t count = std::min(kMathChunk, n - begin);
    Gather<T>(data[1] + begin * strides[1], strides[1], count, buffer);
    function(buffer, buffer, count);
    Scatter<T>(buffer, count, data[0] + begin * strides[0], strides[0]);
  }
}

/*! \brief out[i] = Op(a[i], b[i]). */
template <typename Op, typename T>
void MathBinaryRun(char* const* data, const int64_t* strides, int64_t n) {
  using C = Computed<T>;
  static const VectorBinary<C> function = FindVectorBinary<C>(Op::kFunction);
  if (!function) return BinaryRun<Op, T>(data, strides, n);
  if constexpr (std::is_same_v<T, C>) {
    if (strides[0] == sizeof(T) && strides[1] == sizeof(T) && strides[2] == sizeof(T)) {
      return function(reinterpret_cast<const T*>(data[1]), reinterpret_cast<const T*>(data[2]),
                      reinterpret_cast<T*>(data[0]), n);
    }
  }
  C buffers[3][kMathChunk];
  const int64_t first = std::min(kMathChunk, n);
  const C* inputs[2];
  for (int i = 0; i < 2; ++i) {
    inputs[i] = DenseOf<T>(data[i + 1], strides[i + 1], first, buffers[i]);
  }
  for (int64_t begin = 0; begin < n; begin += kMathChunk) {
    const int64_t count = std::min(kMathChunk, n - begin);
    for (int i = 0; i < 2; ++i) {
      // One number for all has been gathered already.
      if (begin == 0 || strides[i + 1] == 0) continue;
      inputs[i] =
          DenseOf<T>(data[i + 1] + begin * strides[i + 1], strides[i + 1], count, buffers[i]);
    }
    char* const to = data[0] + begin * strides[0];
    if constexpr (std::is_same_v<T, C>) {
      if (strides[0] == sizeof(T)) {
        function(inputs[0], inputs[1], reinterpret_cast<T*>(to), count);
        continue;
      }
    }
    function(inputs[0], inputs[1], buffers[2], count);
    Scatter<T>(buffers[2], count, to, strides[0]);
  }
}

namespace internal {

template <typename Op, typename... Ts>
void FillMathUnary(LoopTable* table, TypeList<Ts...>) {
  ((table->loops[DTypeIndexOf<Ts>::value] = &MathUnaryRun<Op, Ts>), ...);
}

template <typename Op, typename... Ts>
void FillMathBinary(LoopTable* table, TypeList<Ts...>) {
  ((table->loops[DTypeIndexOf<Ts>::value] = &MathBinaryRun<Op, Ts>), ...);
}

}  // namespace internal

/*! \brief The loops of a function of the C library for floats, and those of Op for other types. */
template <typename Op, typename... Others>
LoopTable MathUnaryLoops() {
  LoopTable table = UnaryLoops<Op, Others...>();
  internal::FillMathUnary<Op>(&table, FloatTypes{});
  return table;
}

template <typename Op, typename... Others>
LoopTable MathBinaryLoops() {
  LoopTable table = BinaryLoops<Op, Others...>();
  internal::FillMathBinary<Op>(&table, FloatTypes{});
  return table;
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_MATH_LOOPS_H_
