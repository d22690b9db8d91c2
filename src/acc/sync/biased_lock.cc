/*!
 * \file biased_lock.cc
 * \brief Taking a lock away from its owner.
 */
#include "acc/sync/biased_lock.h"

#include <thread>

#include "acc/sync/threads.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief Waits until something is false. */
void Await(const std::atomic<bool>& taken) {
  constexpr int kPatience = 64;
  for (int i = 0; taken.load(std::memory_order_acquire); ++i) {
    // The thread that has it may have lost its processor.
    if (i >= kPatience) std::this_thread::yield();
  }
}

}  // namespace

BiasedLock::BiasedLock() : owner_(HasThreadBarrier() ? &this_thread : nullptr) {}

void BiasedLock::Lock() {
  while (is_held_.exchange(true, std::memory_order_acquire)) Await(is_held_);
  if (__builtin_expect(owner_.load(std::memory_order_relaxed) != nullptr, 0)) TakeAway();
}

void BiasedLock::TakeAway() {
  owner_.store(nullptr, std::memory_order_relaxed);
  PassThreadBarrier();
  Await(is_inside_);
}

}  // namespace acc
}  // namespace mxnet
