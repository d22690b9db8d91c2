/*!
 * \file dot.h
 * \brief Sums of products of two vectors at any steps.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_DOT_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_DOT_H_

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/gather.h"
#include "op/parallel/parallel.h"
#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {
namespace product {

/*! \brief How products of T are summed: the type of the sum, and one step. */
template <typename T, typename = void>
struct Sum {
  using Type = T;
  static Type Step(Type sum, T a, T b) noexcept { return sum + a * b; }
};
/*! \brief A bool as its byte, which in a foreign array may be other than 0 and 1. */
struct Flag {
  uint8_t byte;
};
template <>
struct Sum<Flag> {
  using Type = Flag;
  static Flag Step(Flag sum, Flag a, Flag b) noexcept {
    return Flag{static_cast<uint8_t>(sum.byte | ((a.byte != 0) & (b.byte != 0)))};
  }
};
template <typename T>
struct Sum<T, std::enable_if_t<kIsHalfType<T>>> {
  using Type = float;
  static float Step(float sum, float a, float b) noexcept { return sum + a * b; }
};
template <typename T>
struct Sum<T, std::enable_if_t<kIsIntType<T>>> {
  using Type = T;
  // Unsigned, and no narrower than int, so that wrapping is defined.
  using Wide = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;
  static MXNET_ALWAYS_INLINE T Step(T sum, T a, T b) noexcept {
    return static_cast<T>(static_cast<Wide>(sum) + static_cast<Wide>(a) * static_cast<Wide>(b));
  }
};
template <typename T>
struct Sum<T, std::enable_if_t<kIsComplexType<T>>> {
  using Type = T;
  // The operator of std::complex looks for infinities behind every NaN, which BLAS does not.
  static T Step(T sum, T a, T b) noexcept {
    return T(sum.real() + (a.real() * b.real() - a.imag() * b.imag()),
             sum.imag() + (a.real() * b.imag() + a.imag() * b.real()));
  }
};

/*! \brief The sum of products of dense integers, of which the order does not matter. */
template <typename T>
struct DotBody {
  static MXNET_ALWAYS_INLINE T Run(const T* a, const T* b, int64_t n) {
    T sum{};
    for (int64_t i = 0; i < n; ++i) sum = Sum<T>::Step(sum, a[i], b[i]);
    return sum;
  }
};

/*! \brief Elements of a vector as they are where they are dense, and else brought together. */
template <typename T>
const T* DenseChunk(const T* from, int64_t step, int64_t n, T* room) {
  if (step == 1) return from;
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  GatherStrided(reinterpret_cast<const char*>(from), step * kItem, kItem, n,
                reinterpret_cast<char*>(room));
  return room;
}

/*! \brief Elements of vectors that are not dense which are brought together at a time, at most. */
template <typename T>
constexpr int64_t kDotChunk = 4096 / sizeof(T);

/*! \brief Of long elements a vector has so few that bringing them together takes more than it
 * saves.
 */
template <typename T>
constexpr bool kSumsWhereTheyLie = sizeof(T) == 8 && !kIsComplexType<T>;

/*! \brief The sum of products of elements that stay where they lie. */
template <typename T>
struct StridedDotBody {
  static MXNET_ALWAYS_INLINE T Run(const T* x, int64_t x_step, const T* y, int64_t y_step,
                                   int64_t n) {
    // Steps that the compiler knows it can vectorize.
    using Two = std::integral_constant<int64_t, 2>;
    if (x_step == 2 && y_step == 2) return SumOf(x, Two(), y, Two(), n);
    return SumOf(x, x_step, y, y_step, n);
  }

 private:
  template <typename Step>
  static MXNET_ALWAYS_INLINE T SumOf(const T* x, Step x_step, const T* y, Step y_step, int64_t n) {
    constexpr int64_t kSums = 8;
    T sums[kSums] = {};
    int64_t i = 0;
    for (; i + kSums <= n; i += kSums) {
      const T* a = x + i * x_step;
      const T* b = y + i * y_step;
      for (int64_t l = 0; l < kSums; ++l) {
        sums[l] = Sum<T>::Step(sums[l], a[l * x_step], b[l * y_step]);
      }
    }
    T rest(0);
    for (; i < n; ++i) rest = Sum<T>::Step(rest, x[i * x_step], y[i * y_step]);
    for (int64_t half = kSums / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half; ++l) sums[l] = Sum<T>::Step(sums[l], sums[l + half], T(1));
    }
    return Sum<T>::Step(rest, sums[0], T(1));
  }
};

/*! \brief A sum of products; dense(x, y, n) is that of dense vectors, of which `at_once` elements
 * are brought together at a time where they lie apart. */
template <typename T, typename Dense>
T DotOf(const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t n,
        [[maybe_unused]] int64_t at_once, const Dense& dense) {
  if (x_step == 1 && y_step == 1) return dense(x, y, n);
  if constexpr (kSumsWhereTheyLie<T>) {
    static const auto run = ForWideCpu<StridedDotBody<T>>();
    return run(x, x_step, y, y_step, n);
  } else {
    alignas(64) T room[2][kDotChunk<T>];
    T sum(0);
    for (int64_t begin = 0; begin < n; begin += at_once) {
      const int64_t count = std::min(at_once, n - begin);
      sum += dense(DenseChunk(x + begin * x_step, x_step, count, room[0]),
                   DenseChunk(y + begin * y_step, y_step, count, room[1]), count);
    }
    return sum;
  }
}

/*!
 * \brief A sum of products in blocks, so short that OpenBLAS computes each on the calling thread:
 * pieces of a loop cannot share the threads that they are done by.
 */
template <typename T, typename Dense>
T DotInBlocks(const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t n,
              const Dense& dense) {
  constexpr int64_t kBlock = 8192;
  const int64_t step = std::max(std::abs(x_step), std::abs(y_step));
  const int64_t at_once = GatheredAtOnce(n * step * static_cast<int64_t>(sizeof(T)), kDotChunk<T>);
  if (n <= kBlock) return DotOf(x, x_step, y, y_step, n, at_once, dense);
  std::vector<T> sums(static_cast<size_t>((n + kBlock - 1) / kBlock));
  InParallel(static_cast<int64_t>(sums.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * kBlock;
      sums[static_cast<size_t>(i)] = DotOf(x + first * x_step, x_step, y + first * y_step, y_step,
                                           std::min(kBlock, n - first), at_once, dense);
    }
  });
  T total(0);
  for (const T sum : sums) total = Sum<T>::Step(total, sum, T(1));
  return total;
}

}  // namespace product
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_PRODUCT_DOT_H_
