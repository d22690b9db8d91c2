/*!
 * \file views.h
 * \brief Arrays that show the memory of another in a different geometry.
 */
#ifndef MXNET_SRC_API_COMMON_VIEWS_H_
#define MXNET_SRC_API_COMMON_VIEWS_H_

#include <vector>

#include "api/common/strided.h"

namespace mxnet {
namespace op {

/*! \brief After so many views that are made in a row it is asked for signals. */
constexpr int64_t kSignalInterval = 256;

/*! \brief A view of an array from its first element on. */
inline NDArray ViewOf(const NDArray& array, const DimBuffer& shape, const DimBuffer& strides) {
  return array.View(array.data(), shape.view(), strides.view(), array.dtype());
}

/*! \brief A view, made for its caller alone, through which nothing can be written. */
NDArray AsReadOnly(NDArray view);

/*! \brief A view with elements repeated along axes, as broadcasting does to a shape that fits. */
NDArray RepeatTo(const NDArray& array, ShapeView shape);

/*! \brief The same array with its axes in another order. */
NDArray PermuteAxes(const NDArray& array, const DimBuffer& order);

/*! \brief The elements in row-major order in another shape: a view where possible, else a copy. */
NDArray ReshapeTo(const NDArray& array, const DimBuffer& shape);

/*! \brief All elements as one axis, in row-major order. */
NDArray Flattened(const NDArray& array);

/*!
 * \brief A new array with elements of one axis picked by position: result[..., i, ...] is
 * array[..., positions[i], ...]. Every position must be within the axis.
 */
NDArray PickFromAxis(const NDArray& array, int axis, std::vector<int64_t> positions);

/*! \brief A view of the range [start, start + length) of one axis. */
NDArray RangeOfAxis(const NDArray& array, int axis, int64_t start, int64_t length);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_COMMON_VIEWS_H_
