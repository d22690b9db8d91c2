/*!
 * \file counter.h
 * \brief A count to which mostly one thread adds.
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

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SYNC_COUNTER_H_
