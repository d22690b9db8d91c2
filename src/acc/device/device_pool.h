/*!
 * \file device_pool.h
 * \brief Pieces of a device's memory that are kept for the next arrays, and counts of all.
 */
#ifndef MXNET_SRC_ACC_DEVICE_DEVICE_POOL_H_
#define MXNET_SRC_ACC_DEVICE_DEVICE_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "acc/sync/biased_lock.h"
#include "acc/sync/work_log.h"

namespace mxnet {
namespace acc {

class Device;

/*! \brief What a device's memory is used for, in bytes. */
struct MemoryUse {
  uint64_t in_use;     /*!< by arrays, and by workspaces of runs */
  uint64_t kept;       /*!< free, kept for the next arrays */
  uint64_t peak;       /*!< the most that was in use at one time */
  uint64_t blocks;     /*!< pieces of memory in use */
  uint64_t total;      /*!< of the device; 0 for unknown */
  uint64_t free_bytes; /*!< on the device, as it says itself; 0 for unknown */
};

/*! \brief A size that requests are rounded up to, so that pieces of memory can be reused: at most
 * an eighth larger, or 2^kGrainBits. */
struct SizeClass {
  static constexpr int kGrainBits = 8;
  static constexpr int kMaxBits = 62; /*!< wanted sizes are below 2^kMaxBits */
  static constexpr uint32_t kCount = (kMaxBits - 4 - kGrainBits) * 8 + 17;

  explicit SizeClass(size_t wanted) {
    // 8 classes from a power of two to the next; the last of these, of 16 steps, is the first of
    // the following ones, of 8 steps of twice the size, and has the same number.
    const int bits = 63 - __builtin_clzll(wanted | 1);
    const int step_bits = std::max(bits - 3, kGrainBits);
    const size_t step = size_t{1} << step_bits;
    const size_t steps = std::max<size_t>((wanted + step - 1) >> step_bits, 1);
    size = steps << step_bits;
    number = static_cast<uint32_t>(step_bits - kGrainBits) * 8 + static_cast<uint32_t>(steps);
  }

  size_t size;
  uint32_t number; /*!< below kCount */
};

/*! \brief A piece of memory; the object is kept along with it. */
struct DeviceMemory {
  void* data;
  Device* device;
  DeviceMemory* next; /*!< in the pool */
  SizeClass size;
  Content content;
};

/*! \brief The memory of one device. Any thread may call. */
class DevicePool {
 public:
  /*! \brief The largest size that has a class. */
  static constexpr size_t kMaxSize = (size_t{1} << SizeClass::kMaxBits) - 1;

  /*! \brief A piece that is kept, which is in use from now on; NULL where there is none. */
  DeviceMemory* Take(SizeClass size) {
    const BiasedLock::Guard lock(&lock_);
    DeviceMemory* memory = kept_[size.number];
    if (memory == nullptr) return nullptr;
    kept_[size.number] = memory->next;
    use_.kept -= size.size;
    CountIn(*memory);
    return memory;
  }
  /*! \brief Counts a new piece, which is in use from now on. */
  void Add(const DeviceMemory& memory);
  /*! \brief Keeps a piece that is no longer in use; false where it may not, and still counts it. */
  template <typename MayKeep>
  bool Keep(DeviceMemory* memory, MayKeep&& may_keep) {
    const BiasedLock::Guard lock(&lock_);
    if (!may_keep()) return false;
    CountOut(*memory);
    memory->next = kept_[memory->size.number];
    kept_[memory->size.number] = memory;
    use_.kept += memory->size.size;
    return true;
  }
  /*! \brief Stops counting a piece that is freed and not kept. */
  void Drop(const DeviceMemory& memory);
  /*! \brief Hands all that is kept to the caller, as a list. */
  DeviceMemory* TakeAll();

  /*! \brief All members but total and free_bytes, which only the device knows. */
  MemoryUse Use();

 private:
  void CountIn(const DeviceMemory& memory) {
    use_.in_use += memory.size.size;
    use_.peak = std::max(use_.peak, use_.in_use);
    ++use_.blocks;
  }
  void CountOut(const DeviceMemory& memory) {
    use_.in_use -= memory.size.size;
    --use_.blocks;
  }

  BiasedLock lock_;
  DeviceMemory* kept_[SizeClass::kCount]{};
  MemoryUse use_{};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_DEVICE_POOL_H_
