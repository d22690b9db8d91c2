/*!
 * \file round_decimals.h
 * \brief Numbers rounded to decimals.
 */
#ifndef MXNET_SRC_OP_ELEMENTWISE_ROUND_DECIMALS_H_
#define MXNET_SRC_OP_ELEMENTWISE_ROUND_DECIMALS_H_

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief Rounds numbers into row-major ones of the same shape. */
void RoundInto(const DLTensor& x, int64_t decimals, const DLTensor& out);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_ELEMENTWISE_ROUND_DECIMALS_H_
