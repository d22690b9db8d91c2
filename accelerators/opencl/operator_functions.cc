/*!
 * \file operator_functions.cc
 * \brief The members of the table for operators.
 */
#include "../common/operators/executors.h"
#include "executor.h"
#include "library.h"

namespace opencl {
namespace {

MXAccStatus GetExecutor(const MXAccOperator* op, MXAccExecutor* out) {
  return OnDevice(op->dev_id,
                  [&](Device& device) { GiveExecutor(new Executor(&device, *op), out); });
}

}  // namespace

void SetOperatorFunctions(MXAccApi* api) {
  api->supportsImperative = SupportsImperative;
  api->accGetExecutor = GetExecutor;
}

}  // namespace opencl
