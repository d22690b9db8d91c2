/*!
 * \file counter.h
 * \brief Counters that mostly one thread changes.
 */
#ifndef MXNET_SRC_ACC_SYNC_COUNTER_H_
#define MXNET_SRC_ACC_SYNC_COUNTER_H_

#include <atomic>
#include <cstdint>

#include "acc/sync/threads.h"

namespace mxnet {
namespace acc {

/*! \brief Any thread may call; the one that made it adds without a locked instruction. */
class Counter {
 public:
  void Add() {
    if (__builtin_expect(owner_ == &this_thread, 1)) {
      own_.store(own_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      others_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  uint64_t Read() const { return Sum() - start_.load(std::memory_order_relaxed); }
  void Reset() { start_.store(Sum(), std::memory_order_relaxed); }

 private:
  uint64_t Sum() const {
    return own_.load(std::memory_order_relaxed) + others_.load(std::memory_order_relaxed);
  }

  const void* const owner_{&this_thread};
  std::atomic<uint64_t> own_{0};
  std::atomic<uint64_t> others_{0};
  std::atomic<uint64_t> start_{0};
};

/*!
 * \brief Uses that are under way; the thread that made it counts its own with plain loads and
 * stores.
 *
 * A thread that writes something and then reads 0 here knows that later uses see what it wrote; and
 * uses that it does count see it when they have left.
 */
class UseCount {
 public:
  void Enter() {
    if (__builtin_expect(owner_ == &this_thread, 1)) {
      own_.store(own_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      PassCompilerBarrier();
    } else {
      others_.fetch_add(1);
    }
  }
  void Leave() {
    if (__builtin_expect(owner_ == &this_thread, 1)) {
      own_.store(own_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
      PassCompilerBarrier();
    } else {
      others_.fetch_sub(1);
    }
  }
  /*! \brief Those of the calling thread, where that made it; else 0. */
  uint64_t ReadOwn() const {
    return owner_ == &this_thread ? own_.load(std::memory_order_relaxed) : 0;
  }
  uint64_t Read() const {
    PassThreadBarrier();
    return own_.load(std::memory_order_acquire) + others_.load();
  }

 private:
  const void* const owner_{HasThreadBarrier() ? &this_thread : nullptr};
  std::atomic<uint64_t> own_{0};
  std::atomic<uint64_t> others_{0};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SYNC_COUNTER_H_
