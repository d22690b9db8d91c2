/*!
 * \file threads.h
 * \brief How many threads oneDNN computes with, which are those of a pool.
 */
#ifndef MXNET_SRC_ONEDNN_THREADS_H_
#define MXNET_SRC_ONEDNN_THREADS_H_

namespace mxnet {
namespace onednn {

/*! \brief How many threads primitives may take that are made now. Whoever these files are compiled
 * for defines it: functions/ for plans, the accelerator for its models. */
int NumThreads();

/*!
 * \brief Has primitives that the calling thread makes or runs use that many threads.
 *
 * A primitive divides its work when it is made, so both take the same number. RuntimeError where
 * the system has no more threads, ImportError where oneDNN is another one than these files know.
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

/*! \brief RestoreOpenMP, before this library is unloaded: whether its threads may end, too. */
bool LeaveOpenMP();

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_THREADS_H_
