/*!
 * \file dispatch.h
 * \brief Calls of operators that have to do with an accelerator.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_DISPATCH_H_
#define MXNET_SRC_ACC_DISPATCH_DISPATCH_H_

#include <atomic>
#include <string>

#include "acc/device/accelerator.h"
#include "acc/device/table.h"
#include "acc/dispatch/call.h"

namespace mxnet {
namespace acc {

/*! \brief What to do with an operator that an accelerator does not execute. */
enum class FallbackMode {
  kAuto,  /*!< execute it on the CPU, with copies */
  kWhole, /*!< ask no accelerator for any operator */
  kError  /*!< NotImplementedError */
};

extern std::atomic<FallbackMode> fallback_mode;

/*!
 * \brief Executes an operator if it concerns an accelerator; false where the CPU has to.
 *
 * *status is 0, or -1 with the last error.
 */
bool TryCall(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
             int* ret_type_code, int* status);

/*! \brief Executes an operator on a device; false where it does not, with the reason. Throws. */
bool TryExecutor(const Call& call, Device* device, Stats* stats, MXNetValue* ret,
                 int* ret_type_code, std::string* reason);

/*!
 * \brief Registers "acc.<name>.<operator>" for each operator, which executes it there or fails.
 *
 * Nothing where the library is not asked for operators.
 */
void RegisterOperators(Slot* slot);

/*! \brief Takes what RegisterOperators registered out of the registry. */
void RemoveOperators(const std::string& accelerator);

/*! \brief Lets the runtime ask for accelerators; called when there is one. */
void UseProvider();

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_DISPATCH_H_
