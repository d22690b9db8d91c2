/*!
 * \file view_call.h
 * \brief Calls of operators that give views.
 */
#ifndef MXNET_SRC_API_CALL_VIEW_CALL_H_
#define MXNET_SRC_API_CALL_VIEW_CALL_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/runtime/packed_func.h>

#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*!
 * \brief Calls an operator that has a view. Its first argument may be on any device.
 *
 * Throws ElementsElsewhere where elements of an array of a device have to be copied.
 */
void CallView(const MXNetOperator& op, const MXNetArgs& args, MXNetRetValue* ret);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_VIEW_CALL_H_
