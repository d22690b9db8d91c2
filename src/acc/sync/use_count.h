/*!
 * \file use_count.h
 * \brief Counts who is inside.
 */
#ifndef MXNET_SRC_ACC_SYNC_USE_COUNT_H_
#define MXNET_SRC_ACC_SYNC_USE_COUNT_H_

#include <atomic>
#include <cstdint>

#include "acc/sync/threads.h"

namespace mxnet {
namespace acc {

/*!
 * \brief Uses that are under way; the thread that made it counts its own with plain loads and
 * stores.
 *
 * Who writes something and then reads 0 here knows that whoever enters later sees what was written.
 */
class UseCount {
 public:
  void Enter() {
    if (owner_ == &this_thread) {
      own_.store(own_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      PassCompilerBarrier();
    } else {
      others_.fetch_add(1);
    }
  }
  void Leave() {
    if (owner_ == &this_thread) {
      own_.store(own_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    } else {
      others_.fetch_sub(1);
    }
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

#endif  // MXNET_SRC_ACC_SYNC_USE_COUNT_H_
