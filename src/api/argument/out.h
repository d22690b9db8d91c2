/*!
 * \file out.h
 * \brief The argument `out`: an array of the caller that a result is written to.
 */
#ifndef MXNET_SRC_API_ARGUMENT_OUT_H_
#define MXNET_SRC_API_ARGUMENT_OUT_H_

#include <mxnet/runtime/packed_func.h>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*!
 * \brief ValueError or TypeError where an array of one spec cannot be `out` for a result of
 * another. Extents that may be symbolic fit where they may be equal.
 */
void CheckOutSpec(const MXNetArgValue& out, ShapeView shape, DLDataType dtype,
                  ShapeView result_shape, DLDataType result_dtype);

/*! \brief The array a result goes to by `out`; ValueError or TypeError where it does not fit. */
NDArray CheckedOut(const MXNetArgValue& out, ShapeView shape, DLDataType dtype);

/*! \brief Returns the result, or writes it to `out` where that is not None and returns that. */
void ReturnInto(NDArray result, const MXNetArgValue& out, MXNetRetValue* ret);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_ARGUMENT_OUT_H_
