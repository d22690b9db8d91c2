/*!
 * \file softmax.h
 * \brief The softmax of an array, or its logarithm.
 */
#ifndef MXNET_SRC_OP_NEURAL_SOFTMAX_H_
#define MXNET_SRC_OP_NEURAL_SOFTMAX_H_

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief Of x/temperature along an axis, into row-major floats of the shape of x. */
void SoftmaxInto(bool log, double temperature, const DLTensor& x, int axis, const DLTensor& out);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_NEURAL_SOFTMAX_H_
