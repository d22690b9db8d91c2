/*!
 * \file counter.h
 * \brief A count to which mostly one thread adds.
 */
#ifndef REFACC_COUNTER_H_
#define REFACC_COUNTER_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace refacc {

/*! \brief Any thread may call; the one that made it adds without a locked instruction. */
class Counter {
 public:
  void Add() {
    if (pthread_equal(owner_, pthread_self()) != 0) {
      own_.store(own_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      others_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  uint64_t Read() const {
    return own_.load(std::memory_order_relaxed) + others_.load(std::memory_order_relaxed);
  }

 private:
  const pthread_t owner_{pthread_self()};
  std::atomic<uint64_t> own_{0};
  std::atomic<uint64_t> others_{0};
};

}  // namespace refacc

#endif  // REFACC_COUNTER_H_
