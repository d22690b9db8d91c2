/*!
 * \file plain_gemm.h
 * \brief Products of matrices of any type: loops that are vector operations where they can be.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_PLAIN_GEMM_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_PLAIN_GEMM_H_

#include <algorithm>
#include <memory>

#include "op/kernels/cpu.h"
#include "op/kernels/product/dot.h"
#include "op/parallel/parallel.h"
#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {
namespace product {

/*! \brief Rows of b that stay in the first cache while all rows of a go over them. */
constexpr int64_t kBlockRows = 64;
constexpr int64_t kBlockColumns = 1024;

template <typename T>
struct Operands {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_row, b_column;
};

/*! \brief One sum an element of c; for few columns. */
template <typename T>
void SumElements(const Operands<T>& p, T* c) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      const T* a = p.a + i * p.a_row;
      const T* b = p.b + j * p.b_column;
      typename Sum<T>::Type sum{};
      for (int64_t l = 0; l < p.k; ++l) {
        sum = Sum<T>::Step(sum, *a, *b);
        a += p.a_column;
        b += p.b_row;
      }
      c[i * p.n + j] = T(sum);
    }
  }
}

/*! \brief A column of c, of integers: some elements are brought together at a time. */
template <typename T>
void SumColumn(const Operands<T>& p, T* c) {
  static const auto dot = ForWideCpu<DotBody<T>>();
  if constexpr (kSumsWhereTheyLie<T>) {
    if (p.m == 1) {
      *c = DotInBlocks(p.a, p.a_column, p.b, p.b_row, p.k, dot);
      return;
    }
  }
  constexpr int64_t kItem = sizeof(T);
  constexpr int64_t kMost = kDotChunk<T>;
  alignas(64) T room[2][kMost];
  std::fill_n(c, p.m, T{});
  const int64_t at_once = GatheredAtOnce(p.k * kItem * std::max(p.b_row, p.a_column), kMost);
  for (int64_t begin = 0; begin < p.k; begin += at_once) {
    const int64_t n = std::min(at_once, p.k - begin);
    const T* b = DenseChunk(p.b + begin * p.b_row, p.b_row, n, room[0]);
    for (int64_t i = 0; i < p.m; ++i) {
      const T* a = DenseChunk(p.a + i * p.a_row + begin * p.a_column, p.a_column, n, room[1]);
      c[i] = Sum<T>::Step(c[i], dot(a, b, n), T{1});
    }
  }
}

/*! \brief A row of numbers, each times a factor. */
template <typename T>
struct ScaledRow {
  static MXNET_ALWAYS_INLINE void Run(const T* row, T factor, int64_t n, T* out) {
    for (int64_t j = 0; j < n; ++j) out[j] = Sum<T>::Step(T{}, factor, row[j]);
  }
};

/*! \brief c of sums of one product, of integers and a dense row of b: each row is written once. */
template <typename T>
void OuterProduct(const Operands<T>& p, T* c) {
  static const auto scale = ForWideCpu<ScaledRow<T>>();
  const auto rows = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) scale(p.b, p.a[i * p.a_row], p.n, c + i * p.n);
  };
  if (p.m * p.n < kFewForThreads) return rows(0, p.m);
  InParallel(p.m, std::max<int64_t>(1, kElementsTimed / p.n), rows);
}

/*! \brief Adds rows of b, each times a factor, to a part of a row of c. */
template <typename T>
struct AddRows {
  static MXNET_ALWAYS_INLINE void Run(const T* factors, int64_t factor_step, const T* rows,
                                      int64_t row_step, int64_t count, int64_t n, T* out) {
    int64_t l = 0;
    if constexpr (kIsIntType<T>) {
      // Several at a time, of which the order does not matter.
      for (; l + 4 <= count; l += 4) {
        const T* row[4];
        T factor[4];
        for (int i = 0; i < 4; ++i) {
          row[i] = rows + (l + i) * row_step;
          factor[i] = factors[(l + i) * factor_step];
        }
#pragma GCC ivdep
        for (int64_t j = 0; j < n; ++j) {
          T sum = out[j];
          for (int i = 0; i < 4; ++i) sum = Sum<T>::Step(sum, factor[i], row[i][j]);
          out[j] = sum;
        }
      }
    }
    for (; l < count; ++l) {
      const T factor = factors[l * factor_step];
      const T* row = rows + l * row_step;
      for (int64_t j = 0; j < n; ++j) out[j] = T(Sum<T>::Step(out[j], factor, row[j]));
    }
  }
};

/*! \brief AddRows as this processor runs it. */
template <typename T>
auto RowAdder() {
  // Of floats AVX-512 would round products and sums once.
  if constexpr (kIsIntType<T>) {
    static const auto wide = ForWideCpu<AddRows<T>>();
    return wide;
  } else {
    return [](auto... arguments) { AddRows<T>::Run(arguments...); };
  }
}

/*! \brief One row of c at a time from rows of b, which must be dense; the inner loop is a vector
 * operation. */
template <typename T>
void SumRows(const Operands<T>& p, T* c) {
  const auto add = RowAdder<T>();
  std::fill_n(c, p.m * p.n, T{});
  for (int64_t first = 0; first < p.n; first += kBlockColumns) {
    const int64_t columns = std::min(kBlockColumns, p.n - first);
    for (int64_t l0 = 0; l0 < p.k; l0 += kBlockRows) {
      const int64_t l1 = std::min(p.k, l0 + kBlockRows);
      for (int64_t i = 0; i < p.m; ++i) {
        add(p.a + i * p.a_row + l0 * p.a_column, p.a_column, p.b + l0 * p.b_row + first, p.b_row,
            l1 - l0, columns, c + i * p.n + first);
      }
    }
  }
}

/*! \brief Uninitialized room for so many elements. */
template <typename T>
std::unique_ptr<T[]> Room(int64_t rows, int64_t columns) {
  return std::unique_ptr<T[]>(new T[static_cast<size_t>(rows * columns)]);
}

/*! \brief A dense row-major copy of a matrix, as elements of another type or the same. */
template <typename To, typename From>
std::unique_ptr<To[]> Pack(const From* data, int64_t rows, int64_t columns, int64_t row_stride,
                           int64_t column_stride) {
  auto packed = Room<To>(rows, columns);
  // In tiles, so that a transposing copy does not touch a new cache line with every element.
  constexpr int64_t kTile = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
    for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
      for (int64_t i = i0; i < std::min(rows, i0 + kTile); ++i) {
        for (int64_t j = j0; j < std::min(columns, j0 + kTile); ++j) {
          packed[static_cast<size_t>(i * columns + j)] =
              static_cast<To>(data[i * row_stride + j * column_stride]);
        }
      }
    }
  }
  return packed;
}

template <typename T>
void PlainGemm(Operands<T> p, T* c) {
  std::unique_ptr<T[]> packed;
  if (p.b_column != 1) {
    packed = Pack<T>(p.b, p.k, p.n, p.b_row, p.b_column);
    p.b = packed.get();
    p.b_row = p.n;
    p.b_column = 1;
  }
  if constexpr (kIsIntType<T>) {
    if (p.k == 1) return OuterProduct(p, c);
  }
  SumRows(p, c);
}

}  // namespace product
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_PRODUCT_PLAIN_GEMM_H_
