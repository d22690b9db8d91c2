/*!
 * \file mkl.h
 * \brief Products of matrices by the MKL that another library has brought into the process.
 */
#ifndef MXNET_SRC_GRAPH_MKL_H_
#define MXNET_SRC_GRAPH_MKL_H_

#include "op/kernels/product/blas_gemm.h"

namespace mxnet {
namespace graph {

/*! \brief MKL, whose products of large matrices are the fastest on Intel's processors. */
class Mkl {
 public:
  /*! \brief sgemm of Fortran, of 32-bit integers. */
  using Sgemm = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n,
                         const int* k, const float* alpha, const float* a, const int* lda,
                         const float* b, const int* ldb, const float* beta, float* c,
                         const int* ldc);
  /*! \brief Sets how many threads the calling one may take, 0 for the usual number, and returns
   * what it was. */
  using SetThreads = int (*)(int count);

  /*! \brief Tells of it. */
  static void Use(Sgemm sgemm, SetThreads set_threads) noexcept;

  static bool IsThere() noexcept;

  /*! \brief Whether it is there, and the processor is Intel's. */
  static bool IsWorthIt() noexcept;

  /*! \brief c = alpha a b + beta c, row-major, on the threads of the pool. */
  static void Gemm(const op::product::BlasMatrix<float>& a, const op::product::BlasMatrix<float>& b,
                   const op::product::Operands<float>& p, float alpha, float beta, float* c);
};

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_MKL_H_
