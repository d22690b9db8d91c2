/*!
 * \file operator_functions.cc
 * \brief The members of the table for operators.
 */
#include "executor.h"
#include "library.h"

namespace cudaacc {
namespace {

MXAccStatus RunExecutor(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                        int32_t num_out, MXAccStream stream) {
  return StatusOf(
      [&] { static_cast<Executor*>(state)->Run(inputs, num_in, outputs, num_out, stream); });
}

void FreeExecutor(void* state) { delete static_cast<Executor*>(state); }

MXAccStatus SupportsImperative(int32_t* yes) {
  *yes = 1;
  return nullptr;
}

MXAccStatus GetExecutor(const MXAccOperator* op, MXAccExecutor* out) {
  return OnDevice(op->dev_id, [&](Device& device) {
    auto* executor = new Executor(&device, *op);
    out->state = executor;
    out->run = RunExecutor;
    out->free = FreeExecutor;
    out->flags = kMXAccConcurrent;
    if (executor->in_place()) out->flags |= kMXAccInPlace;
  });
}

}  // namespace

void SetOperatorFunctions(MXAccApi* api) {
  api->supportsImperative = SupportsImperative;
  api->accGetExecutor = GetExecutor;
}

}  // namespace cudaacc
