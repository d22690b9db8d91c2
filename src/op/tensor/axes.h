/*!
 * \file axes.h
 * \brief Axes counted from the front, and shapes that broadcast.
 */
#ifndef MXNET_SRC_OP_TENSOR_AXES_H_
#define MXNET_SRC_OP_TENSOR_AXES_H_

#include <mxnet/op/dims.h>

#include <string>

#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*! \brief ValueError for more axes than an array can have. */
void CheckNdim(int ndim);

/*! \brief An axis counted from the front; AxisError where an array of ndim axes has none such. */
int NormalizeAxis(int64_t axis, int ndim, const char* prefix = "");

/*! \brief Several axes counted from the front; ValueError "repeated axis" where two are the same.
 */
void NormalizeAxes(ShapeView axes, int ndim, DimBuffer* out, const char* repeated);

/*! \brief A shape as NumPy's messages write it, "(2,3)". */
std::string CompactShape(ShapeView shape);

/*!
 * \brief ValueError "could not broadcast input array ..." unless an assignment of values of shape
 * `from` to a shape `to` is possible, or not known to be impossible.
 */
void CheckBroadcastInto(ShapeView from, ShapeView to);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_TENSOR_AXES_H_
