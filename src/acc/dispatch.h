/*!
 * \file dispatch.h
 * \brief Calls of operators that have to do with an accelerator.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_H_
#define MXNET_SRC_ACC_DISPATCH_H_

#include <mxnet/runtime/data_type.h>

#include "acc/status.h"
#include "runtime/devices.h"

namespace mxnet {
namespace acc {

/*!
 * \brief Where a call's arrays are, or where it is to make them; the CPU where no accelerator has
 * to do with it.
 */
Context FindContext(const FunctionObject& func, const CallArguments& args);

/*! \brief Carries an operator out whose FindContext is not the CPU; 0, or -1 with the last error.
 */
int CallOnDevice(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
                 int* ret_type_code);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_H_
