/*!
 * \file views.h
 * \brief Arrays that show the memory of another in a different layout.
 */
#ifndef MXNET_SRC_OP_TENSOR_VIEWS_H_
#define MXNET_SRC_OP_TENSOR_VIEWS_H_

#include <vector>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief After so many views that are made in a row it is asked for signals. */
constexpr int64_t kSignalInterval = 256;

/*! \brief A view of an array from its first element on. */
inline NDArray ViewOf(const NDArray& array, const DimBuffer& shape, const DimBuffer& strides) {
  return array.View(array.data(), shape.view(), strides.view(), array.dtype());
}

/*!
 * \brief Writes strides with which the elements of a tensor, which has strides, in row-major order
 * show a shape of as many elements; false where no strides can.
 */
bool StridesForShape(const DLTensor& tensor, ShapeView shape, int64_t* strides);

/*! \brief Copies elements, in row-major order, to a row-major tensor of as many and of one type. */
void CopyRowMajor(const DLTensor& from, const DLTensor& to);

/*! \brief A view, made for its caller alone, through which nothing can be written. */
NDArray AsReadOnly(NDArray view);

/*! \brief A view with elements repeated along axes, as broadcasting does to a shape that fits. */
NDArray RepeatTo(const NDArray& array, ShapeView shape);

/*! \brief The elements in row-major order in another shape: a view where possible, else a copy. */
NDArray ReshapeTo(const NDArray& array, const DimBuffer& shape);

/*! \brief All elements as one axis, in row-major order. */
NDArray Flattened(const NDArray& array);

/*! \brief A view of the range [start, start + length) of one axis. */
NDArray RangeOfAxis(const NDArray& array, int axis, int64_t start, int64_t length);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_TENSOR_VIEWS_H_
