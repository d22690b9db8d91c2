/*!
 * \file biased_lock.h
 * \brief A lock that is held briefly, and mostly by one thread.
 */
#ifndef MXNET_SRC_ACC_SYNC_BIASED_LOCK_H_
#define MXNET_SRC_ACC_SYNC_BIASED_LOCK_H_

#include <atomic>

#include "acc/sync/threads.h"

namespace mxnet {
namespace acc {

/*!
 * \brief The thread that made it locks and unlocks with plain loads and stores, until another one
 * comes; from then on all pay for an atomic exchange.
 *
 * The owner sets is_inside_ and then checks that it still is the owner. A thread that takes the
 * ownership away has all threads pass a barrier and then waits until is_inside_ is false. Where the
 * system has no such barrier there is no owner.
 */
class BiasedLock {
 public:
  BiasedLock();
  BiasedLock(const BiasedLock&) = delete;
  BiasedLock& operator=(const BiasedLock&) = delete;

  class Guard {
   public:
    explicit Guard(BiasedLock* lock) : lock_(lock), is_owner_(lock->TryEnter()) {
      if (__builtin_expect(!is_owner_, 0)) lock->Lock();
    }
    ~Guard() {
      // The last access: the thread that gets the lock next may free it.
      std::atomic<bool>& taken = is_owner_ ? lock_->is_inside_ : lock_->is_held_;
      taken.store(false, std::memory_order_release);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    BiasedLock* lock_;
    bool is_owner_;
  };

 private:
  bool TryEnter() {
    if (owner_.load(std::memory_order_relaxed) != &this_thread) return false;
    is_inside_.store(true, std::memory_order_relaxed);
    PassCompilerBarrier();
    if (__builtin_expect(owner_.load(std::memory_order_acquire) == &this_thread, 1)) return true;
    is_inside_.store(false, std::memory_order_release);
    return false;
  }
  void Lock();
  void TakeAway();

  std::atomic<const void*> owner_;
  std::atomic<bool> is_inside_{false}; /*!< whether the owner holds the lock */
  std::atomic<bool> is_held_{false};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SYNC_BIASED_LOCK_H_
