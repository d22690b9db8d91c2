/*!
 * \file power.h
 * \brief The two ways of power.
 */
#ifndef MXNET_SRC_OP_ELEMENTWISE_POWER_H_
#define MXNET_SRC_OP_ELEMENTWISE_POWER_H_

#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {

/*! \brief With an exponent for each element, and with one for all, where 0.5 is the square root. */
extern const BinaryOp kPower;
extern const BinaryOp kPowerOfOne;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_ELEMENTWISE_POWER_H_
