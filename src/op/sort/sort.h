/*!
 * \file sort.h
 * \brief Sorted arrays, and the different elements of one, without the description of an operator.
 */
#ifndef MXNET_SRC_OP_SORT_SORT_H_
#define MXNET_SRC_OP_SORT_SORT_H_

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*!
 * \brief Sorts along the last axis into a new array, or finds the positions that would. The array
 * is row-major, has an axis, and is not of bools.
 */
template <bool kPositions>
NDArray SortedLastAxis(const DLTensor& a);

/*! \brief Sorts an array along an axis where it is. */
void SortWhereItIs(const DLTensor& array, int axis);

/*! \brief The different elements, sorted. */
NDArray Unique(const DLTensor& array);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SORT_SORT_H_
