/*!
 * \file contract.h
 * \brief Sums of products over any axes of two arrays.
 */
#ifndef MXNET_SRC_OP_PRODUCT_CONTRACT_H_
#define MXNET_SRC_OP_PRODUCT_CONTRACT_H_

#include <mxnet/op/operator.h>

namespace mxnet {
namespace op {

/*!
 * \brief What sums of products over pairs of axes give, as numpy.tensordot has it.
 *
 * a_axes and b_axes are of one length and counted from the front, no axis twice. The result has the
 * other axes of a, then those of b. ValueError "shape-mismatch for sum" where extents differ.
 */
void InferContract(const MXNetTensorSpec& a, runtime::ShapeView a_axes, const MXNetTensorSpec& b,
                   runtime::ShapeView b_axes, MXNetTensorSpec* out);

/*! \brief Multiplications and additions of such sums, which may be symbolic. */
int64_t ContractOperations(const MXNetTensorSpec& a, const MXNetTensorSpec& b,
                           runtime::ShapeView b_axes);

/*! \brief Sums the products; all of one type, out row-major and apart from a and b. */
void Contract(const DLTensor& a, runtime::ShapeView a_axes, const DLTensor& b,
              runtime::ShapeView b_axes, const DLTensor& out);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_PRODUCT_CONTRACT_H_
