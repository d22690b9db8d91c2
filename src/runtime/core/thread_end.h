/*!
 * \file thread_end.h
 * \brief Runs a function when a thread ends.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_THREAD_END_H_
#define MXNET_SRC_RUNTIME_CORE_THREAD_END_H_

#include <pthread.h>

namespace mxnet {
namespace runtime {

/*!
 * \brief A function that runs at the end of each thread that asked for it.
 *
 * Destructors of thread_locals are no substitute: where there is no memory to register one, C++
 * ends the process. The function does not run at the end of the process.
 */
class ThreadEnd {
 public:
  explicit ThreadEnd(void (*function)(void*)) : error_(pthread_key_create(&key_, function)) {}

  /*! \brief Has the function run for the calling thread, with an argument that is not NULL; false
   * if it cannot.
   */
  bool Ask(void* with) const { return error_ == 0 && pthread_setspecific(key_, with) == 0; }

 private:
  pthread_key_t key_{};
  int error_;
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_THREAD_END_H_
