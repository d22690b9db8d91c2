/*!
 * \file thread_memory.cc
 * \brief Memory that kernels work in, of which each thread has its own.
 */
#include "graph/thread_memory.h"

#include <cstdlib>

namespace mxnet {
namespace graph {
namespace {

class Memory {
 public:
  ~Memory() { std::free(memory_); }

  void* Get(size_t bytes) noexcept {
    if (bytes > bytes_) {
      std::free(memory_);
      bytes_ = (bytes + kAlignment - 1) / kAlignment * kAlignment;
      memory_ = std::aligned_alloc(kAlignment, bytes_);
      if (memory_ == nullptr) bytes_ = 0;
    }
    return memory_;
  }

 private:
  static constexpr size_t kAlignment = 64;
  void* memory_{nullptr};
  size_t bytes_{0};
};

thread_local Memory memory_of_thread;

}  // namespace

void* ThreadMemory(size_t bytes) noexcept { return memory_of_thread.Get(bytes); }

}  // namespace graph
}  // namespace mxnet
