/*!
 * \file fork_safe.h
 * \brief A lock that a forked child can use, whichever thread held it in the parent.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_FORK_SAFE_H_
#define MXNET_SRC_RUNTIME_CORE_FORK_SAFE_H_

#include <shared_mutex>

namespace mxnet {
namespace runtime {

/*!
 * \brief A shared mutex that every fork waits for and that is free in the child.
 *
 * Lives as long as the process. A thread that holds one neither forks nor takes another.
 */
class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void lock_shared() { mutex_.lock_shared(); }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  static void BeforeFork();
  static void AfterForkInParent();
  static void AfterForkInChild();

  std::shared_mutex mutex_;
  ForkSafeMutex* next_;
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_FORK_SAFE_H_
