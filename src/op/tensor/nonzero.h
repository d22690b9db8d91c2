/*!
 * \file nonzero.h
 * \brief Positions of the elements that are not zero.
 */
#ifndef MXNET_SRC_OP_TENSOR_NONZERO_H_
#define MXNET_SRC_OP_TENSOR_NONZERO_H_

#include <vector>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief The elements as a dense span of bools: not zero, or so. May share a bool array. */
NDArray AsMask(const DLTensor& tensor);
/*! \brief The same, which an array of bools may be itself. */
NDArray AsMask(const NDArray& array);

/*! \brief Row-major positions of the true elements of a dense mask, an int64 array of one axis. */
NDArray FlatNonzero(const NDArray& mask);
/*! \brief The same of an array of one axis and any type. */
NDArray LineNonzero(const NDArray& array);

/*! \brief For each axis of shape, the index along it of ascending flat row-major positions. */
std::vector<NDArray> UnravelPositions(const NDArray& positions, ShapeView shape);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_TENSOR_NONZERO_H_
