/*!
 * \file clip.h
 * \brief Elements limited to a range.
 */
#ifndef MXNET_SRC_OP_ELEMENTWISE_CLIP_H_
#define MXNET_SRC_OP_ELEMENTWISE_CLIP_H_

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief Clips to limits of one type with the array, of which either may not be given: ndim -1. */
void ClipInto(const DLTensor& a, const DLTensor& low, const DLTensor& high, const DLTensor& out);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_ELEMENTWISE_CLIP_H_
