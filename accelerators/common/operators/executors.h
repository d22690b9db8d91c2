/*!
 * \file executors.h
 * \brief How an executor of a library becomes one of MXNet's.
 */
#ifndef MXACC_COMMON_OPERATORS_EXECUTORS_H_
#define MXACC_COMMON_OPERATORS_EXECUTORS_H_

#include "../status.h"

namespace mxacc {

/*! \brief Gives an executor with Run and in_place to MXNet, which frees it. Runs may overlap. */
template <typename Executor>
void GiveExecutor(Executor* executor, MXAccExecutor* out) {
  out->state = executor;
  out->run = [](void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                int32_t num_out, MXAccStream stream) {
    return StatusOf(
        [&] { static_cast<Executor*>(state)->Run(inputs, num_in, outputs, num_out, stream); });
  };
  out->free = [](void* state) { delete static_cast<Executor*>(state); };
  out->flags = kMXAccConcurrent;
  if (executor->in_place()) out->flags |= kMXAccInPlace;
}

}  // namespace mxacc

#endif  // MXACC_COMMON_OPERATORS_EXECUTORS_H_
