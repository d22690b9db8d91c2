/*!
 * \file blas_gemm.h
 * \brief Products of matrices by BLAS.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_GEMM_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_GEMM_H_

#include <algorithm>
#include <memory>

#include "op/kernels/product/blas.h"
#include "op/kernels/product/dot.h"
#include "op/kernels/product/plain_gemm.h"

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

template <typename T>
void BlasGemm(const Operands<T>& p, T* c) {
  if (p.m == 1 && p.n == 1) {
    *c = DotInBlocks(p.a, p.a_column, p.b, p.b_row, p.k, [](const T* x, const T* y, int64_t n) {
      T sum;
      blas::Dot(static_cast<blasint>(n), x, 1, y, 1, &sum);
      return sum;
    });
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
