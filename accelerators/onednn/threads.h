/*!
 * \file threads.h
 * \brief The threads that oneDNN computes with, which are those of OpenMP.
 */
#ifndef ONEDNN_THREADS_H_
#define ONEDNN_THREADS_H_

#include <cstdint>

namespace onednn {

/*! \brief Finds OpenMP and keeps it, and oneDNN, loaded: their threads outlive this library.
 * Returns how many threads OpenMP would take by itself; Failure where oneDNN does not use it. */
int FindThreads();

/*! \brief How many threads are worth it for that many steps of arithmetic, of limit at most. */
int ThreadsFor(int64_t work, int limit);

/*!
 * \brief Has primitives that the calling thread makes or runs use that many threads.
 *
 * A primitive divides its work when it is made, so both take the same number.
 */
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

}  // namespace onednn

#endif  // ONEDNN_THREADS_H_
