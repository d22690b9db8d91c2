/*!
 * \file threads.h
 * \brief The threads that oneDNN computes with, which are those of GNU OpenMP.
 */
#ifndef MXNET_SRC_ONEDNN_THREADS_H_
#define MXNET_SRC_ONEDNN_THREADS_H_

#include <functional>

namespace mxnet {
namespace onednn {

/*! \brief How many threads primitives may take that are made now. Whoever these files are compiled
 * for defines it: functions/ for plans, the accelerator for its models. */
int NumThreads();

/*! \brief How many OpenMP takes where it is told nothing; ImportError where oneDNN is without it.
 */
int MaxThreads();

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

/*! \brief Whether the calling thread had threads of OpenMP once that a fork has left behind: it
 * would wait for them for ever. */
bool HasLostThreads() noexcept;

/*! \brief Calls work on a thread that has lost none, and throws what it throws. */
void CallElsewhere(const std::function<void()>& work);

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_THREADS_H_
