/*!
 * \file device_pool.cc
 * \brief Lists of free memory by size.
 */
#include "acc/device/device_pool.h"

namespace mxnet {
namespace acc {

void DevicePool::Add(const DeviceMemory& memory) {
  const BiasedLock::Guard lock(&lock_);
  CountIn(memory);
}

void DevicePool::Drop(const DeviceMemory& memory) {
  const BiasedLock::Guard lock(&lock_);
  CountOut(memory);
}

DeviceMemory* DevicePool::TakeAll() {
  const BiasedLock::Guard lock(&lock_);
  DeviceMemory* all = nullptr;
  for (DeviceMemory*& list : kept_) {
    while (list != nullptr) {
      DeviceMemory* memory = list;
      list = memory->next;
      memory->next = all;
      all = memory;
    }
  }
  use_.kept = 0;
  return all;
}

MemoryUse DevicePool::Use() {
  const BiasedLock::Guard lock(&lock_);
  return use_;
}

}  // namespace acc
}  // namespace mxnet
