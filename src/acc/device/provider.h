/*!
 * \file provider.h
 * \brief Accelerators as the runtime sees them.
 */
#ifndef MXNET_SRC_ACC_DEVICE_PROVIDER_H_
#define MXNET_SRC_ACC_DEVICE_PROVIDER_H_

#include "acc/device/device.h"
#include "runtime/core/devices.h"
#include "runtime/ndarray/ndarray.h"

namespace mxnet {
namespace acc {

/*! \brief Lets the runtime ask for accelerators; called when there is one. */
void UseProvider();

/*! \brief The release of arrays on accelerators, whose owner is a DeviceMemory. */
void ReleaseMemory(void* owner, size_t);

/*! \brief Memory of an accelerator, as the runtime takes it. */
inline DeviceBlock BlockOf(DeviceMemory* memory) { return {memory->data, memory, &ReleaseMemory}; }

/*!
 * \brief The memory that an array, which may be a view, has of an accelerator; NULL where it has
 * other memory.
 */
inline DeviceMemory* MemoryOf(const ArrayObject* array) {
  const ArrayObject* root = RootOf(array);
  return root->release == &ReleaseMemory ? static_cast<DeviceMemory*>(root->owner) : nullptr;
}

/*!
 * \brief The device whose memory an array has; NULL where it has other memory, or where the device
 * is not there any more, as in a child of fork. As long as the array lives the device stays loaded.
 */
Device* DeviceOf(const ArrayObject* array);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_PROVIDER_H_
