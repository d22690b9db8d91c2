/*!
 * \file gemm.h
 * \brief Products of matrices whose rows and columns lie at any stride.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_GEMM_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_GEMM_H_

#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*! \brief A matrix in memory; strides count elements and may be 0 or negative. */
struct Matrix {
  const void* data;
  int64_t row_stride;
  int64_t column_stride;
};

/*!
 * \brief c = a b, of m x k and k x n elements of dtype; c is row-major and is overwritten.
 *
 * float16 and bfloat16 are summed in float32; a sum of bools is their or; integers wrap. c must not
 * overlap a or b. k = 0 gives zeros.
 */
void Gemm(DLDataType dtype, int64_t m, int64_t n, int64_t k, const Matrix& a, const Matrix& b,
          void* c);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_PRODUCT_GEMM_H_
