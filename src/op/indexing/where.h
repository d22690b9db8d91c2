/*!
 * \file where.h
 * \brief Elements by condition, and where one holds.
 */
#ifndef MXNET_SRC_OP_INDEXING_WHERE_H_
#define MXNET_SRC_OP_INDEXING_WHERE_H_

#include <mxnet/runtime/container/array.h>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief Elements of x where the condition, of bools, holds, of y elsewhere. x, y and out are of
 * one type, and the inputs broadcast to the shape of out. */
void Choose(const DLTensor& condition, const DLTensor& x, const DLTensor& y, const DLTensor& out);

/*! \brief The indices of the elements that are not zero, an array an axis; ValueError without axes.
 */
Tuple Nonzero(const NDArray& array);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_INDEXING_WHERE_H_
