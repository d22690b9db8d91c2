/*!
 * \file fork_safe.cc
 * \brief Takes the runtime's locks before a fork and frees them after it.
 */
#include "runtime/core/fork_safe.h"

#include <pthread.h>

#include <mutex>
#include <new>

namespace mxnet {
namespace runtime {
namespace {

std::mutex chain_mutex;
ForkSafeMutex* chain = nullptr;

}  // namespace

ForkSafeMutex::ForkSafeMutex() {
  static const int handlers = pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild);
  (void)handlers;
  std::lock_guard<std::mutex> lock(chain_mutex);
  next_ = chain;
  chain = this;
}

void ForkSafeMutex::BeforeFork() {
  chain_mutex.lock();
  for (ForkSafeMutex* each = chain; each != nullptr; each = each->next_) each->lock();
}

void ForkSafeMutex::AfterForkInParent() {
  for (ForkSafeMutex* each = chain; each != nullptr; each = each->next_) each->unlock();
  chain_mutex.unlock();
}

void ForkSafeMutex::AfterForkInChild() {
  // Made anew: only the thread that locked may unlock, and the child's thread is another one.
  for (ForkSafeMutex* each = chain; each != nullptr; each = each->next_) {
    new (&each->mutex_) std::shared_mutex();
  }
  new (&chain_mutex) std::mutex();
}

}  // namespace runtime
}  // namespace mxnet
