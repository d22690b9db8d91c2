/*!
 * \file blas_gemm.h
 * \brief Products of matrices by BLAS.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_GEMM_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_GEMM_H_

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "op/kernels/product/blas.h"
#include "op/kernels/product/plain_gemm.h"
#include "op/parallel/parallel.h"

namespace mxnet {
namespace op {
namespace product {

/*! \brief A matrix as BLAS takes it, packed where its strides do not allow that. */
template <typename T>
struct BlasMatrix {
  BlasMatrix(const T* from, int64_t rows, int64_t columns, int64_t row_stride,
             int64_t column_stride) {
    data = from;
    if (column_stride == 1 && Fits(row_stride, columns)) {
      ld = static_cast<blasint>(row_stride);
    } else if (row_stride == 1 && Fits(column_stride, rows)) {
      trans = CblasTrans;
      ld = static_cast<blasint>(column_stride);
    } else {
      packed = Pack<T>(from, rows, columns, row_stride, column_stride);
      data = packed.get();
      ld = static_cast<blasint>(columns);
    }
  }

  static bool Fits(int64_t stride, int64_t extent) {
    return stride >= std::max<int64_t>(1, extent) && stride <= INT32_MAX;
  }

  const T* data;
  CBLAS_TRANSPOSE trans{CblasNoTrans};
  blasint ld;
  std::unique_ptr<T[]> packed;
};

/*! \brief A vector as BLAS takes it; BLAS reads negative strides from the other end. */
template <typename T>
struct BlasVector {
  BlasVector(const T* from, int64_t size, int64_t stride) : data(from) {
    if (stride > 0 && stride <= INT32_MAX) {
      increment = static_cast<blasint>(stride);
    } else {
      packed = Pack<T>(from, size, 1, stride, 0);
      data = packed.get();
      increment = 1;
    }
  }

  const T* data;
  blasint increment;
  std::unique_ptr<T[]> packed;
};

/*! \brief y = a x for a matrix of rows x columns elements. */
template <typename T>
void MatrixVector(const T* a, int64_t rows, int64_t columns, int64_t row_stride,
                  int64_t column_stride, const T* x, int64_t x_stride, T* y) {
  const BlasMatrix<T> matrix(a, rows, columns, row_stride, column_stride);
  const BlasVector<T> vector(x, columns, x_stride);
  const bool flipped = matrix.trans == CblasTrans;
  blas::Gemv(matrix.trans, static_cast<blasint>(flipped ? columns : rows),
             static_cast<blasint>(flipped ? rows : columns), matrix.data, matrix.ld, vector.data,
             vector.increment, y);
}

/*! \brief Whether b is the transpose of a, in which case only half of c need be computed. */
template <typename T>
bool IsProductWithTranspose(const Operands<T>& p) {
  return p.a == p.b && p.m == p.n && p.a_row == p.b_column && p.a_column == p.b_row;
}

template <typename T>
void SymmetricGemm(const Operands<T>& p, T* c) {
  const BlasMatrix<T> a(p.a, p.m, p.k, p.a_row, p.a_column);
  blas::Syrk(a.trans, static_cast<blasint>(p.n), static_cast<blasint>(p.k), a.data, a.ld, c);
  for (int64_t i = 1; i < p.n; ++i) {
    for (int64_t j = 0; j < i; ++j) c[i * p.n + j] = c[j * p.n + i];
  }
}

/*! \brief Elements of vectors that are not dense which are brought together at a time, at most. */
template <typename T>
constexpr int64_t kDotChunk = 4096 / sizeof(T);

/*! \brief A sum of products; of vectors that are not dense some are brought together at a time. */
template <typename T>
T DotOf(const BlasVector<T>& a, const BlasVector<T>& b, int64_t begin, int64_t end,
        int64_t at_once) {
  const auto dot = [](int64_t n, const T* x, blasint x_step, const T* y, blasint y_step) {
    T sum;
    blas::Dot(static_cast<blasint>(n), x, x_step, y, y_step, &sum);
    return sum;
  };
  const T* x = a.data + begin * a.increment;
  const T* y = b.data + begin * b.increment;
  if (a.increment == 1 && b.increment == 1) return dot(end - begin, x, 1, y, 1);
  alignas(64) T room[2][kDotChunk<T>];
  T sum(0);
  for (; begin < end; begin += at_once, x += at_once * a.increment, y += at_once * b.increment) {
    const int64_t n = std::min(at_once, end - begin);
    sum += dot(n, DenseChunk(x, a.increment, n, room[0]), 1, DenseChunk(y, b.increment, n, room[1]),
               1);
  }
  return sum;
}

/*!
 * \brief A sum of products in blocks, so short that OpenBLAS computes each on the calling thread:
 * pieces of a loop cannot share the threads that they are done by.
 */
template <typename T>
T DotInBlocks(const BlasVector<T>& a, const BlasVector<T>& b, int64_t n) {
  constexpr int64_t kBlock = 8192;
  const int64_t step = std::max(a.increment, b.increment) * static_cast<int64_t>(sizeof(T));
  const int64_t at_once = GatheredAtOnce(n * step, kDotChunk<T>);
  if (n <= kBlock) return DotOf(a, b, 0, n, at_once);
  std::vector<T> sums(static_cast<size_t>((n + kBlock - 1) / kBlock));
  InParallel(static_cast<int64_t>(sums.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sums[static_cast<size_t>(i)] =
          DotOf(a, b, i * kBlock, std::min(n, (i + 1) * kBlock), at_once);
    }
  });
  return std::accumulate(sums.begin(), sums.end(), T(0));
}

template <typename T>
void BlasGemm(const Operands<T>& p, T* c) {
  if (p.m == 1 && p.n == 1) {
    const BlasVector<T> a(p.a, p.k, p.a_column);
    const BlasVector<T> b(p.b, p.k, p.b_row);
    *c = DotInBlocks(a, b, p.k);
  } else if (p.n == 1) {
    MatrixVector(p.a, p.m, p.k, p.a_row, p.a_column, p.b, p.b_row, c);
  } else if (p.m == 1) {
    MatrixVector(p.b, p.n, p.k, p.b_column, p.b_row, p.a, p.a_column, c);
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (IsProductWithTranspose(p)) return SymmetricGemm(p, c);
    }
    const BlasMatrix<T> a(p.a, p.m, p.k, p.a_row, p.a_column);
    const BlasMatrix<T> b(p.b, p.k, p.n, p.b_row, p.b_column);
    blas::Gemm(a.trans, b.trans, static_cast<blasint>(p.m), static_cast<blasint>(p.n),
               static_cast<blasint>(p.k), a.data, a.ld, b.data, b.ld, c);
  }
}

}  // namespace product
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_GEMM_H_
