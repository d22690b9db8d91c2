/*!
 * \file launch.h
 * \brief Runs kernels: on a device where nvcc compiles this, in loops where another compiler does.
 */
#ifndef CUDAACC_LAUNCH_H_
#define CUDAACC_LAUNCH_H_

#include <cstdint>

#include "../runtime.h"
#include "threads.h"

namespace cudaacc {

#ifdef __CUDACC__

/*! \brief The most blocks that a grid can have. */
constexpr int64_t kMaxBlocks = INT32_MAX;

template <typename Item>
__global__ void EachKernel(int64_t count, const Item item) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) item.Run(i);
}

template <typename Block>
__global__ void BlocksKernel(const Block block) {
  __shared__ typename Block::Shared shared;
  block.Run(static_cast<int64_t>(blockIdx.x), &shared);
}

template <typename... Parameters, typename... Args>
void LaunchKernel(StreamHandle stream, int64_t blocks, void (*kernel)(Parameters...),
                  const Args&... args) {
  if (blocks > kMaxBlocks) mxacc::Unsupported("more elements than a grid of a device has");
  const void* pointers[] = {&args...};
  CheckLaunch(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                               dim3(static_cast<unsigned>(blocks)), dim3(kThreads),
                               const_cast<void**>(pointers), 0, stream));
}

/*! \brief Calls item.Run(i) for all i below count. */
template <typename Item>
void LaunchEach(StreamHandle stream, int64_t count, const Item& item) {
  LaunchKernel(stream, (count - 1) / kThreads + 1, EachKernel<Item>, count, item);
}

/*! \brief Calls block.Run(i, shared) in blocks of threads for all i below count; see threads.h. */
template <typename Block>
void LaunchBlocks(StreamHandle stream, int64_t count, const Block& block) {
  LaunchKernel(stream, count, BlocksKernel<Block>, block);
}

#else

template <typename Item>
void LaunchEach(StreamHandle stream, int64_t count, const Item& item) {
  RunOnHost(stream, [count, item] {
    for (int64_t i = 0; i < count; ++i) item.Run(i);
  });
}

template <typename Block>
void LaunchBlocks(StreamHandle stream, int64_t count, const Block& block) {
  RunOnHost(stream, [count, block] {
    typename Block::Shared shared;
    for (int64_t i = 0; i < count; ++i) block.Run(i, &shared);
  });
}

#endif

}  // namespace cudaacc

#endif  // CUDAACC_LAUNCH_H_
