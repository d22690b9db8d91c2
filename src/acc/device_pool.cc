/*!
 * \file device_pool.cc
 * \brief Lists of free memory by size.
 */
#include "acc/device_pool.h"

#include <algorithm>

namespace mxnet {
namespace acc {

SizeClass::SizeClass(size_t wanted) {
  // 8 classes from a power of two to the next; the last of these, of 16 steps, is the first of the
  // following ones, of 8 steps of twice the size, and has the same number.
  const int bits = 63 - __builtin_clzll(wanted | 1);
  const int step_bits = std::max(bits - 3, kGrainBits);
  const size_t step = size_t{1} << step_bits;
  const size_t steps = std::max<size_t>((wanted + step - 1) >> step_bits, 1);
  size = steps << step_bits;
  number = static_cast<uint32_t>(step_bits - kGrainBits) * 8 + static_cast<uint32_t>(steps);
}

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
