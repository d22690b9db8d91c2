/*!
 * \file device.h
 * \brief The devices, and how functions of the table find them.
 */
#ifndef PLANTED_DEVICE_H_
#define PLANTED_DEVICE_H_

#include <mxnet_acc.h>

#include <utility>

#include "accelerators/sdk/status.h"
#include "memory.h"

namespace planted {

constexpr int32_t kDevices = 2;

/*! \brief The memory of a device; Failure where there is no such device. */
Memory& MemoryOf(int32_t dev_id);

/*! \brief An error that all threads share, where that is the fault. */
MXAccStatus Shared(MXAccStatus status);

/*! \brief Runs body; what it throws becomes a status. */
template <typename Body>
MXAccStatus StatusOf(Body&& body) {
  return Shared(mxacc::StatusOf(std::forward<Body>(body)));
}

void SetMemoryFunctions(MXAccApi* api);
void SetStreamFunctions(MXAccApi* api);
void SetOperatorFunctions(MXAccApi* api);

}  // namespace planted

#endif  // PLANTED_DEVICE_H_
