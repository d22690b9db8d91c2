/*!
 * \file nested.h
 * \brief Arrays of nested Python sequences.
 */
#ifndef MXNET_SRC_API_COMMON_NESTED_H_
#define MXNET_SRC_API_COMMON_NESTED_H_

#include <mxnet/runtime/packed_func.h>

#include <optional>

#include "api/common/dispatch.h"

namespace mxnet {
namespace op {

/*!
 * \brief A new array of a tuple or list, of dtype or of the type its elements ask for.
 *
 * ValueError for ragged nesting, TypeError for elements that are neither numbers nor arrays.
 */
NDArray ArrayFromNested(MXNetArgValue arg, std::optional<DLDataType> dtype);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_COMMON_NESTED_H_
