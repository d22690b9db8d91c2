/*!
 * \file np_init_op.h
 * \brief Filling new arrays.
 */
#ifndef MXNET_SRC_API_OPERATOR_NUMPY_NP_INIT_OP_H_
#define MXNET_SRC_API_OPERATOR_NUMPY_NP_INIT_OP_H_

#include "api/common/nested.h"

namespace mxnet {
namespace op {

/*! \brief Sets every element of a row-major array to the element at `value`. */
void FillElements(const NDArray& array, const void* value);

/*! \brief A new array of ones. */
NDArray Ones(ShapeView shape, DLDataType dtype, Context ctx);

/*!
 * \brief A new array filled with a number, or with an array or nested sequence that broadcasts.
 *
 * Where dtype is not given it is that of the value. ValueError where the value does not broadcast.
 */
NDArray Full(ShapeView shape, const MXNetArgValue& value, std::optional<DLDataType> dtype,
             Context ctx);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_OPERATOR_NUMPY_NP_INIT_OP_H_
