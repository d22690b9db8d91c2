/*!
 * \file dispatch.h
 * \brief Calls of operators that have to do with an accelerator.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_DISPATCH_H_
#define MXNET_SRC_ACC_DISPATCH_DISPATCH_H_

#include "acc/device/accelerator.h"
#include "acc/dispatch/call.h"

namespace mxnet {
namespace acc {

/*!
 * \brief Carries an operator out if it has to do with an accelerator; false where the CPU has to.
 *
 * *status is 0, or -1 with the last error.
 */
bool TryCall(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
             int* ret_type_code, int* status);

/*! \brief Carries an operator out on a device; false where it does not, with the reason. Throws. */
bool TryExecutor(const Call& call, Device* device, Stats* stats, MXNetValue* ret,
                 int* ret_type_code, std::string* reason);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_DISPATCH_H_
