/*!
 * \file threads.h
 * \brief The threads of a block, as statements that all of them execute before the next.
 *
 * On the CPU one thread executes them for all, so that what is written in this way is tested
 * there as it runs on a device.
 */
#ifndef CUDAACC_THREADS_H_
#define CUDAACC_THREADS_H_

#include "host_device.h"

namespace cudaacc {

/*! \brief In each block. */
constexpr int kThreads = 256;

/*! \brief A value of each thread's own. */
template <typename T>
struct PerThread {
#ifdef __CUDA_ARCH__
  __device__ T& operator[](int) { return value; }
  T value;
#else
  CUDAACC_BOTH T& operator[](int thread) { return values[thread]; }
  T values[kThreads];
#endif
};

/*!
 * \brief Calls body(thread) in each thread, and waits until all have done it. No thread may read
 * what another writes meanwhile; on the CPU the order changes, so that such a thing is noticed.
 */
template <typename Body>
CUDAACC_BOTH void ForThreads(Body&& body) {
#ifdef __CUDA_ARCH__
  body(static_cast<int>(threadIdx.x));
  __syncthreads();
#else
  static thread_local bool backwards = false;
  backwards = !backwards;
  for (int i = 0; i < kThreads; ++i) body(backwards ? kThreads - 1 - i : i);
#endif
}

}  // namespace cudaacc

#endif  // CUDAACC_THREADS_H_
