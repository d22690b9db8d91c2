/*!
 * \file thread_memory.h
 * \brief Memory that kernels work in, of which each thread has its own.
 */
#ifndef MXNET_SRC_GRAPH_THREAD_MEMORY_H_
#define MXNET_SRC_GRAPH_THREAD_MEMORY_H_

#include <mxnet/runtime/error.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "op/parallel/parallel.h"

namespace mxnet {
namespace graph {

/*! \brief Memory of the calling thread, as much as the largest kernel that it ran wanted, aligned
 * to 64 bytes; NULL where there is none. What it holds is lost with the next call. */
void* ThreadMemory(size_t bytes) noexcept;

/*!
 * \brief Calls body(memory, begin, end) for pieces of 0 to size, of which each thread has some; the
 * memory is NULL for no bytes. MemoryError where there is none. The pace is that of the loop, if it
 * has one.
 */
template <typename Body>
void InParallelWith(size_t bytes, int64_t size, const Body& body, op::Pace* pace = nullptr) {
  std::atomic<bool> without_memory{false};
  op::InParallel(
      size, 1,
      [&](int64_t begin, int64_t end) {
        void* memory = bytes == 0 ? nullptr : ThreadMemory(bytes);
        if (bytes != 0 && memory == nullptr) {
          without_memory = true;
          return;
        }
        body(memory, begin, end);
      },
      pace);
  if (without_memory) {
    MXNET_THROW("MemoryError") << "no memory for the " << bytes
                               << " bytes that each thread works in";
  }
}

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_THREAD_MEMORY_H_
