/*!
 * \file diagonal.h
 * \brief Diagonals of matrices.
 */
#ifndef MXNET_SRC_OP_VIEW_DIAGONAL_H_
#define MXNET_SRC_OP_VIEW_DIAGONAL_H_

#include <mxnet/op/operator.h>

#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*! \brief Which diagonals of which matrices of an array. */
struct DiagonalAttributes {
  int64_t offset{0};
  Axis axis1;
  Axis axis2;
};

/*! \brief The shape of the diagonals of an array, the axis that runs along them last. */
void DiagonalShape(ShapeView shape, const DiagonalAttributes& attributes, DimBuffer* out);

/*! \brief Writes strides and the offset in elements with which an array shows its diagonals. */
void DiagonalLayout(const DLTensor& array, const DiagonalAttributes& attributes, int64_t* strides,
                    int64_t* offset);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_VIEW_DIAGONAL_H_
