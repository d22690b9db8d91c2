/*!
 * \file lines.h
 * \brief Arrays of any type whose lines along an axis are sorted.
 */
#ifndef MXNET_SRC_OP_SORT_LINES_H_
#define MXNET_SRC_OP_SORT_LINES_H_

#include "op/kernels/sort/sort.h"
#include "op/tensor/views.h"

namespace mxnet {
namespace op {

/*! \brief Makes bytes of bools 0 or 1, of which those of a foreign array may be others. */
void NormalizeBools(const DLTensor& array);

/*! \brief The lines of a row-major array along an axis. */
SortedLines LinesOf(ShapeView shape, int axis);

/*! \brief Bytes that sorting lines, or their positions, takes beside the output. */
template <bool kPositions>
int64_t ScratchBytes(DLDataType dtype, const SortedLines& lines);

/*! \brief Sorts a row-major array in place; scratch is of ScratchBytes. */
void SortInPlace(const DLTensor& array, const SortedLines& lines, void* scratch);

/*! \brief Positions that sort the lines of a row-major array; scratch is of ScratchBytes. */
void SortPositions(const DLTensor& array, const SortedLines& lines, int64_t* out, void* scratch);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SORT_LINES_H_
