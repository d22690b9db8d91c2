/*!
 * \file blas.h
 * \brief The BLAS routines in use, overloaded by element type.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_H_

#include "op/kernels/product/blas_library.h"
#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {
namespace blas {

/*! \brief Element types that BLAS computes with. */
template <typename T>
constexpr bool kSupports = std::is_floating_point_v<T> || kIsComplexType<T>;

/*! \brief c = op(a) op(b), row-major. */
inline void Gemm(CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b, blasint m, blasint n, blasint k,
                 const float* a, blasint lda, const float* b, blasint ldb, float* c) {
  Library::WithThreads().sgemm(CblasRowMajor, trans_a, trans_b, m, n, k, 1, a, lda, b, ldb, 0, c,
                               n);
}
inline void Gemm(CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b, blasint m, blasint n, blasint k,
                 const double* a, blasint lda, const double* b, blasint ldb, double* c) {
  Library::WithThreads().dgemm(CblasRowMajor, trans_a, trans_b, m, n, k, 1, a, lda, b, ldb, 0, c,
                               n);
}
inline void Gemm(CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b, blasint m, blasint n, blasint k,
                 const Complex64* a, blasint lda, const Complex64* b, blasint ldb, Complex64* c) {
  const Complex64 one(1), zero(0);
  Library::WithThreads().cgemm(CblasRowMajor, trans_a, trans_b, m, n, k, &one, a, lda, b, ldb,
                               &zero, c, n);
}
inline void Gemm(CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b, blasint m, blasint n, blasint k,
                 const Complex128* a, blasint lda, const Complex128* b, blasint ldb,
                 Complex128* c) {
  const Complex128 one(1), zero(0);
  Library::WithThreads().zgemm(CblasRowMajor, trans_a, trans_b, m, n, k, &one, a, lda, b, ldb,
                               &zero, c, n);
}

/*! \brief y = op(a) x with a of m x n elements, row-major. */
inline void Gemv(CBLAS_TRANSPOSE trans, blasint m, blasint n, const float* a, blasint lda,
                 const float* x, blasint incx, float* y) {
  Library::WithThreads().sgemv(CblasRowMajor, trans, m, n, 1, a, lda, x, incx, 0, y, 1);
}
inline void Gemv(CBLAS_TRANSPOSE trans, blasint m, blasint n, const double* a, blasint lda,
                 const double* x, blasint incx, double* y) {
  Library::WithThreads().dgemv(CblasRowMajor, trans, m, n, 1, a, lda, x, incx, 0, y, 1);
}
inline void Gemv(CBLAS_TRANSPOSE trans, blasint m, blasint n, const Complex64* a, blasint lda,
                 const Complex64* x, blasint incx, Complex64* y) {
  const Complex64 one(1), zero(0);
  Library::WithThreads().cgemv(CblasRowMajor, trans, m, n, &one, a, lda, x, incx, &zero, y, 1);
}
inline void Gemv(CBLAS_TRANSPOSE trans, blasint m, blasint n, const Complex128* a, blasint lda,
                 const Complex128* x, blasint incx, Complex128* y) {
  const Complex128 one(1), zero(0);
  Library::WithThreads().zgemv(CblasRowMajor, trans, m, n, &one, a, lda, x, incx, &zero, y, 1);
}

/*! \brief Sum of products, without conjugation. */
inline void Dot(blasint n, const float* x, blasint incx, const float* y, blasint incy, float* out) {
  *out = Library::Get().sdot(n, x, incx, y, incy);
}
inline void Dot(blasint n, const double* x, blasint incx, const double* y, blasint incy,
                double* out) {
  *out = Library::Get().ddot(n, x, incx, y, incy);
}
inline void Dot(blasint n, const Complex64* x, blasint incx, const Complex64* y, blasint incy,
                Complex64* out) {
  Library::Get().cdotu_sub(n, x, incx, y, incy, out);
}
inline void Dot(blasint n, const Complex128* x, blasint incx, const Complex128* y, blasint incy,
                Complex128* out) {
  Library::Get().zdotu_sub(n, x, incx, y, incy, out);
}

/*! \brief The upper triangle of c = op(a) op(a)^T, n x n, row-major. */
inline void Syrk(CBLAS_TRANSPOSE trans, blasint n, blasint k, const float* a, blasint lda,
                 float* c) {
  Library::WithThreads().ssyrk(CblasRowMajor, CblasUpper, trans, n, k, 1, a, lda, 0, c, n);
}
inline void Syrk(CBLAS_TRANSPOSE trans, blasint n, blasint k, const double* a, blasint lda,
                 double* c) {
  Library::WithThreads().dsyrk(CblasRowMajor, CblasUpper, trans, n, k, 1, a, lda, 0, c, n);
}

}  // namespace blas
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_H_
