/*!
 * \file spin_lock.h
 * \brief A lock for a few instructions.
 */
#ifndef MXNET_SRC_ACC_SPIN_LOCK_H_
#define MXNET_SRC_ACC_SPIN_LOCK_H_

#include <atomic>
#include <thread>

namespace mxnet {
namespace acc {

/*!
 * \brief Half the price of std::mutex where nobody else has it, as unlocking is a plain store.
 *
 * That store is also the last that unlock does: whoever gets the lock next may free it.
 */
class SpinLock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) Wait();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  void Wait() const noexcept {
    constexpr int kPatience = 64;
    for (int i = 0; held_.load(std::memory_order_relaxed); ++i) {
      // The thread that has it may have lost its processor.
      if (i >= kPatience) std::this_thread::yield();
    }
  }

  std::atomic<bool> held_{false};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SPIN_LOCK_H_
