/*!
 * \file contract.h
 * \brief Sums of products over any axes of two arrays.
 */
#ifndef MXNET_SRC_API_COMMON_CONTRACT_H_
#define MXNET_SRC_API_COMMON_CONTRACT_H_

#include "api/common/operand.h"

namespace mxnet {
namespace op {

/*!
 * \brief Sums products of a and b over pairs of axes, as numpy.tensordot does.
 *
 * a_axes and b_axes are of one length and counted from the front, no axis twice. The result has the
 * other axes of a, then those of b. ValueError "shape-mismatch for sum" where extents differ.
 */
NDArray Contract(Operand* a, ShapeView a_axes, Operand* b, ShapeView b_axes);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_COMMON_CONTRACT_H_
