/*!
 * \file threads.h
 * \brief How many threads oneDNN computes with here, which are those of a pool.
 */
#ifndef ONEDNN_THREADS_H_
#define ONEDNN_THREADS_H_

#include <cstdint>

#include "onednn/threads.h"

namespace onednn {

using mxnet::onednn::ThreadScope;

/*!
 * \brief Who computes has one. When nobody does any more the threads end, so that the library can
 * be unloaded.
 */
class ThreadsInUse {
 public:
  ThreadsInUse();
  ~ThreadsInUse();
  ThreadsInUse(const ThreadsInUse&) = delete;
  ThreadsInUse& operator=(const ThreadsInUse&) = delete;
};

/*! \brief How many threads are taken where nobody says so: what OMP_NUM_THREADS says, or one for
 * each processor. */
int FindThreads();

/*! \brief How many threads are worth it for that many steps of arithmetic, of limit at most. */
int ThreadsFor(int64_t work, int limit);

/*! \brief Has primitives of models that the calling thread makes take that many. */
void SetThreadsOfModels(int threads);

}  // namespace onednn

#endif  // ONEDNN_THREADS_H_
