/*!
 * \file device.h
 * \brief One device of an accelerator: its memory, and copies to and from it.
 */
#ifndef MXNET_SRC_ACC_DEVICE_DEVICE_H_
#define MXNET_SRC_ACC_DEVICE_DEVICE_H_

#include <mxnet/runtime/data_type.h>
#include <mxnet_acc.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "acc/device/copy_costs.h"
#include "acc/device/device_pool.h"
#include "acc/device/settling.h"
#include "acc/plugin/status.h"
#include "acc/sync/work_log.h"

namespace mxnet {
namespace acc {

class Accelerator;
class Adapter;
struct Slot;

/*! \brief Executors of one device that the library has given, and its rejections. */
class AnswerCache {
 public:
  virtual ~AnswerCache() = default;
  virtual void Clear() = 0;
};

/*! \brief Makes the cache of a device. */
using AnswerCacheFactory = std::unique_ptr<AnswerCache> (*)();

/*! \brief Memory of a device that a copy writes to, wholly or in part. */
struct Written {
  DeviceMemory* memory;
  bool is_partial;
};

/*!
 * \brief A device. Any thread may call.
 *
 * Where the library has streams, all work on the device is given to one, in order; what reads or
 * writes memory of the host waits for it. What failed work should have written is lost, and so is
 * everything computed from it; reading it raises the failure.
 */
class Device {
 public:
  Device(Accelerator* accelerator, int id, std::unique_ptr<AnswerCache> answers);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /*! \brief Memory of at least size bytes; MemoryError that names the device, once the pool is
   * empty. As long as it is in use the device stays loaded. */
  DeviceMemory* Alloc(size_t size, bool zeroed) {
    DeviceMemory* memory = size > DevicePool::kMaxSize ? NewMemory(size) : Alloc(SizeClass(size));
    if (stream_ != nullptr) Forget(memory);
    if (zeroed && size != 0) ZeroNew(memory, size);
    return memory;
  }
  /*! \brief The same, for a caller that overwrites all of it. */
  DeviceMemory* Alloc(SizeClass size) {
    DeviceMemory* memory = pool_.Take(size);
    return __builtin_expect(memory != nullptr, 1) ? memory : NewMemory(size.size);
  }
  void Free(DeviceMemory* memory) {
    // Asked under the pool's lock, as Restart removes what it loses from the pool afterwards.
    const auto is_there = [&] { return adapter_ == nullptr || IsThere(*memory); };
    if (__builtin_expect(!pool_.Keep(memory, is_there), 0)) Discard(memory);
  }
  /*! \brief Whether a model was not lost with the process that had it; by its state. */
  bool HasModel(const void* state) const;
  /*! \brief Frees the memory that the pool keeps. */
  void TrimPool();
  MemoryUse Use();
  /*! \brief Pieces of memory that are in use. */
  uint64_t num_blocks() { return pool_.Use().blocks; }

  /*! \brief Copies a tensor between the host and the device; as MXAccApi::copyToAcc says. */
  void CopyToDevice(MXTensor* target, const MXTensor* source, Written to);
  void CopyToHost(MXTensor* target, const MXTensor* source, DeviceMemory* from);
  /*! \brief The same within it, or from another device; false where the library cannot. */
  bool TryCopyWithin(MXTensor* target, const MXTensor* source, Written to, DeviceMemory* from);

  /*! \brief Waits for work under way, and finds out which memory is lost by failures. */
  void Settle() {
    if (stream_ != nullptr) acc::Settle(this);
  }
  /*! \brief Throws where the content of memory is known to be lost. */
  void CheckContent(const DeviceMemory& memory);
  /*!
   * \brief Gives work to the stream: status = call(number). Throws where it reads what is lost.
   *
   * Where the status is a failure, it stays valid until the calling thread's next call, and the
   * stream is idle.
   */
  template <typename Call>
  MXAccStatus Give(const Access& access, Call&& call) {
    MXAccStatus status;
    {
      std::unique_lock<std::mutex> lock(log_.mutex());
      if (__builtin_expect(log_.is_full(), 0)) AwaitRoom(&lock);
      WorkLog::Check(access);
      log_.Reserve(access);
      const uint64_t number = WorkLog::NextNumber();
      status = call(number);
      if (__builtin_expect(status == nullptr, 1)) {
        log_.Add(access, number);
        return nullptr;
      }
    }
    return SettledStatus(status);
  }
  /*! \brief NULL where the library has no streams. */
  MXAccStream stream() const { return stream_; }
  WorkLog* log() { return &log_; }
  /*! \brief Held while waiting for the stream and asking what failed. */
  std::mutex& settling() { return settling_; }

  /*! \brief Answers of the library about operators. */
  AnswerCache* answers() { return answers_.get(); }

  MeasuredCopies* copies() { return &copies_; }

  /*! \brief The description of the device by the library; strings are copied. */
  const MXAccDeviceInfo& info() const { return info_; }
  /*! \brief Whether calls have to wait for one another; see DeviceCall. */
  bool one_thread() const { return (info_.flags & kMXAccOneThread) != 0; }
  bool takes_strides() const { return (info_.flags & kMXAccStrides) != 0; }
  bool host_visible() const { return (info_.flags & kMXAccHostVisible) != 0; }
  std::string name() const;
  const std::string& accelerator_name() const;
  const MXAccApi& api() const;
  /*! \brief Whether the library may be asked for executors. */
  bool imperative() const;
  Accelerator* accelerator() const { return accelerator_; }
  /*! \brief Belongs to the accelerator, which outlives the device. */
  Slot* slot() const { return slot_; }
  int id() const { return id_; }
  int type() const { return type_; }
  Context context() const { return Context{static_cast<DLDeviceType>(type_), id_}; }

 private:
  void ReadInfo();
  void CreateStreams();
  void WaitFor(Device* other);
  /*! \brief Has another device wait for this one. */
  void HoldBack(Device* other);
  /*! \brief Like Give, for work that reads memory of another device. */
  template <typename Call>
  MXAccStatus GiveTied(const Access& access, Device* other, Call&& call);
  /*! \brief Unlocks the log and waits for the stream until there is room in it. */
  [[gnu::cold]] void AwaitRoom(std::unique_lock<std::mutex>* lock);
  /*! \brief A copy of a failure, made once the stream is idle: the call may have begun work. */
  [[gnu::cold]] MXAccStatus SettledStatus(MXAccStatus status);
  /*! \brief Marks the memory as new: work of earlier use that failed no longer counts. */
  void Forget(DeviceMemory* memory);
  void* AllocRaw(size_t size);
  DeviceMemory* NewMemory(size_t size);
  /*! \brief Whether memory was not lost with the process that had it. */
  bool IsThere(const DeviceMemory& memory) const;
  /*! \brief Frees memory that no array can use again. */
  void Discard(DeviceMemory* memory);
  /*! \brief Zeroes the bytes; where that fails the memory is free again. */
  void ZeroNew(DeviceMemory* memory, size_t size);
  void Zero(DeviceMemory* memory, size_t size);
  MXAccStatus TryZero(DeviceMemory* memory, size_t size);
  void CopyZeros(DeviceMemory* memory, size_t size);
  [[noreturn]] void ThrowNoMemory(size_t size, const std::string& reason);

  Accelerator* accelerator_;
  int id_;
  int type_;
  Slot* slot_;
  Adapter* adapter_; /*!< called in place of the library; NULL where that is called itself */
  MXAccStream stream_{nullptr};
  MXAccEvent event_{nullptr};
  std::mutex event_mutex_;
  WorkLog log_;
  std::mutex settling_;
  std::unique_ptr<AnswerCache> answers_;
  size_t alignment_{64};
  MXAccDeviceInfo info_{};
  static constexpr int kTexts = 5;
  std::string texts_[kTexts]; /*!< of info_ */
  /*! \brief Held around every call where the device takes one at a time; a library may call back
   * for memory. */
  std::recursive_mutex calls_;
  DevicePool pool_;
  MeasuredCopies copies_;

  friend class DeviceCall;
};

/*! \brief Holds the device's lock around a call into the library, where it wants one. */
class DeviceCall {
 public:
  explicit DeviceCall(Device* device) {
    if (device->one_thread()) lock_ = std::unique_lock<std::recursive_mutex>(device->calls_);
  }

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_DEVICE_H_
